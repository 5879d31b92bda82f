"""13:69E-1.28N(a), device to host: every change reaches the host, polled or announced, and every state answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

import pytest
from pitbench import items
from pitbench.protocols.id003 import ERRORS, POWER_UPS, Command, Frame, Status, status_text
from pitbench_hil import acceptor_drives as drives
from pitbench_hil.acceptor import ENABLE_ALL, POLL_MS, AcceptorBench
from pitbench_hil.board_bench import Unreached
from pitbench_hil.charts.bill_acceptor import CHART
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.speech import Unsaid

POLLED = rule("NJ-1.28N(a)/events-polled")
ANNOUNCED = rule("NJ-1.28N(a)/events-interrupt")
ANSWERS = rule("NJ-1.28N(a)/answers-in-every-state")
# Two triggers fit between polls 100 ms apart.
TRIGGERS_A_POLL = 3
ERRAND_MS = 6000
MANY = 260

S = Status
ACCEPTANCE = (S.ACCEPTING, S.ESCROW, S.STACKING, S.VEND_VALID, S.STACKED, S.IDLE)
REJECTION = (S.ACCEPTING, S.REJECTING, S.IDLE)
RETURN = (S.ACCEPTING, S.ESCROW, S.RETURNING, S.IDLE)
HOLD = (S.ACCEPTING, S.ESCROW, S.HOLDING, S.STACKING, S.VEND_VALID, S.STACKED, S.IDLE)
# What the host decides when it sees a status, and the statuses that it must have seen, in order.
ERRANDS: dict[str, tuple[items.Item, dict[int, tuple[int, ...]], Sequence[int]]] = {
    "acceptance": (items.genuine(20), {S.ESCROW: (Command.STACK_1,)}, ACCEPTANCE),
    "acceptance-stored": (items.genuine(20), {S.ESCROW: (Command.STACK_2,)}, ACCEPTANCE),
    "rejection": (items.photocopy(), {}, REJECTION),
    "return": (items.genuine(20), {S.ESCROW: (Command.RETURN,)}, RETURN),
    "hold": (items.genuine(20), {S.ESCROW: (Command.HOLD,), S.HOLDING: (Command.STACK_1,)}, HOLD),
}
Look = Callable[[AcceptorBench], Frame | None]


def polled(bench: AcceptorBench) -> Frame | None:
    """A host that polls every time."""
    return bench.status()


def asked(bench: AcceptorBench) -> Frame | None:
    """A host that polls only when an ENQ asked for it."""
    return bench.status() if bench.announced() else None


def run_errand(bench: AcceptorBench, name: str, look: Look) -> list[int]:
    """Do an errand; the statuses seen, repetitions joined."""
    item, decisions, wanted = ERRANDS[name]
    bench.insert(item)
    seen: list[int] = []
    left = dict(decisions)
    for _ in range(ERRAND_MS // POLL_MS):
        bench.advance()
        frame = look(bench)
        if frame and seen[-1:] != [frame.cmd]:
            seen.append(frame.cmd)
        if frame:
            decide(bench, frame.cmd, left)
        if frame and frame.cmd == S.VEND_VALID:
            bench.ack()
        if len(seen) > 1 and seen[-1] == wanted[-1]:
            break
    return seen


def decide(bench: AcceptorBench, status: int, left: dict[int, tuple[int, ...]]) -> None:
    """Send what is left to decide about a status; what the wire tells alike comes one poll after the other."""
    for due in sorted(bench.speech.words.any_of(status) & left.keys())[:1]:
        for command in left.pop(due):
            bench.command(command)


def told_of(bench: AcceptorBench, statuses: Iterable[int]) -> list[int]:
    """As the wire tells them, repetitions joined; without those that it never tells."""
    words = bench.speech.words
    return [status for status, _ in groupby(words.as_told(status) for status in statuses if words.told(status))]


def missed(seen: Iterable[int], wanted: Sequence[int]) -> list[str]:
    """What of `wanted` was not seen, in its order."""
    left = iter(seen)
    return [status_text(status) for status in wanted if status not in left]


def off_chart(seen: Iterable[int], start: str = "idle") -> list[str]:
    """Statuses that the reference chart can't have reached."""
    chart = CHART.follow(start)
    return [name for name in map(chart_name, seen) if not chart.saw(name, TRIGGERS_A_POLL)]


def chart_name(status: int) -> str:
    names = {
        S.POWER_UP_BILL_IN_ACCEPTOR: "power up, bill in acceptor",
        S.POWER_UP_BILL_IN_STACKER: "power up, bill in stacker",
    }
    return "error" if status in ERRORS else names.get(Status(status), status_text(status))


@POLLED
@pytest.mark.parametrize("errand", ERRANDS)
def test_polling_host_sees_every_change(bench: AcceptorBench, check: Check, errand: str) -> None:
    bench.start()
    check.stimulus("errand, polled every 100 ms", errand=errand)
    seen = run_errand(bench, errand, polled)
    check.expect("missed", missed(told_of(bench, seen), told_of(bench, ERRANDS[errand][2])), [])
    check.expect("not on the reference chart", off_chart(seen), [])
    check.expect("ENQs in polling mode", bench.announced() + bench.enqs, 0)


@POLLED
def test_polling_host_sees_the_start(bench: AcceptorBench, check: Check) -> None:
    check.stimulus("power-up, reset, settings, inhibit, inhibit lifted")
    seen = [bench.until(*POWER_UPS).cmd]
    bench.command(Command.RESET)
    seen.append(bench.status().cmd)
    bench.configure([*ENABLE_ALL[:-1], (Command.SET_INHIBIT, b"\x01")])
    seen.append(bench.until(S.DISABLED, S.IDLE).cmd)
    bench.command(Command.SET_INHIBIT, b"\0")
    seen.append(bench.until(S.IDLE).cmd)
    check.expect("seen", seen, [S.POWER_UP, S.INITIALISE, S.DISABLED, S.IDLE])


@POLLED
@pytest.mark.parametrize("raised", drives.STANDING)
def test_polling_host_sees_standing_conditions(bench: AcceptorBench, check: Check, raised: drives.Drive) -> None:
    bench.start()
    check.stimulus("condition raised, then put right", condition=raised.__name__)
    with check.duty("is reported as itself", Unreached):
        raised(bench)
    begin = len(bench.seen)
    with check.duty("is idle again", Unreached):
        drives.recover(bench)
    after = [frame.cmd for frame in bench.seen[begin:]]
    check.expect("missed of the recovery", missed(after, (S.INITIALISE, S.IDLE)), [])


@POLLED
def test_polling_host_sees_a_change_however_many_there_were(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("inhibited and let in again, oftener than a byte counts", times=MANY)
    with check.duty("tells each of them", Unreached):
        for _ in range(MANY):
            bench.command(Command.SET_INHIBIT, b"\x01")
            bench.until(S.DISABLED, within=1000)
            bench.command(Command.SET_INHIBIT, b"\0")
            bench.until(S.IDLE, within=1000)


@POLLED
def test_polling_host_sees_a_communication_error(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("host silent for 6 s, then polling again")
    bench.advance(6000)
    seen = [bench.status().cmd, bench.until(S.IDLE).cmd]
    check.expect("off the chart", off_chart(seen), [])
    check.expect("idle again", seen[-1], S.IDLE)


@ANNOUNCED
@pytest.mark.parametrize("errand", ERRANDS)
def test_asked_host_sees_every_change(bench: AcceptorBench, check: Check, errand: str) -> None:
    interrupt_mode(bench)
    check.stimulus("errand, polled only after an ENQ", errand=errand)
    seen = run_errand(bench, errand, asked)
    check.expect("missed", missed(seen, ERRANDS[errand][2]), [])
    check.expect("not on the reference chart", off_chart(seen), [])


@ANNOUNCED
@pytest.mark.parametrize(
    ("op", "args", "status"),
    [
        ("door", {"which": "stacker", "open": True}, S.STACKER_OPEN),
        ("door", {"which": "acceptor", "open": True}, S.FAILURE),
        ("box", {"present": False}, S.STACKER_OPEN),
        ("box", {"count": drives.FULL}, S.STACKER_FULL),
    ],
)
def test_standing_condition_is_announced(
    bench: AcceptorBench, check: Check, op: str, args: dict[str, object], status: int
) -> None:
    interrupt_mode(bench)
    check.stimulus("condition raised", op=op, **args)
    bench.do(op, **args)
    bench.advance()
    check.expect("announced", bench.announced(), True)
    check.expect("status", bench.status().cmd, status)


@ANNOUNCED
def test_enq_that_got_lost_is_repeated(bench: AcceptorBench, check: Check) -> None:
    interrupt_mode(bench)
    check.stimulus("stacker door opened, the first ENQ lost")
    bench.do("door", which="stacker", open=True)
    bench.advance()
    check.expect("announced", bench.announced(), True)
    bench.advance(1000)
    check.expect("announced again", bench.announced(), True)
    bench.status()
    bench.advance(1000)
    check.expect("announced after the poll", bench.announced(), False)


@ANNOUNCED
def test_settings_decide_whether_news_is_announced(bench: AcceptorBench, check: Check) -> None:
    interrupt_mode(bench)
    check.stimulus("back to polling mode, stacker door opened")
    bench.command(Command.SET_COMMUNICATION_MODE, b"\0")
    bench.do("door", which="stacker", open=True)
    bench.advance(1000)
    check.expect("announced in polling mode", bench.announced(), False)
    check.expect("status", bench.status().cmd, S.STACKER_OPEN)


@ANSWERS
@pytest.mark.parametrize("reach", [*drives.WORKING, *drives.STANDING])
def test_every_state_answers(bench: AcceptorBench, check: Check, reach: drives.Drive) -> None:
    bench.start()
    reach(bench)
    check.stimulus("three polls and each reading command", state=reach.__name__)
    for _ in range(3):
        answers(bench, check, Command.STATUS_REQUEST, Status._value2member_map_)
    for command, data, replies in bench.speech.reads:
        answers(bench, check, command, replies, data)


@ANSWERS
def test_power_up_answers(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(drives.NOTE)
    check.stimulus("power cut with a note in escrow, polled at the start")
    bench.power_cycle()
    answers(bench, check, Command.STATUS_REQUEST, bench.speech.words.any_of(S.POWER_UP_BILL_IN_ACCEPTOR))
    for command, data, replies in bench.speech.reads[:1]:
        answers(bench, check, command, replies, data)


def answers(bench: AcceptorBench, check: Check, command: int, kinds: Iterable[int], data: bytes = b"") -> None:
    """One exchange; the reply must be one of `kinds`."""
    frame = bench.exchange(command, data)
    if frame is None:
        check.fail(f"answers {command:02x}", "silence")
    elif isinstance(frame.cmd, Unsaid):
        check.expect(f"answers {command:02x}", frame.cmd, True)
    elif frame.cmd not in kinds:
        check.fail(f"answers {command:02x}", f"with {frame.cmd:02x}")
    else:
        check.expect(f"answers {command:02x}", True, True)


def interrupt_mode(bench: AcceptorBench) -> None:
    bench.start()
    bench.command(Command.SET_COMMUNICATION_MODE, b"\x01")
    bench.status()

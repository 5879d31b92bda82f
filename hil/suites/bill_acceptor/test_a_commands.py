"""13:69E-1.28N(a), host to device: each command changes the device as ID-003 says, or is refused as it says."""

from __future__ import annotations

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, Reply, Status
from pitbench_hil import acceptor_drives as drives
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.speech import Unsaid

COMMANDS = rule("NJ-1.28N(a)/commands")
INHIBIT = rule("NJ-1.28N(a)/obeys-inhibit")
DECISIONS = (Command.STACK_1, Command.STACK_2, Command.RETURN, Command.HOLD)
# Without a poll for so long, an item in escrow is given back; where to look is to hold, nothing else ends an escrow.
HOST_IS_SILENT_MS = 3100
# States in which there is nothing that a decision could be about.
UNDECIDED = (
    drives.disabled,
    drives.accepting,
    drives.rejecting,
    drives.returning,
    drives.stacking,
    drives.vend_valid,
    drives.initialise,
)


def settle(bench: AcceptorBench, check: Check) -> dict[str, int]:
    """Poll and acknowledge until the device is at rest; what the plant counts then."""
    with check.duty("comes to rest", AssertionError):
        if bench.until(Status.IDLE, Status.DISABLED, Status.INITIALISE, Status.VEND_VALID).cmd == Status.VEND_VALID:
            bench.ack()
            bench.until(Status.IDLE, Status.DISABLED)
    truth = bench.truth()
    return {name: truth[name] for name in ("stacked", "returned", "in_path")}


def counts(stacked: int, returned: int) -> dict[str, int]:
    return {"stacked": stacked, "returned": returned, "in_path": 0}


def reply_to(bench: AcceptorBench, command: int) -> int:
    frame = bench.exchange(command)
    return frame.cmd if frame else -1


def said_of(bench: AcceptorBench, command: Command, seen: int) -> object:
    """What was seen of a command; Unsaid where the wire has no word of its own for it."""
    return seen if bench.speech.sayable(command) else Unsaid(f"{bench.speech.title} has no {command.name}")


@COMMANDS
@pytest.mark.parametrize("reach", [drives.escrow, drives.holding])
@pytest.mark.parametrize(("command", "chute"), [(Command.STACK_1, 1), (Command.STACK_2, 0)])
def test_stack(bench: AcceptorBench, check: Check, reach: drives.Drive, command: Command, chute: int) -> None:
    bench.start()
    reach(bench)
    check.stimulus("stack", command=command.name, state=reach.__name__)
    check.expect("reply", reply_to(bench, command), Reply.ACK)
    with check.duty("reports vend valid", AssertionError):
        bench.until(Status.VEND_VALID)
    told = said_of(bench, command, bench.truth()["chute"])
    check.expect("item on the chute at vend valid: 1 past the lever, 0 stored", told, chute)
    check.expect("plant", settle(bench, check), counts(1, 0))


@COMMANDS
@pytest.mark.parametrize("reach", [drives.escrow, drives.holding])
def test_return(bench: AcceptorBench, check: Check, reach: drives.Drive) -> None:
    bench.start()
    reach(bench)
    check.stimulus("return", state=reach.__name__)
    check.expect("reply", reply_to(bench, Command.RETURN), Reply.ACK)
    with check.duty("reports the return", AssertionError):
        bench.until(Status.RETURNING)
    check.expect("plant", settle(bench, check), counts(0, 1))


@COMMANDS
def test_hold(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(items.genuine(20))
    check.stimulus("hold after 8 s in escrow, and 8 s more: beyond the 10 s that an item stays there by itself")
    for _ in range(8):
        bench.advance(1000)
        bench.status()
    check.expect("reply", reply_to(bench, Command.HOLD), Reply.ACK)
    for _ in range(8 * len(bench.speech.sayable(Command.HOLD))):
        bench.advance(1000)
        check.expect("status", bench.status().cmd, Status.HOLDING)
    check.expect("return obeyed", bench.command(Command.RETURN), True)
    check.expect("plant", settle(bench, check), counts(0, 1))


@COMMANDS
@pytest.mark.parametrize("reach", [drives.escrow, drives.vend_valid, drives.disabled])
def test_wait_changes_nothing(bench: AcceptorBench, check: Check, reach: drives.Drive) -> None:
    bench.start()
    reach(bench)
    before = bench.status()
    has_wait = bool(bench.speech.sayable(Command.WAIT))
    command = Command.WAIT if has_wait else bench.speech.unknown[0]
    check.stimulus("wait, or a command that the wire doesn't have", command=f"{command:02x}", state=reach.__name__)
    check.expect("reply", reply_to(bench, command), Reply.ACK if has_wait else Reply.INVALID_COMMAND)
    check.expect("status", bench.status().cmd, before.cmd)


@COMMANDS
@pytest.mark.parametrize(
    ("reach", "stacked", "returned"),
    [(drives.disabled, 0, 0), (drives.drawn_in, 0, 1), (drives.escrow, 0, 1), (drives.rejecting, 0, 1)],
)
def test_reset(bench: AcceptorBench, check: Check, reach: drives.Drive, stacked: int, returned: int) -> None:
    bench.start()
    reach(bench)
    check.stimulus("reset", state=reach.__name__)
    check.expect("reply", reply_to(bench, Command.RESET), Reply.ACK)
    check.expect("status", bench.status().cmd, Status.INITIALISE)
    bench.advance(3000)
    with check.duty("waits for its settings", AssertionError):
        bench.until(bench.speech.unset[-1])
    bench.configure()
    with check.duty("is idle again", AssertionError):
        bench.until(Status.IDLE)
    check.expect("plant", settle(bench, check), counts(stacked, returned))


@COMMANDS
@pytest.mark.parametrize("reach", UNDECIDED)
def test_decision_that_cannot_act_is_refused(bench: AcceptorBench, check: Check, reach: drives.Drive) -> None:
    bench.start()
    reach(bench)
    before = bench.status().cmd
    for command in DECISIONS:
        check.stimulus("decision without an item in escrow", command=command.name, state=reach.__name__)
        check.expect("reply", reply_to(bench, command), Reply.INVALID_COMMAND)
        check.expect("status", bench.status().cmd, before)
    inserted = bench.truth()["inserted"]
    is_stacked = reach in (drives.stacking, drives.vend_valid)
    ends = counts(inserted, 0) if is_stacked else counts(0, inserted)
    if reach is drives.accepting:
        check.stimulus("escrow: nothing that was refused is remembered")
        bench.until(Status.ESCROW)
        bench.advance(1000)
        check.expect("status", bench.status().cmd, Status.ESCROW)
        bench.command(Command.RETURN)
    check.expect("plant", settle(bench, check), ends)


@COMMANDS
def test_late_decision_is_refused_and_forgotten(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("stack while idle, then a note")
    check.expect("reply", reply_to(bench, Command.STACK_1), Reply.INVALID_COMMAND)
    bench.escrow(items.genuine(20))
    bench.advance(1000)
    check.expect("status", bench.status().cmd, Status.ESCROW)
    check.stimulus("stack after the escrow time ran out")
    if bench.speech.looks_by_holding:
        bench.advance(HOST_IS_SILENT_MS)
    with check.duty("rejects after 10 s in escrow, or gives back to a silent host", AssertionError):
        bench.until(bench.speech.overdue, within=12_000, step=500)
    check.expect("reply", reply_to(bench, Command.STACK_1), Reply.INVALID_COMMAND)
    check.expect("plant", settle(bench, check), counts(0, 1))


@COMMANDS
def test_refused_stack_2_does_not_delay_the_report(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    drives.stacking(bench)
    check.stimulus("stack-2 while stack-1 is under way")
    check.expect("reply", reply_to(bench, Command.STACK_2), Reply.INVALID_COMMAND)
    bench.until(Status.VEND_VALID)
    check.expect("item on the chute at vend valid", said_of(bench, Command.STACK_1, bench.truth()["chute"]), 1)
    check.expect("plant", settle(bench, check), counts(1, 0))


@COMMANDS
def test_reset_is_acknowledged_after_a_refusal(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("unsolicited ACK, refused stack, then reset")
    bench.ack()
    check.expect("reply to stack", reply_to(bench, Command.STACK_1), Reply.INVALID_COMMAND)
    check.expect("reply to reset", reply_to(bench, Command.RESET), Reply.ACK)
    check.expect("status", bench.status().cmd, Status.INITIALISE)


@COMMANDS
def test_unknown_command_is_refused(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(items.genuine(20))
    for command in bench.speech.unknown:
        check.stimulus("command that the wire doesn't have", command=f"{command:02x}")
        check.expect("reply", reply_to(bench, command), Reply.INVALID_COMMAND)
        check.expect("status", bench.status().cmd, Status.ESCROW)


@INHIBIT
def test_inhibited_takes_nothing(bench: AcceptorBench, check: Check) -> None:
    bench.start(enabled=False)
    check.stimulus("item offered while inhibited")
    bench.insert(items.genuine(20))
    at = bench.truth()["position"]
    for _ in range(30):
        bench.advance(100)
        check.expect("status", bench.status().cmd, Status.DISABLED)
    check.measure("accepted", bench.truth()["stacked"])
    check.expect("place of the item in mm", bench.truth()["position"], at)
    check.expect("stack refused", bench.command(Command.STACK_1), False)
    bench.do("pull")
    check.stimulus("inhibit lifted, item offered again")
    bench.command(Command.SET_INHIBIT, b"\0")
    with check.duty("takes items again", AssertionError):
        bench.until(Status.IDLE)
        bench.stack(items.genuine(20))
    check.expect("stacked afterwards", bench.truth()["stacked"], 1)


@INHIBIT
def test_inhibited_while_an_item_is_drawn_in(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    drives.accepting(bench)
    check.stimulus("inhibited while a note is drawn in")
    bench.command(Command.SET_INHIBIT, b"\x01")
    check.measure("accepted", bench.attempt(items.genuine(20), ms=4000))
    check.expect("returned", bench.truth()["returned"] >= 1, True)
    check.expect("status", bench.status().cmd, Status.DISABLED)


@INHIBIT
def test_inhibited_with_an_item_in_escrow(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(items.genuine(20))
    check.stimulus("inhibited with a note in escrow; that note is settled, and no other taken")
    bench.command(Command.SET_INHIBIT, b"\x01")
    bench.command(Command.RETURN)
    check.expect("plant", settle(bench, check), counts(0, 1))
    check.expect("status", bench.status().cmd, Status.DISABLED)
    check.measure("accepted", bench.attempt(items.genuine(20), ms=4000))

"""13:69E-1.28N(a): damaged frames are never acted on, and replies come in time."""

from __future__ import annotations

from collections.abc import Iterator

from pitbench import items
from pitbench.deadline import Deadline
from pitbench.protocols.id003 import POWER_UPS, SYNC, Command, Frame, Reply, Status, encode
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.reply_time import ReplyTime, reply_times, typical
from pitbench_hil.run import Run

DAMAGED = rule("NJ-1.28N(a)/damaged-frames")
TIME = rule("NJ-1.28N(a)/response-time")
BOTH = images("bench", "release")
# A pause that ends a frame: longer than any host leaves within one, in device time and in real time.
PAUSE_MS = 80
# After ten seconds a note in escrow goes back by itself.
IN_ONE_ESCROW = 25
# Halves of one frame may be this far apart.
WITHIN_FRAME_S = 0.03
# Whole insertions take two seconds of real time.
INSERTION_S = 10.0
# Each kind of request, so many times.
ROUNDS = 10
# A frame of each protocol, and lone bytes: a 0x03 stops a MicroPython program.
FOREIGN = {
    "ctrl-c": b"\x03",
    "ctrl-c-ctrl-d": b"\x03\x03\x04",
    "id003": bytes.fromhex("fc05402b15"),
    "ebds": bytes.fromhex("0208107f1c000e7b03"),
    "cctalk": bytes.fromhex("2800019f38"),
    "ssp": bytes.fromhex("7f8001071202"),
    "ccnet": bytes.fromhex("0203063041b3"),
    "syncs": bytes([SYNC] * 9),
    "sync-and-zero": bytes([SYNC, 0, SYNC, 4, SYNC, 1]),
    "noise": bytes(range(0xE0, 0x100)),
}
# What a device that was just started tells, before or after its host was told of the start.
STARTED = (*POWER_UPS, Status.INITIALISE, Status.DISABLED)


def flipped(frame: bytes) -> Iterator[bytes]:
    """The frame with each of its bits wrong in turn."""
    for bit in range(8 * len(frame)):
        damaged = bytearray(frame)
        damaged[bit // 8] ^= 1 << bit % 8
        yield bytes(damaged)


def cut_short(frame: bytes) -> Iterator[bytes]:
    """Every beginning of the frame."""
    for end in range(1, len(frame)):
        yield frame[:end]


def damaged(bench: AcceptorBench, frame: bytes) -> list[bytes]:
    """Every kind of damage to one frame."""
    return [*flipped(frame), *cut_short(frame), *bench.speech.misshapen(frame)]


@DAMAGED
def test_damaged_stack_is_not_acted_on(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    hold_a_note(bench)
    frames = damaged(bench, bench.speech.native(Command.STACK_1))
    check.stimulus("damaged stack commands with a note in escrow", frames=len(frames))
    wrong = []
    for number, frame in enumerate(frames):
        if number and number % IN_ONE_ESCROW == 0:
            hold_a_note(bench)
        bench.send(frame)
        silence(bench)
        reply = bench.exchange(Command.STATUS_REQUEST)
        if reply is None or reply.cmd != Status.ESCROW:
            wrong.append([frame.hex(), repr(reply)])
            break
    check.expect("acted on, or the next good frame not answered", wrong, [])
    check.expect("stacked", bench.truth()["stacked"], 0)


@DAMAGED
@BOTH
def test_damaged_setting_is_not_acted_on(bench: AcceptorBench, check: Check, image_kind: str) -> None:
    bench.exchange(Command.STATUS_REQUEST)
    bench.configure()
    inhibit = bench.speech.native(Command.SET_INHIBIT, b"\x01")
    frames = damaged(bench, inhibit) if image_kind == "bench" else [*list(flipped(inhibit))[::5], *cut_short(inhibit)]
    check.stimulus("damaged inhibits", frames=len(frames))
    wrong = []
    for frame in frames:
        bench.send(frame)
        pause(bench, image_kind)
        reply, enabled = bench.exchange(Command.STATUS_REQUEST), bench.state()["enabled"]
        if reply is None or not enabled:
            wrong.append([frame.hex(), repr(reply), enabled])
            break
    check.expect("acted on, or the next good frame not answered", wrong, [])


@DAMAGED
@BOTH
def test_foreign_bytes_are_not_acted_on(bench: AcceptorBench, check: Check, image_kind: str) -> None:
    boot = bench.state()["boot"]
    for foreign, data in {**FOREIGN, "a frame begun": bench.speech.begun()}.items():
        if foreign == bench.wire:
            continue
        check.stimulus("foreign bytes, a pause, a poll", kind=foreign, bytes=data.hex())
        bench.send(data)
        pause(bench, image_kind)
        expect_as_started(bench, check, f"poll after {foreign}")
        check.stimulus("the same right before a poll")
        with bench.behind(data):
            expect_as_started(bench, check, f"poll right behind {foreign}")
    check.expect("boot", bench.state()["boot"], boot)


def expect_as_started(bench: AcceptorBench, check: Check, name: str) -> None:
    """A poll is answered, by a device that was just started."""
    reply = bench.exchange(Command.STATUS_REQUEST)
    check.expect(name, reply is not None and reply.cmd in STARTED, True)


@DAMAGED
@BOTH
def test_frames_however_they_arrive(bench: AcceptorBench, check: Check) -> None:
    bench.exchange(Command.STATUS_REQUEST)
    poll = bench.speech.native(Command.STATUS_REQUEST)
    check.stimulus("three frames in one piece")
    bench.send(3 * poll)
    replies = [bench.receive() is not None for _ in range(3)]
    check.expect("answered", replies, [True, True, True])
    check.stimulus("one frame in two pieces, cut at each byte")
    for at in range(1, len(poll)):
        poll = bench.speech.native(Command.STATUS_REQUEST)
        check.expect(f"a frame cut at byte {at} answered", split(bench, poll, at) is not None, True)


@DAMAGED
@BOTH
def test_bursts_as_long_as_a_usb_packet(bench: AcceptorBench, check: Check) -> None:
    for size in (64, 63, 65):
        noise = b"\xe5" * (size - len(bench.speech.native(Command.STATUS_REQUEST)))
        check.stimulus("noise and a poll, together as long as a USB packet, or one byte off", size=size)
        with bench.behind(noise):
            expect_as_started(bench, check, f"the poll at the end of {size} bytes")
        if bench.wire == "id003":
            one_long_frame(bench, check, size)


def one_long_frame(bench: AcceptorBench, check: Check, size: int) -> None:
    """No setting of ID-003 has so much data: a device may echo it, or call it invalid, but it heard the frame."""
    data = bytes([1]) * (size - len(encode(Command.SET_OPTIONS)))
    check.stimulus("a frame as long as a USB packet, or one byte off", size=size)
    answers = ([Command.SET_OPTIONS, data.hex()], [Reply.INVALID_COMMAND, ""])
    check.expect("answered", reading(bench.exchange(Command.SET_OPTIONS, data)) in answers, True)


def hold_a_note(bench: AcceptorBench) -> None:
    """A note in escrow, in place of the one there."""
    if bench.status().cmd == Status.ESCROW:
        bench.command(Command.RETURN)
        bench.until(Status.IDLE)
    bench.escrow(items.genuine(20))


def reading(frame: Frame | None) -> list[object]:
    """A frame as plain data."""
    return [frame.cmd, frame.data.hex()] if frame else []


def silence(bench: AcceptorBench) -> None:
    """Device time passes; twice, as the board may read its link before its wire."""
    bench.state()
    bench.advance(PAUSE_MS)
    bench.advance(PAUSE_MS)


def pause(bench: AcceptorBench, image_kind: str) -> None:
    """The line falls silent: by device time where the bench has it, else by waiting for a reply that mustn't come."""
    if image_kind == "bench":
        silence(bench)
    elif (frame := bench.receive(PAUSE_MS / 1000)) is not None and not bench.speech.complains(frame):
        raise AssertionError(f"answered with {frame!r}")


def split(bench: AcceptorBench, frame: bytes, at: int) -> Frame | None:
    """Send a frame in two pieces, the first one read before the second is there.

    A PC that was late in between proves nothing, and sends it again once the line was silent.
    """
    for _ in range(20):
        start = bench.board.clock()
        bench.send(frame[:at])
        bench.state()
        bench.send(frame[at:])
        in_time = bench.board.clock() - start < WITHIN_FRAME_S
        reply = bench.receive(2.0 if in_time else 2 * PAUSE_MS / 1000)
        if in_time:
            return reply
    raise TimeoutError("this PC is too busy to send a frame in two pieces")


@TIME
@BOTH
def test_replies_come_in_time(bench: AcceptorBench, check: Check, run: Run) -> None:
    requests = [(Command.STATUS_REQUEST, b""), *((command, data) for command, data, _ in bench.speech.reads)] * ROUNDS
    check.stimulus("polls, settings and reads, one at a time", exchanges=len(requests))
    with check.duty("answers each request", Unreached):
        times = reply_times(run, bench, requests)
    slowest = max(typical(times), key=lambda sample: sample.ms)
    check.measure("slowest_reply", slowest.ms, unit="ms", uncertainty=slowest.band_ms)
    check.note("samples", taken=len(requests), used=len(times), slowest=f"{slowest.command:02x}")


@TIME
def test_replies_come_in_time_with_paper_under_way(bench: AcceptorBench, check: Check, run: Run) -> None:
    bench.start()
    polls = [(Command.STATUS_REQUEST, b"")] * 10
    bench.escrow(items.genuine(20))
    times = typical(reply_times(run, bench, polls))
    check.stimulus("polled in escrow, while stacking, in vend valid")
    bench.command(Command.STACK_1)
    times += typical(reply_times(run, bench, polls))
    bench.until(Status.VEND_VALID)
    times += typical(reply_times(run, bench, polls))
    slowest = max(times, key=lambda sample: sample.ms)
    check.measure("slowest_reply", slowest.ms, unit="ms", uncertainty=slowest.band_ms)


@rule("NJ-1.28N(a)/response-time-while-storing")
def test_replies_come_in_time_while_storing(bench: AcceptorBench, check: Check, run: Run) -> None:
    bench.start()
    times: list[ReplyTime] = []
    for decision in (Command.STACK_1, Command.STACK_2):
        check.stimulus("note stacked, polled without a pause in real time", decision=decision.name)
        bench.insert(items.genuine(20))
        with check.duty("reports the note, polled in real time", Unreached):
            times += polled_until(run, bench, Status.ESCROW)
            bench.command(decision)
            times += polled_until(run, bench, Status.VEND_VALID)
            bench.ack()
            times += polled_until(run, bench, Status.IDLE)
    slowest = max(times, key=lambda sample: sample.ms)
    check.measure("slowest_reply", slowest.ms, unit="ms", uncertainty=slowest.band_ms)


def polled_until(run: Run, bench: AcceptorBench, status: int) -> list[ReplyTime]:
    """Times of polls, one after the other, until a status is seen."""
    times: list[ReplyTime] = []
    deadline = Deadline(INSERTION_S, bench.board.clock)
    while not deadline.passed:
        times += reply_times(run, bench, [(Command.STATUS_REQUEST, b"")])
        if bench.status().cmd == status:
            return times
    raise Unreached(f"status {status:02x} not seen in {INSERTION_S:g} s")

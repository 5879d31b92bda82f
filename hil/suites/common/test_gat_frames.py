"""House rules on GAT's frames: what a line does to them, and what outlasts a power cut."""

from __future__ import annotations

import pytest
from pitbench.protocols import gat
from pitbench.protocols.gat import Command, Format, Frame, encode, results_data
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.check import Check
from pitbench_hil.gat_terminal import Terminal, answer, new_seed
from pitbench_hil.marks import images, needs, rule
from pitbench_hil.mutations import flipped

TEXT_1 = results_data(Format.TEXT, 1)
# Commands that there aren't, and frames of another length than their command has.
STRANGE = [encode(command) for command in (0x00, 0x05, 0x10, 0x7F, 0x81, 0x84, 0xFF)]
STRANGE += [encode(Command.STATUS, b"\0"), encode(Command.RESULTS, b"\1\0"), encode(Command.START), b"\x01\xff" * 200]
NOON, LATER_S = 1_800_000_000, 5000
UNKNOWN_LEVELS = (0x00, 0x02, 0x03, 0x10, 0xB9, 0xBB, 0xFF)


def damaged(good: bytes) -> list[bytes]:
    """One bit wrong in each byte, a byte less, a byte more, its CRC turned round."""
    flips = [flipped(good, 8 * at + at % 8) for at in range(len(good))]
    return [*flips, good[:-1], good[:2] + b"\x03" + good[2:], good[:-2] + good[:-3:-1]]


def wrongly_answered(terminal: Terminal, frame: bytes) -> int:
    """How many answers come to what needs none, and whether the status after it is another than an idle device's."""
    terminal.send(frame)
    return len(terminal.heard()) + (answer(terminal.ask(Command.STATUS)) != "idle, text")


@rule("HOUSE-gat-frames")
@images("bench", "release")
@pytest.mark.parametrize(
    "good",
    [encode(Command.STATUS), encode(Command.LAST), encode(Command.START, b"\x011234")],
    ids=["status", "last", "start"],
)
def test_a_damaged_frame_is_dropped_in_silence_and_the_next_is_answered(
    terminal: Terminal, check: Check, good: bytes
) -> None:
    wrong = 0
    for frame in damaged(good):
        check.stimulus("a damaged frame", frame=frame.hex())
        wrong += wrongly_answered(terminal, frame)
    check.measure("wrong_answers", wrong)


@rule("HOUSE-gat-frames")
@images("bench", "release")
def test_what_is_no_frame_is_dropped_in_silence(terminal: Terminal, check: Check) -> None:
    wrong = 0
    for frame in STRANGE:
        check.stimulus("a frame that there isn't", frame=frame[:8].hex())
        wrong += wrongly_answered(terminal, frame)
    check.measure("wrong_answers", wrong)


@rule("HOUSE-gat-frames")
@images("bench", "release")
def test_a_frame_may_come_in_pieces(terminal: Terminal, check: Check) -> None:
    wrong = 0
    for good, expected in (
        (encode(Command.STATUS), "idle, text"),
        (encode(Command.RESULTS, TEXT_1), "result frame 1, refused"),
        (encode(Command.START, b"\x02"), "level error"),
    ):
        for cut in range(1, len(good)):
            wrong += answer(terminal.answer_to(good[:cut], good[cut:])) != expected
    check.measure("wrong_answers", wrong)


@rule("HOUSE-gat-frames")
@images("bench", "release")
def test_an_unknown_level_is_refused_and_starts_nothing(terminal: Terminal, check: Check) -> None:
    wrong = 0
    for level in UNKNOWN_LEVELS:
        check.stimulus("a start of an unknown level", level=level)
        wrong += answer(terminal.ask(Command.START, bytes([level]))) != "level error"
        wrong += answer(terminal.ask(Command.STATUS)) != "idle, text"
    wrong += answer(terminal.ask(Command.LAST)) != "last level none"
    check.measure("wrong_answers", wrong)


@rule("HOUSE-gat-frames")
@images("bench", "release")
def test_a_start_while_one_runs_changes_nothing(terminal: Terminal, check: Check) -> None:
    seed = new_seed()
    check.stimulus("two starts in one go")
    terminal.send(encode(Command.START, b"\x01" + seed) + encode(Command.START, b"\x01another"))
    said = [answer(frame) for frame in terminal.heard()]
    check.expect("answers to two starts", said, ["started", "acknowledged"])
    terminal.rest()
    result = terminal.last_result()
    check.measure("wrong_answers", int(f"Seed: {seed.hex()}".encode() not in result))


@rule("HOUSE-gat-frames")
@images("bench", "release")
def test_a_result_comes_frame_by_frame_and_again_and_outlasts_a_cut(
    terminal: Terminal, fresh: AttendedBench, check: Check
) -> None:
    whole = terminal.result("text", new_seed()).data
    last = -(-len(whole) // gat.PIECE)
    wrong = _wrong_frames(terminal, whole, last)
    for number in (0, last + 1, 0xFFFF):
        said = answer(terminal.ask(Command.RESULTS, results_data(Format.TEXT, number)))
        wrong += said != f"result frame {number}, refused"
    wrong += answer(terminal.ask(Command.RESULTS, results_data(Format.XML, 1))) != "result frame 1, refused"
    check.stimulus("power cut after a result")
    fresh.power_cycle()
    wrong += answer(terminal.ask(Command.STATUS)) != "idle, text"
    wrong += not answer(terminal.ask(Command.LAST)).startswith("last level 01")
    wrong += _wrong_frames(terminal, whole, last)
    check.measure("wrong_answers", wrong)


@rule("HOUSE-gat-frames")
@needs("calendar")
def test_the_age_of_a_result_goes_on_over_a_cut(terminal: Terminal, fresh: AttendedBench, check: Check) -> None:
    """By the calendar alone: where it says nothing, or an earlier time, the age is unknown."""
    wrong = 0
    fresh.do("calendar", set=NOON)
    terminal.result("text", new_seed())
    wrong += not _is_aged(terminal, 0)
    for since in (LATER_S, None, -LATER_S, 2 * LATER_S):
        check.stimulus("power cut after a result, and the calendar set", seconds_since=since)
        fresh.power_cycle()
        fresh.do("calendar", set=None if since is None else NOON + since)
        wrong += not _is_aged(terminal, since)
    check.measure("wrong_answers", wrong)


def _is_aged(terminal: Terminal, since: int | None) -> bool:
    """Whether the last calculation is that long ago, give or take what the bench's own requests take."""
    frame = terminal.ask(Command.LAST)
    age = int.from_bytes(frame.data[1:5], "big") if frame else -1
    return age == gat.AGE_UNKNOWN if since is None or since < 0 else since - 60 <= age <= since + 60


@rule("HOUSE-gat-frames")
@images("bench", "release")
def test_a_cut_in_a_calculation_leaves_the_result_before(
    terminal: Terminal, fresh: AttendedBench, check: Check
) -> None:
    before = terminal.result("text", new_seed()).data
    wrong = 0
    for _ in range(3):
        check.stimulus("power cut in a calculation")
        wrong += answer(terminal.ask(Command.START, b"\x01another")) != "started"
        fresh.power_cycle()
        wrong += terminal.state() != "idle"
        wrong += terminal.last_result() != before
    check.measure("wrong_answers", wrong)


def _wrong_frames(terminal: Terminal, whole: bytes, last: int) -> int:
    """How many frames, asked for out of order and twice, don't carry their part of the result."""
    wrong = 0
    for number in [*range(last, 0, -1), 1, 1, last]:
        part = whole[(number - 1) * gat.PIECE : number * gat.PIECE]
        bits = gat.LAST_PIECE if number == last else 0
        frame = terminal.ask(Command.RESULTS, results_data(Format.TEXT, number))
        wrong += frame != Frame(Command.RESULTS | gat.REPLY_BIT, bytes([bits]) + number.to_bytes(2, "big") + part)
    return wrong

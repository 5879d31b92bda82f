"""The faulty line of the money suite, and the search for numbers: a sweep that does nothing would pass everything."""

from pathlib import Path

import pytest
from pitbench.protocols.id003 import Command, Decoder, Status, encode
from pitbench_hil.acceptor_line import LATE_MS, Fault, Lane
from pitbench_hil.number_search import files_below, holds, shown_digits

FRAMES = [encode(Command.STATUS_REQUEST), encode(Command.STACK_1), encode(Status.ESCROW, b"\x65")]
NUMBER = "730462815937204861"


def arrivals(fault: Fault | None) -> list[tuple[int, bytes]]:
    """What comes out of a lane into which a frame goes every 100 ms, and when."""
    lane = Lane()
    lane.count_anew(fault)
    found = []
    for now in range(0, 1500, 100):
        if now < 300:
            lane.put(FRAMES[now // 100], now)
        found += [(now, data) for data in lane.take(now)]
    return found


def test_a_lane_without_a_fault_hands_everything_on_at_once():
    assert arrivals(None) == [(0, FRAMES[0]), (100, FRAMES[1]), (200, FRAMES[2])]


def test_only_the_named_frame_is_lost():
    assert arrivals(Fault("lost", 1)) == [(0, FRAMES[0]), (200, FRAMES[2])]


def test_a_doubled_frame_comes_twice():
    assert [data for _, data in arrivals(Fault("twice", 0))] == [FRAMES[0], *FRAMES]


def test_a_late_frame_holds_up_the_next():
    assert arrivals(Fault("late", 1)) == [(0, FRAMES[0]), (100 + LATE_MS, FRAMES[1]), (100 + LATE_MS, FRAMES[2])]


@pytest.mark.parametrize("at", range(3))
def test_a_damaged_frame_differs_in_one_bit_and_fails_its_crc(at):
    damaged = Fault("damaged", at).suffer(FRAMES[at])[0][1]
    changed = [a ^ b for a, b in zip(damaged, FRAMES[at], strict=True)]
    assert sum(bit.bit_count() for bit in changed) == 1
    assert changed[:2] == [0, 0]
    assert Decoder().feed(damaged) == []


def test_counting_anew_forgets_the_fault():
    lane = Lane()
    lane.count_anew(Fault("lost", 0))
    lane.count_anew()
    lane.put(FRAMES[0], 0)
    assert lane.take(0) == [FRAMES[0]]


@pytest.mark.parametrize("text", [NUMBER, NUMBER.encode().hex(), NUMBER.encode().hex(" ")])
def test_a_number_is_found_in_every_form(text):
    content = f'{{"a": "x{text}"}}'.encode()
    assert holds(content, ["111111111111111111", NUMBER])
    assert not holds(content.replace(b"3", b"4"), [NUMBER])


@pytest.mark.parametrize("shown", [5, 14, 16, 18])
def test_the_longest_run_of_shown_digits_counts(shown):
    assert shown_digits(f"** {NUMBER[-shown:]} {NUMBER[:3]}", NUMBER) == shown
    assert shown_digits(f"** {NUMBER[:shown]}*", NUMBER) == shown


def test_nothing_shown_is_the_least():
    assert shown_digits("nothing", NUMBER) == 4


def test_every_file_below_is_searched(tmp_path: Path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("x", "a/y", "a/b/z"):
        (tmp_path / name).write_text(name)
    assert sorted(path.name for path in files_below(tmp_path)) == ["x", "y", "z"]
    assert files_below(tmp_path / "x") == [tmp_path / "x"]

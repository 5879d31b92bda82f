"""A release image on a virtual board: its pins, set from outside and answered by sound parts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pitbench.deadline import Deadline
from pitbench.targets import Board, open_target
from pitbench.virtual.pins import OPTICAL, PinResponder


def test_parts_follow_what_is_driven() -> None:
    parts = PinResponder()
    assert parts.react("emitters", 0) == [(pin, 1) for pin in OPTICAL]
    assert parts.react("emitters", 1) == [(pin, 0) for pin in OPTICAL]
    assert parts.react("transport_motor", -1) == [("moving", 1)]
    assert parts.react("transport_motor", 0) == [("moving", 0)]
    assert parts.react("stack_motor", 1) == [("home", 0), ("chute", 0), ("home", 1)]
    assert parts.react("stack_motor", 0) == []
    assert parts.react("rack_motor", 2) == [("aligned", 0), ("aligned", 1)]
    assert parts.driven[-1] == ("rack_motor", 2)


def test_a_broken_part_doesnt_follow() -> None:
    parts = PinResponder()
    parts.broken |= {"moving", "home"}
    assert parts.react("transport_motor", 1) == []
    assert parts.react("stack_motor", 1) == [("chute", 0)]


def test_light_shows_what_was_there_before() -> None:
    parts = PinResponder()
    parts.held["entry"] = 1
    parts.react("emitters", 0)
    assert ("entry", 1) in parts.react("emitters", 1)


def test_a_board_that_starts_is_told_what_was_held_and_that_it_is_dark() -> None:
    parts = PinResponder()
    parts.held.update({"entry": 0, "box": 0})
    parts.broken.add("centre")
    told = set(parts.at_start())
    assert {"pin box 0", "pin entry 1"} <= told
    assert not {"pin entry 0", "pin centre 1"} & told


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    with open_target("unix:", kind="release", root=tmp_path / "board") as board:
        yield board


def self_test(board: Board) -> dict[str, object]:
    """The self-test's result, once there is one."""
    deadline = Deadline(10)
    while (post := board.link.do("post"))["ok"] is None:
        assert not deadline.passed, post
    return post


def test_the_self_test_passes(board: Board) -> None:
    post = self_test(board)
    assert post["ok"] is True, post
    assert board.virtual is not None
    assert board.virtual.crashes == 0


def test_a_switch_stays_as_it_is_through_a_cut(board: Board) -> None:
    assert board.virtual is not None
    board.virtual.pins("scanner", 0)
    board.cut()
    board.power_on()
    post = self_test(board)
    assert [name for name, ok, _ in post["steps"] if not ok] == ["scanner"]  # type: ignore[attr-defined]

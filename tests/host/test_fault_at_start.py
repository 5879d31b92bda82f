"""A bench image that cuts its own power at a store write of its start, before there is a link to ask for it."""

from pathlib import Path

import pytest
from pitbench.deadline import Deadline, DeadlinePassed
from pitbench.image import build_image
from pitbench.targets import open_target


@pytest.fixture
def board(tmp_path: Path):
    image = build_image("bill-acceptor", "bench", tmp_path / "image")
    with open_target("unix:", image=image, root=tmp_path / "root" / "board") as board:
        yield board


def restart(board, write: int, how: str) -> bool:
    """Whether the board was up after a start with such a fault; back on after it in any case."""
    board.cut()
    board.virtual.fault_at_start(write, how)
    board.virtual.power_on()
    try:
        board.virtual.wait_off(Deadline(0.5))
    except DeadlinePassed:
        return True
    return False


@pytest.mark.parametrize("how", ["before", "torn_prefix", "torn_zeros", "torn_ff", "after"])
def test_the_first_writes_of_a_start_can_be_cut(board, how):
    boot = board.identity["boot"]
    assert not restart(board, 1, how)
    assert board.power_on()["boot"] == boot + 1, "a start whose log entry was cut is not counted"


def test_a_write_that_never_comes_cuts_nothing_and_the_next_start_is_free(board):
    assert restart(board, 50, "before")
    board.cut()
    assert board.power_on()["boot"] >= 3

"""A bench for the dice shaker under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pitbench.targets import Board
from pitbench_hil.dice_moves import clock_from
from pitbench_hil.dice_shaker import DiceBench


@pytest.fixture
def fresh(board: Board) -> DiceBench:
    """Just powered up."""
    return DiceBench(board)


@pytest.fixture
def bench(fresh: DiceBench) -> DiceBench:
    """Sic bo: idle, its self-test passed, three fair dice in."""
    fresh.ready()
    return fresh


@pytest.fixture
def still(fresh: DiceBench) -> Iterator[DiceBench]:
    """On a clock that stands but for the time that the bench lets pass; nobody filled it."""
    with clock_from(fresh.board):
        fresh.board.start_over()
        fresh.start()
        yield fresh

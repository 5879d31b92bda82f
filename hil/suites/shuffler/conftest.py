"""A bench for the card shuffler under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pitbench.targets import Board
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_moves import afresh, standing_clock


@pytest.fixture
def fresh(board: Board) -> ShufflerBench:
    """Just powered up."""
    return ShufflerBench(board)


@pytest.fixture
def still(fresh: ShufflerBench) -> Iterator[ShufflerBench]:
    """Idle, on a clock that stands but for the time that the bench lets pass."""
    with standing_clock(fresh.board):
        afresh(fresh)
        yield fresh


@pytest.fixture
def bench(fresh: ShufflerBench) -> ShufflerBench:
    """Idle, its self-test passed."""
    fresh.start()
    return fresh

"""A bench for the card shuffler under test."""

from __future__ import annotations

import pytest
from pitbench.targets import Board
from pitbench_hil.shuffler import ShufflerBench


@pytest.fixture
def fresh(board: Board) -> ShufflerBench:
    """Just powered up."""
    return ShufflerBench(board)


@pytest.fixture
def bench(fresh: ShufflerBench) -> ShufflerBench:
    """Idle, its self-test passed."""
    fresh.start()
    return fresh

"""A bench for the card shuffler under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pitbench.image import Image
from pitbench.targets import Board
from pitbench_hil.check import Check
from pitbench_hil.fed import feed_a_silent_chip
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_gat import Terminal
from pitbench_hil.shuffler_moves import afresh, standing_clock


@pytest.fixture
def fresh(board: Board, image_kind: str) -> ShufflerBench:
    """Just powered up."""
    bench = ShufflerBench(board)
    feed_a_silent_chip(bench, image_kind)
    return bench


@pytest.fixture
def still(fresh: ShufflerBench) -> Iterator[ShufflerBench]:
    """Idle, on a clock that stands but for the time that the bench lets pass."""
    with standing_clock(fresh.board):
        afresh(fresh)
        yield fresh


@pytest.fixture
def staffed(fresh: ShufflerBench) -> ShufflerBench:
    """Every role has its secret."""
    fresh.commission()
    return fresh


@pytest.fixture
def terminal(fresh: ShufflerBench, image: Image, check: Check) -> Terminal:
    """A GAT terminal on its wire."""
    return Terminal(fresh, image, check)


@pytest.fixture
def bench(fresh: ShufflerBench) -> ShufflerBench:
    """Idle, its self-test passed."""
    fresh.start()
    return fresh

"""A bench for the selector under test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pitbench.targets import Board
from pitbench_hil.board_bench import afresh, standing_clock
from pitbench_hil.fed import feed_a_silent_chip
from pitbench_hil.selector import SelectorBench


@pytest.fixture
def fresh(board: Board, image_kind: str) -> SelectorBench:
    """Just powered up."""
    bench = SelectorBench(board)
    feed_a_silent_chip(bench, image_kind)
    return bench


@pytest.fixture
def new(fresh: SelectorBench) -> Iterator[SelectorBench]:
    """Never set, its self-test passed, on a clock that stands but for the time that the bench lets pass."""
    with standing_clock(fresh.board):
        afresh(fresh)
        yield fresh


@pytest.fixture
def bench(new: SelectorBench) -> SelectorBench:
    """The same, set for pai gow poker without bonus wagers, idle."""
    new.ready()
    return new

"""A host, a rig and a kiosk for the board under test."""

from __future__ import annotations

from pathlib import Path

import pytest
from pitbench.targets import Board
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.acceptor_pins import bench_of


@pytest.fixture
def bench(board: Board, image_kind: str) -> AcceptorBench:
    """Host and bench for the board; nothing was sent to its wire yet."""
    return bench_of(board, image_kind)


@pytest.fixture
def till(bench: AcceptorBench, tmp_path: Path) -> Till:
    """A kiosk with a journal on the board, idle and open for business."""
    till = Till(bench, tmp_path / "journal")
    till.open()
    return till

"""A bench for the dice shaker under test."""

from __future__ import annotations

import pytest
from pitbench_hil.dice_shaker import DiceBench


@pytest.fixture
def bench(still: DiceBench) -> DiceBench:
    """Sic bo: idle, three fair dice in, on a clock that stands but for the time that the bench lets pass."""
    still.ready()
    return still

"""A bench for the dice shaker under test."""

from __future__ import annotations

import pytest
from pitbench_hil.dice_shaker import DiceBench


@pytest.fixture
def bench(fresh: DiceBench) -> DiceBench:
    """Sic bo: idle, its self-test passed, three fair dice in."""
    fresh.ready()
    return fresh

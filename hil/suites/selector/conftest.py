"""A bench for the selector under test."""

from __future__ import annotations

import pytest
from pitbench_hil.attended_bench import TECHNICIAN
from pitbench_hil.selector import SelectorBench


@pytest.fixture
def bench(still: SelectorBench) -> SelectorBench:
    """Idle, on a clock that stands but for the time that the bench lets pass; there is a technician."""
    still.commission(TECHNICIAN)
    return still

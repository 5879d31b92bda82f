"""A GAT terminal for the card shuffler under test."""

from __future__ import annotations

import pytest
from pitbench.image import Image
from pitbench_hil.check import Check
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_gat import Terminal


@pytest.fixture
def terminal(fresh: ShufflerBench, image: Image, check: Check) -> Terminal:
    """A GAT terminal on its wire."""
    return Terminal(fresh, image, check)

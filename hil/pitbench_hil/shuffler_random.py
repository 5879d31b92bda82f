"""Samples of a shuffler's orders, and the statistics of decks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pitbench_hil.check import Check
from pitbench_hil.inquiry import Sample, Statistic, p_of, steadily
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.statistics import shuffles

DECK_TESTS: Mapping[str, Statistic] = {name: p_of(test) for name, test in shuffles.TESTS.items()}


def dealt(orders: Sample) -> Sample:
    """Decks as they come out, each card by its place before, from the slot that each card went to."""
    return np.argsort(orders, axis=1).astype(orders.dtype)


def decks_in_a_row(bench: ShufflerBench, check: Check, count: int, cards: int = 52) -> Sample:
    """So many decks as they come out, drawn in a row from the board's own source."""
    return steadily(bench, check, count, lambda size: dealt(bench.orders(size, cards)))

"""Cycles of a shuffle: a card goes where another lay, that one where a third lay, until the ring closes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.harmonic import harmonic_chances
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import Columns, decks_of, in_columns
from pitbench_hil.statistics.scores import shape_test, total_test


def cycles(decks: ArrayLike) -> NDArray[Any]:
    """How many cycles each deck has, cards that stayed counted as one each."""
    return np.concatenate([_cycles(columns) for columns in in_columns(decks_of(decks))])


def _cycles(columns: Columns) -> NDArray[Any]:
    """Card after card is taken out of its cycle; the one that is alone when its turn comes closes a cycle."""
    cards, decks = columns.shape
    # Cards of all decks in one row, card c of deck d at c · decks + d: every deck takes a step at once.
    to = (columns * np.intp(decks) + np.arange(decks)).ravel()
    back = np.empty_like(to)
    back[to] = np.arange(to.size)
    found = np.zeros(decks, np.uint16)
    for card in range(cards):
        here = slice(card * decks, (card + 1) * decks)
        after, before = to[here].copy(), back[here].copy()
        found += after == np.arange(here.start, here.stop)
        to[before] = after
        back[after] = before
    return found


def cycle_test(decks: ArrayLike) -> Result:
    """Whether the decks have as many cycles as fair ones, H_n on average. Exact for any number of decks."""
    found = decks_of(decks)
    return total_test("cycles", cycles(found), harmonic_chances(found.shape[1]))


def cycle_shape_test(decks: ArrayLike) -> Result:
    """Whether each number of cycles is as frequent as among fair decks."""
    found = decks_of(decks, least=30)
    return shape_test("spread of cycles", cycles(found), harmonic_chances(found.shape[1]))

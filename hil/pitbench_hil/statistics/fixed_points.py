"""Decks in which no card lies where it lay before."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pitbench_hil.statistics.counts import share
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import decks_of, in_columns


def no_fixed_point_chance(cards: int) -> float:
    """On a fair deck: 1 − 1/1! + 1/2! − … ± 1/n!."""
    chance, term = 1.0, 1.0
    for k in range(1, cards + 1):
        term /= -k
        chance += term
    return chance


def without_fixed_point(decks: ArrayLike) -> int:
    """How many decks have every card elsewhere than before."""
    pieces = in_columns(decks_of(decks))
    return sum(int(np.count_nonzero((c != np.arange(len(c))[:, None]).all(axis=0))) for c in pieces)


def fixed_point_test(decks: ArrayLike) -> Result:
    """As many decks without fixed point as there should be. Exact. Sattolo's algorithm makes no others."""
    found = decks_of(decks)
    number = without_fixed_point(found)
    return share("decks without fixed point", number, len(found), no_fixed_point_chance(found.shape[1]))

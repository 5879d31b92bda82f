"""Riffles: each at most doubles the rising sequences, cards that still stand in their old order one after another.

D. Bayer, P. Diaconis, Trailing the dovetail shuffle to its lair, 1992.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import Columns, decks_of, in_columns, places
from pitbench_hil.statistics.scores import Chances, total_test


def rising_sequences(decks: ArrayLike) -> NDArray[Any]:
    """How many rising sequences each deck has: 1 untouched, 26.5 on average on a fair deck of 52."""
    return np.concatenate([_rising(columns) for columns in in_columns(decks_of(decks))])


def _rising(columns: Columns) -> NDArray[Any]:
    place = places(columns)
    return 1 + np.add.reduce(place[1:] < place[:-1], axis=0, dtype=np.uint16)


@cache
def orders_by_rising(cards: int) -> tuple[int, ...]:
    """How many orders have 0, 1, 2, … rising sequences: the Eulerian numbers."""
    orders = [0, 1]
    for size in range(2, cards + 1):
        more = [*orders, 0]
        orders = [0, *(r * more[r] + (size - r + 1) * more[r - 1] for r in range(1, size + 1))]
    return tuple(orders)


@cache
def fair_rising(cards: int) -> Chances:
    """Chances of 0, 1, 2, … rising sequences on a fair deck: mean (n + 1)/2, variance (n + 1)/12."""
    return _chances(cards, [Fraction(1, math.factorial(cards))] * (cards + 1))


@cache
def riffled_rising(riffles: int, cards: int = 52) -> Chances:
    """Chances of 0, 1, 2, … rising sequences after so many riffles of a deck in order."""
    return _chances(cards, _order_chances(riffles, cards))


def _chances(cards: int, each: list[Fraction]) -> Chances:
    chances = np.array([float(n * chance) for n, chance in zip(orders_by_rising(cards), each, strict=True)])
    chances.setflags(write=False)
    return chances


def _order_chances(riffles: int, cards: int) -> list[Fraction]:
    """Chance of one order with 0, 1, 2, … rising sequences (theorem 1)."""
    below = 2 ** (riffles * cards)
    return [Fraction(math.comb(2**riffles + cards - rising, cards), below) for rising in range(cards + 1)]


def total_variation(riffles: int, cards: int = 52) -> float:
    """Half the sum, over all orders, of how far the chance after so many riffles is from the fair one."""
    fair = Fraction(1, math.factorial(cards))
    each = zip(orders_by_rising(cards), _order_chances(riffles, cards), strict=True)
    return float(sum(orders * abs(chance - fair) for orders, chance in each) / 2)


def rising_test(decks: ArrayLike) -> Result:
    """Whether the decks have as many rising sequences as fair ones. Exact for any number of decks."""
    found = decks_of(decks)
    return total_test("rising sequences", rising_sequences(found), fair_rising(found.shape[1]))

"""Valleys: cards lower than both neighbours. Peaks: higher than both. A shelf machine leaves too few of them.

Which of the two are few depends on the end from which a machine deals: a card of a peak is one of a valley when the
deck is numbered from below. On a fair deck both are spread alike.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import Columns, decks_of, in_columns
from pitbench_hil.statistics.scores import Chances, shape_test, total_test


def valleys(decks: ArrayLike) -> NDArray[Any]:
    """How many valleys each deck has; the first and last card are none."""
    return np.concatenate([_turns(columns[1:] < columns[:-1]) for columns in in_columns(decks_of(decks))])


def peaks(decks: ArrayLike) -> NDArray[Any]:
    """How many peaks each deck has; the first and last card are none."""
    return np.concatenate([_turns(columns[1:] > columns[:-1]) for columns in in_columns(decks_of(decks))])


def _turns(steps: Columns) -> NDArray[Any]:
    """Steps that are followed by one that isn't."""
    return np.add.reduce(steps[:-1] & ~steps[1:], axis=0, dtype=np.uint16)


@cache
def orders_by_valleys(cards: int) -> tuple[int, ...]:
    """How many orders of `cards` cards have 0, 1, 2, … valleys.

    The highest card is put into each gap of a smaller deck: beside a valley or at an end it makes none, elsewhere one.
    """
    orders = [1]
    for size in range(2, cards + 1):
        more = [*orders, 0]
        grown = [(2 * v + 2) * more[v] + ((size - 2 * v) * more[v - 1] if v else 0) for v in range(len(more))]
        orders = grown[: (size - 1) // 2 + 1]
    return tuple(orders)


@cache
def fair_valleys(cards: int) -> Chances:
    """Chances of 0, 1, 2, … valleys on a fair deck: mean (n − 2)/3, variance 2(n + 1)/45."""
    every = math.factorial(cards)
    chances = np.array([orders / every for orders in orders_by_valleys(cards)])
    chances.setflags(write=False)
    return chances


def valley_test(decks: ArrayLike) -> Result:
    """Whether the decks have as many valleys as fair ones. Exact for any number of decks, from one on."""
    found = decks_of(decks)
    return total_test("valleys", valleys(found), fair_valleys(found.shape[1]))


def peak_test(decks: ArrayLike) -> Result:
    """Whether the decks have as many peaks as fair ones. Exact for any number of decks, from one on."""
    found = decks_of(decks)
    return total_test("peaks", peaks(found), fair_valleys(found.shape[1]))


def valley_shape_test(decks: ArrayLike) -> Result:
    """Whether each number of valleys is as frequent as on fair decks."""
    found = decks_of(decks, least=30)
    return shape_test("spread of valleys", valleys(found), fair_valleys(found.shape[1]))

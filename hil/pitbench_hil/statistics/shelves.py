"""The shelf machine: cards are dealt from below onto m shelves, each on top or below those that lie there.

P. Diaconis, J. Fulman, S. Holmes, Analysis of Casino Shelf Shuffling Machines, arXiv 1107.2961. The chance of an order
depends on its number of valleys alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import SampleError, decks_of
from pitbench_hil.statistics.scores import Chances
from pitbench_hil.statistics.valleys import orders_by_valleys, valleys


@cache
def order_chances(shelves: int, cards: int) -> tuple[Fraction, ...]:
    """Chance of one order with 0, 1, 2, … valleys (theorem 3.1). Raises SampleError without a shelf."""
    if shelves < 1:
        raise SampleError("A shelf machine has one shelf or more.", "Choose their number.")
    below = 2 * (2 * shelves) ** cards
    return tuple(Fraction(4 ** (v + 1) * _ways(shelves, cards, v), below) for v in range((cards - 1) // 2 + 1))


def _ways(shelves: int, cards: int, valleys: int) -> int:
    return sum(
        math.comb(cards + shelves - a - 1, cards) * math.comb(cards - 1 - 2 * valleys, a - valleys)
        for a in range(valleys, shelves)
    )


@cache
def shelf_valleys(shelves: int, cards: int) -> Chances:
    """Chances of 0, 1, 2, … valleys in a deck from the machine."""
    each = zip(orders_by_valleys(cards), order_chances(shelves, cards), strict=True)
    chances = np.array([float(orders * chance) for orders, chance in each])
    chances.setflags(write=False)
    return chances


def total_variation(shelves: int, cards: int = 52) -> float:
    """Half the sum, over all orders, of how far the machine's chance is from the fair one."""
    fair = Fraction(1, math.factorial(cards))
    each = zip(orders_by_valleys(cards), order_chances(shelves, cards), strict=True)
    return float(sum(orders * abs(chance - fair) for orders, chance in each) / 2)


def log10_ratios(shelves: int, cards: int) -> NDArray[np.float64]:
    """How much likelier an order with 0, 1, 2, … valleys is from the machine than fair: log10, −inf for never."""
    every = math.factorial(cards)
    return np.array([_log10(chance * every) for chance in order_chances(shelves, cards)])


def _log10(ratio: Fraction) -> float:
    return math.log10(ratio.numerator) - math.log10(ratio.denominator) if ratio else -math.inf


def shelf_test(decks: ArrayLike, shelves: int) -> Result:
    """Whether the decks rather come from a machine with so many shelves.

    The value is log10 of the likelihood ratio, machine to fair. A fair shuffler reaches a ratio x one time in x at most
    (Markov's inequality): that is the p-value, exact on no deck and safe on all.
    """
    found = decks_of(decks)
    ratio = float(log10_ratios(shelves, found.shape[1])[valleys(found)].sum())
    return Result(f"likelihood of {shelves} shelves", ratio, 10.0 ** -max(0.0, ratio), len(found))

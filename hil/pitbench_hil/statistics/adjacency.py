"""Which card lies beside which: the difference of each card and the next, modulo the number of cards.

And the other way round, how far apart two cards lie that lay together before: riffles show there in an eighth of the
decks, shelf machines in neither sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.counts import LEAST_EXPECTED, chi_square_result
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import Columns, Decks, SampleError, decks_of, in_columns, places


def difference_counts(decks: ArrayLike) -> NDArray[Any]:
    """How often the next card is higher by 1, 2, … n − 1, modulo n. A fair deck has one of each on average."""
    return _all_counts(decks_of(decks), lambda columns: columns)


def separation_counts(decks: ArrayLike) -> NDArray[Any]:
    """How often the next higher card lies lower by 1, 2, … n − 1 positions, modulo n. One of each if fair."""
    return _all_counts(decks_of(decks), places)


def _all_counts(decks: Decks, turned: Callable[[Columns], Columns]) -> NDArray[Any]:
    counts = np.zeros(decks.shape[1], np.int64)
    for columns in in_columns(decks):
        counts += _counted(turned(columns))
    return counts[1:]


def _counted(columns: Columns) -> NDArray[Any]:
    cards = len(columns)
    signed = columns.astype(np.int16)
    # From 1 to 2n − 1; those above n are the same differences again.
    found = sum(np.bincount(step + cards, minlength=2 * cards) for step in np.diff(signed, axis=0))
    counts: NDArray[Any] = np.asarray(found).reshape(2, cards).sum(axis=0)
    return counts


def adjacency_test(decks: ArrayLike) -> Result:
    """Every difference as often as every other. Raises SampleError below five decks."""
    return _test("differences", difference_counts(decks))


def separation_test(decks: ArrayLike) -> Result:
    """Every separation as often as every other. Raises SampleError below five decks."""
    return _test("separations", separation_counts(decks))


def _test(name: str, counts: NDArray[Any]) -> Result:
    """Counts of differences against those of a fair deck, n − 2 degrees of freedom.

    The differences of one deck are not independent. Their covariance, from counting pairs, triples and quadruples of
    cards, is (n I − J − R)/(n − 1), where R turns d into n − d. On Σ(O − E)²/E that is 1 for counts that are alike for
    d and n − d, and (n + 1)/(n − 1) for those that are opposite: divided by it the null is a chi-square.
    """
    cards, number = counts.size + 1, float(counts.sum()) / counts.size
    if number < LEAST_EXPECTED:
        raise SampleError(f"{number:.0f} decks are too few for differences: it takes five.", "Take more.")
    return chi_square_result(name, _value(counts - number, cards) / number, cards - 2, round(number))


def adjacency_effect(chances: ArrayLike) -> float:
    """What a deck adds to the mean of either when it has [d − 1] differences d on average: see power.py."""
    found = np.asarray(chances, np.float64)
    return _value(found - 1, found.size + 1)


def _value(excess: NDArray[np.float64], cards: int) -> float:
    alike, opposite = (excess + excess[::-1]) / 2, (excess - excess[::-1]) / 2
    return float((alike**2).sum() + (cards - 1) / (cards + 1) * (opposite**2).sum())

"""Which card lies where: the matrix of cards and positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.counts import LEAST_EXPECTED, chi_square_result
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import Columns, SampleError, decks_of, in_columns


def position_counts(decks: ArrayLike) -> NDArray[Any]:
    """How often each card lay at each position, shape (positions, cards)."""
    found = decks_of(decks)
    cards = found.shape[1]
    counts = np.zeros((cards, cards), np.int64)
    for columns in in_columns(found):
        counts += _counted(columns, cards)
    return counts


def _counted(columns: Columns, cards: int) -> NDArray[Any]:
    return np.stack([np.bincount(column, minlength=cards) for column in columns])


def position_test(decks: ArrayLike) -> Result:
    """Every card as often at every position. Raises SampleError below five decks a card."""
    return position_matrix_test(position_counts(decks))


def position_matrix_test(counts: ArrayLike) -> Result:
    """The same from the matrix: (n − 1)/n Σ(O − E)²/E, a chi-square with (n − 1)² degrees of freedom.

    The factor is there because the cards of a deck are drawn without return: a row of the matrix tells of the others.
    """
    found = np.asarray(counts, np.float64)
    cards, decks = len(found), int(found[0].sum())
    expected = decks / cards
    if expected < LEAST_EXPECTED:
        least = int(LEAST_EXPECTED * cards)
        raise SampleError(f"{decks} decks are too few for the position matrix: it takes {least}.", "Take more.")
    value = (cards - 1) / cards * float(((found - expected) ** 2).sum()) / expected
    return chi_square_result("positions", value, (cards - 1) ** 2, decks)


def position_effect(chances: ArrayLike) -> float:
    """What a deck adds to the statistic's mean when card j lies at position i with chance [i, j]: see power.py."""
    found = np.asarray(chances, np.float64)
    cards = len(found)
    return (cards - 1) / cards * float(((found - 1 / cards) ** 2).sum()) * cards

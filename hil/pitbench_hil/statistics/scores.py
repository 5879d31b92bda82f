"""Scores whose distribution on a fair deck is known exactly: whether the scores of many decks go with it.

A distribution is a row of chances of the scores 0, 1, 2, …
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitbench_hil.statistics.counts import chi_square, merged
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import SampleError

Chances = NDArray[np.float64]

# Totals up to here are summed term by term, so that the smallest tail keeps its digits.
_TERM_BY_TERM = 4096
# A total this many standard deviations from its mean is not seen: beyond them lies less than 1e-80.
_WIDTH = 20.0
# What rounding leaves of a tail that was summed by Fourier transform.
_ROUNDING = 1e-12


def mean(chances: Chances) -> float:
    """Of one score."""
    return float(np.dot(np.arange(chances.size), chances))


def variance(chances: Chances) -> float:
    """Of one score."""
    return float(np.dot((np.arange(chances.size) - mean(chances)) ** 2, chances))


def total_test(name: str, scores: NDArray[Any], fair: Chances) -> Result:
    """Whether the total of the scores is one of fair decks, on either side. The value is the mean score."""
    total = int(scores.sum(dtype=np.int64))
    return Result(name, total / scores.size, two_sided(*tails(fair, scores.size, total)), scores.size)


def shape_test(name: str, scores: NDArray[Any], fair: Chances) -> Result:
    """Whether each score is as frequent as among fair decks; neighbours that are rare are merged."""
    found = np.bincount(scores, minlength=fair.size)
    if found.size > fair.size:
        raise SampleError("A score is higher than any deck can have.", "Give the decks that were scored.")
    groups, expected = merged(found, fair * scores.size)
    return chi_square(groups, expected, name)


def two_sided(lower: float, upper: float) -> float:
    """The p-value of a value whose tails, itself in both, are these."""
    return min(1.0, 2 * min(lower, upper))


def tails(chances: Chances, decks: int, total: int) -> tuple[float, float]:
    """Chance that the scores of so many decks total `total` or less, and `total` or more."""
    start, spread = total_chances(chances, decks)
    at = total - start
    below, here = spread[: max(at, 0)].sum(), spread[at : at + 1].sum() if at >= 0 else 0.0
    above = spread[max(at + 1, 0) :].sum()
    least = 0.0 if spread.size == decks * (chances.size - 1) + 1 and _short(chances, decks) else _ROUNDING
    return max(least, min(1.0, float(below + here))), max(least, min(1.0, float(above + here)))


def total_chances(chances: Chances, decks: int) -> tuple[int, Chances]:
    """The least total that is looked at, and the chances of the totals from there on."""
    if _short(chances, decks):
        return 0, _power(chances, decks)
    span = decks * (chances.size - 1) + 1
    wide = math.ceil(2 * _WIDTH * math.sqrt(decks * variance(chances))) + 2 * chances.size
    size = 1 << (min(span, wide) - 1).bit_length()
    # The transform gives each total by its remainder modulo `size`: the window is unrolled around the mean.
    rolled = np.fft.irfft(np.fft.rfft(chances, size) ** decks, size)
    start = max(0, round(decks * mean(chances)) - size // 2)
    return start, np.clip(np.roll(rolled, -(start % size)), 0.0, None)


def _short(chances: Chances, decks: int) -> bool:
    return decks * chances.size <= _TERM_BY_TERM


def _power(chances: Chances, decks: int) -> Chances:
    """The chances convolved with themselves, by squaring."""
    result, base = np.ones(1), chances
    while decks:
        if decks & 1:
            result = np.convolve(result, base)
        decks >>= 1
        base = np.convolve(base, base) if decks else base
    return result

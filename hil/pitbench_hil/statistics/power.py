"""How many samples find which fault, and how surely.

An effect is what one sample adds to the mean of a statistic: N samples of a fault of effect e move a chi-square by N·e.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, chndtr, chndtrinc, ndtri

from pitbench_hil.statistics.scores import Chances, total_chances

POWER = 0.99


def chi_square_power(samples: int, effect: float, df: int, alpha: float) -> float:
    """Chance that a chi-square finds a fault of that effect."""
    return 1 - float(chndtr(chdtri(df, alpha), df, samples * effect))


def chi_square_samples(effect: float, df: int, alpha: float, power: float = POWER) -> int:
    """Samples that a chi-square takes to find a fault of that effect."""
    return math.ceil(_shift(df, alpha, power) / effect)


def smallest_effect(samples: int, df: int, alpha: float, power: float = POWER) -> float:
    """The smallest effect that a chi-square finds with so many samples."""
    return _shift(df, alpha, power) / samples


def _shift(df: int, alpha: float, power: float) -> float:
    """How far the mean of the chi-square must move."""
    return float(chndtrinc(chdtri(df, alpha), df, 1 - power))


def counts_effect(chances: ArrayLike, fair: ArrayLike | None = None) -> float:
    """The effect of outcomes with these chances on a chi-square of counts; fair ones are all alike unless given."""
    found = np.asarray(chances, np.float64)
    wanted = np.full_like(found, 1 / found.size) if fair is None else np.asarray(fair, np.float64)
    return float(((found - wanted) ** 2 / wanted).sum())


def smallest_bias(bits: int, alpha: float, power: float = POWER) -> float:
    """The smallest distance of the chance of a one from 1/2 that the monobit test finds in so many bits."""
    return smallest_shift(0.5, bits, alpha, power)


def smallest_shift(deviation: float, samples: int, alpha: float, power: float = POWER) -> float:
    """The smallest shift of a mean, on either side, that is found in samples of that standard deviation."""
    return float(ndtri(power) - ndtri(alpha / 2)) * deviation / math.sqrt(samples)


def score_power(fair: Chances, faulty: Chances, decks: int, alpha: float) -> float:
    """Chance that the total of a score, judged on both sides as in scores.py, tells faulty decks from fair ones."""
    low, high = _acceptable(fair, decks, alpha)
    start, spread = total_chances(faulty, decks)
    totals = start + np.arange(spread.size)
    return float(spread[(totals < low) | (totals > high)].sum())


def _acceptable(fair: Chances, decks: int, alpha: float) -> tuple[int, int]:
    """The least and the greatest total that isn't too far off."""
    start, spread = total_chances(fair, decks)
    low = int(np.argmax(np.cumsum(spread) >= alpha / 2))
    high = spread.size - 1 - int(np.argmax(np.cumsum(spread[::-1]) >= alpha / 2))
    return start + low, start + high


def score_decks(fair: Chances, faulty: Chances, alpha: float, power: float = POWER) -> int:
    """Decks that it takes. Found by doubling and halving: power grows with decks but for steps of whole totals."""
    return _least(lambda decks: score_power(fair, faulty, decks, alpha) >= power)


def _least(enough: Callable[[int], bool]) -> int:
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high

"""The sum of chances 1, 1/2, … 1/n, each met or not: how a fair deck's cycles and the guesses at it are spread."""

from __future__ import annotations

from functools import cache

import numpy as np

from pitbench_hil.statistics.scores import Chances


@cache
def harmonic_chances(cards: int) -> Chances:
    """Chances of 0 … n met: Stirling numbers of the first kind over n!. Mean H_n, variance H_n − Σ 1/k²."""
    chances = np.ones(1)
    for among in range(1, cards + 1):
        chances = np.convolve(chances, [1 - 1 / among, 1 / among])
    chances.setflags(write=False)
    return chances

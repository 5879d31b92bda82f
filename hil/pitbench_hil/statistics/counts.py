"""Counts against what is expected of them, and two things against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, chdtrc

from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import SampleError

# Below some five expected, the chi-square is no longer a good approximation (Cochran 1954).
LEAST_EXPECTED = 5.0


def chi_square(counts: ArrayLike, expected: ArrayLike | None = None, name: str = "chi-square") -> Result:
    """Counts of outcomes against what is expected of them.

    Args:
        counts: of each outcome.
        expected: shares or counts of any total; all alike unless given.

    Raises SampleError for fewer than two outcomes, an outcome that is never expected, or no sample at all.
    """
    found = np.asarray(counts, np.float64)
    wanted = np.ones_like(found) if expected is None else np.asarray(expected, np.float64)
    if found.shape != wanted.shape or found.size < 2 or found.sum() <= 0 or wanted.min() <= 0:
        raise SampleError(
            "A chi-square needs two or more outcomes, each of them expected, and a sample.", "Drop or merge outcomes."
        )
    wanted = wanted * (found.sum() / wanted.sum())
    return chi_square_result(name, float(((found - wanted) ** 2 / wanted).sum()), found.size - 1, int(found.sum()))


def independence(table: ArrayLike, name: str = "independence") -> Result:
    """Whether rows tell anything of columns. Raises SampleError where a row or column was never seen."""
    found = np.asarray(table, np.float64)
    if found.ndim != 2 or min(found.shape) < 2:
        raise SampleError("Independence needs a table of two rows and columns or more.", "Count pairs of outcomes.")
    rows, columns, total = found.sum(1, keepdims=True), found.sum(0, keepdims=True), float(found.sum())
    if min(rows.min(), columns.min()) <= 0:
        raise SampleError("An outcome of the table was never seen.", "Take more, or drop its row or column.")
    wanted = rows * columns / total
    df = (found.shape[0] - 1) * (found.shape[1] - 1)
    return chi_square_result(name, float(((found - wanted) ** 2 / wanted).sum()), df, int(total))


def chi_square_result(name: str, value: float, df: int, samples: int) -> Result:
    """The result of a statistic that is a chi-square with `df` degrees of freedom if all is fair."""
    return Result(name, value, float(chdtrc(df, value)), samples, df)


def share(name: str, hits: int, trials: int, chance: float) -> Result:
    """Hits among independent trials, each a hit with that chance, on either side. Exact; the value is the hits."""
    lower, upper = float(bdtr(hits, trials, chance)), float(bdtrc(hits - 1, trials, chance)) if hits else 1.0
    return Result(name, float(hits), min(1.0, 2 * min(lower, upper)), trials)


def merged(counts: ArrayLike, expected: ArrayLike) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Both with neighbours merged until each outcome is expected LEAST_EXPECTED times or more.

    Args:
        expected: in counts, of the same total as `counts`.
    """
    found, wanted = np.asarray(counts), np.asarray(expected, np.float64)
    starts: list[int] = []
    room = 0.0
    for at, share in enumerate(wanted):
        starts += [at] if not starts or room >= LEAST_EXPECTED else []
        room = share if starts[-1] == at else room + share
    if len(starts) > 1 and room < LEAST_EXPECTED:
        starts.pop()
    return np.add.reduceat(found, starts), np.add.reduceat(wanted, starts)

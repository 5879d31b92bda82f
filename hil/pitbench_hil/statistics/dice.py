"""Throws of dice: faces, sums, die against die, throw against the next, and faces that stay.

Throws are an array of shape (throws, dice), faces from 1 on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.counts import chi_square, independence, share
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import SampleError

SIDES = 6


def faces(throws: ArrayLike, die: int = 0, sides: int = SIDES) -> Result:
    """Each face of one die as often as every other."""
    return chi_square(np.bincount(_column(throws, die, sides), minlength=sides), name=f"faces of die {die + 1}")


def sums(throws: ArrayLike, sides: int = SIDES) -> Result:
    """Sums of all dice against those of fair dice."""
    rows = throws_of(throws, sides)
    chances = sum_chances(rows.shape[1], sides)
    return chi_square(np.bincount((rows - 1).sum(axis=1), minlength=chances.size), chances, "sums")


def sum_chances(dice: int, sides: int = SIDES) -> NDArray[np.float64]:
    """Chances of the sums of fair dice, from the least sum, `dice`, on."""
    chances = np.ones(1)
    for _ in range(dice):
        chances = np.convolve(chances, np.full(sides, 1 / sides))
    return chances


def die_against_die(throws: ArrayLike, one: int = 0, other: int = 1, sides: int = SIDES) -> Result:
    """Whether one die tells anything of another in the same throw."""
    return independence(
        _pairs(_column(throws, one, sides), _column(throws, other, sides), sides),
        f"die {one + 1} against die {other + 1}",
    )


def throw_against_next(throws: ArrayLike, die: int = 0, sides: int = SIDES) -> Result:
    """Whether a throw of one die tells anything of its next."""
    column = _column(throws, die, sides)
    return independence(_pairs(column[:-1], column[1:], sides), f"die {die + 1} against its next throw")


def equal_faces(throws: ArrayLike, die: int = 0, sides: int = SIDES) -> Result:
    """Throws with the face of the throw before: exactly one in `sides` if the die is fair. A die that isn't turned."""
    column = _column(throws, die, sides)
    if column.size < 2:
        raise SampleError("One throw has no next.", "Take more.")
    equal = int(np.count_nonzero(column[1:] == column[:-1]))
    return share(f"equal consecutive faces of die {die + 1}", equal, column.size - 1, 1 / sides)


def throws_of(throws: ArrayLike, sides: int = SIDES) -> NDArray[Any]:
    """The sample as throws. Raises SampleError for a shape other than (throws, dice), or a face that isn't there."""
    rows = np.asarray(throws)
    if rows.ndim != 2 or not rows.size or rows.dtype.kind not in "ui" or rows.min() < 1 or rows.max() > sides:
        raise SampleError(f"Throws are rows of faces from 1 to {sides}.", "Give an array of shape (throws, dice).")
    return rows.astype(np.int64, copy=False)


def _column(throws: ArrayLike, die: int, sides: int) -> NDArray[Any]:
    column: NDArray[Any] = throws_of(throws, sides)[:, die] - 1
    return column


def _pairs(one: NDArray[Any], other: NDArray[Any], sides: int) -> NDArray[Any]:
    return np.bincount(one * sides + other, minlength=sides * sides).reshape(sides, sides)

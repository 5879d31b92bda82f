"""Outcomes that come back, and what that says of the seed space behind them (the birthday bound)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import SampleError


def repeat_chance(draws: int, log2_space: float) -> float:
    """Chance that among `draws` outcomes of 2^`log2_space` two are the same. Exact to the order of draws³/space²."""
    if log2_space < 60 and draws > 2**log2_space:
        return 1.0
    pairs = draws * (draws - 1) / 2
    third = pairs * (2 * draws - 1) / 6
    return -math.expm1(-pairs * 2.0**-log2_space - third * 2.0 ** (-2 * log2_space))


def even_chance_draws(log2_space: float) -> int:
    """Draws among which the chance of a repeat first reaches one half."""
    least = 2
    while repeat_chance(least, log2_space) < 0.5:
        least *= 2
    low, high = least // 2, least
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if repeat_chance(middle, log2_space) >= 0.5 else (middle, high)
    return high


def seed_bits_found(boots: int, power: float = 0.99) -> float:
    """The largest seed space, in bits, in which so many cold boots show a repeat with that chance.

    Without a repeat, all that is shown is that the space is not smaller: a fixed seed passes any test of the stream.
    Raises SampleError for fewer than two boots.
    """
    if boots < 2:
        raise SampleError("One boot can't repeat another.", "Boot twice or more.")
    return math.log2(boots * (boots - 1) / (-2 * math.log1p(-power)))


def seed_bits_estimated(draws: int, repeats: int) -> float:
    """The seed space, in bits, in which so many draws repeat as often as was seen. Raises SampleError without any."""
    if repeats < 1:
        raise SampleError("Without a repeat there is only a bound.", "See seed_bits_found.")
    return math.log2(draws * (draws - 1) / (2 * repeats))


def repeats(rows: ArrayLike) -> int:
    """How many rows have been there before: decks, digests of decks, or first outputs, in one byte or more a column."""
    found = np.atleast_2d(np.asarray(rows))
    table = np.ascontiguousarray(found).view(np.uint8).reshape(len(found), -1)
    order = np.argsort(_digests(table), kind="stable")
    return _distinct_lost(table, order, _digests(table)[order])


def _digests(table: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """A number of 64 bits a row, the same for the same row. Columns are mixed by fixed odd factors, modulo 2^64."""
    digests = np.zeros(len(table), np.uint64)
    for column in table.T:
        digests = (digests ^ column) * np.uint64(0x9E3779B97F4A7C15)
        digests ^= digests >> np.uint64(29)
    return digests


def _distinct_lost(table: NDArray[np.uint8], order: NDArray[np.intp], digests: NDArray[np.uint64]) -> int:
    """Rows less distinct rows. Only rows with the digest of a neighbour are compared byte by byte."""
    same = digests[1:] == digests[:-1]
    doubtful = np.zeros(len(order), bool)
    doubtful[1:] |= same
    doubtful[:-1] |= same
    rows = table[order[doubtful]]
    return len(rows) - len({row.tobytes() for row in rows})


def repeat_test(rows: ArrayLike, log2_space: float) -> Result:
    """Whether outcomes come back that shouldn't, in a space of 2^`log2_space`: 225.6 bits for a deck (orders.py)."""
    number, draws = repeats(rows), len(np.atleast_2d(np.asarray(rows)))
    p = repeat_chance(draws, log2_space) if number else 1.0
    return Result("repeats", float(number), p, draws)

"""xorshift32: its output is its state. G. Marsaglia, Xorshift RNGs, 2003."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pitbench_hil.statistics.samples import words_of

_MASK = 0xFFFFFFFF
Shifts = tuple[int, int, int]
"""Bits of the three shifts, to the left above zero, to the right below."""


def predict(words: ArrayLike, count: int) -> list[int] | None:
    """The `count` words after `words`; None unless one set of shifts leads from each of two or more to the next."""
    row = words_of(words)
    if len(row) < 2 or not any(row):
        return None
    for shifts in _candidates(row[0], row[1]):
        if all(step(before, shifts) == after for before, after in zip(row[1:], row[2:], strict=False)):
            return _following(row[-1], shifts, count)
    return None


def step(state: int, shifts: Shifts) -> int:
    """The word after a word."""
    for bits in shifts:
        state ^= (state << bits) & _MASK if bits > 0 else state >> -bits
    return state


def _following(state: int, shifts: Shifts, count: int) -> list[int]:
    words = []
    for _ in range(count):
        state = step(state, shifts)
        words.append(state)
    return words


def _candidates(before: int, after: int) -> list[Shifts]:
    """Every three shifts (left, right, left or right, left, right) that lead from one word to the other."""
    a, b, c = (part.ravel() for part in np.meshgrid(*[np.arange(1, 32, dtype=np.uint32)] * 3, indexing="ij"))
    found: list[Shifts] = []
    for sign in (1, -1):
        state = np.full(a.size, before, np.uint32)
        for bits, way in ((a, sign), (b, -sign), (c, sign)):
            state ^= state << bits if way > 0 else state >> bits
        hits = np.flatnonzero(state == np.uint32(after))
        found += [(sign * int(a[at]), -sign * int(b[at]), sign * int(c[at])) for at in hits]
    # The usual one first: two words may be met by others too.
    return sorted(found, key=lambda shifts: shifts != (13, -17, 5))

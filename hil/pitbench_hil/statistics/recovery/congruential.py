"""The linear congruential generator modulo 2^32 that gives out its whole state: x' = a·x + c."""

from __future__ import annotations

from collections.abc import Iterator

from numpy.typing import ArrayLike

from pitbench_hil.statistics.samples import words_of

_MODULUS = 1 << 32
# (a, c) in common use: two words are enough to know them by.
KNOWN = {
    "Numerical Recipes": (1664525, 1013904223),
    "ANSI C, glibc's short one": (1103515245, 12345),
    "Microsoft": (214013, 2531011),
    "Borland": (22695477, 1),
    "VAX": (69069, 1),
    "Lehmer's for 2^32": (1812433253, 1),
}


def predict(words: ArrayLike, count: int) -> list[int] | None:
    """The `count` words after `words`; None unless one a and c lead from each word to the next.

    Two words do for the generators in KNOWN, four for any other (three give its a and c, one more proves them).
    """
    row = words_of(words)
    for a, c in _candidates(row):
        if all((a * before + c) % _MODULUS == after for before, after in zip(row, row[1:], strict=False)):
            return _following(row[-1], a, c, count)
    return None


def _candidates(row: list[int]) -> Iterator[tuple[int, int]]:
    if len(row) >= 2:
        yield from KNOWN.values()
    if len(row) >= 4:
        yield from _solved(row)


def _solved(row: list[int]) -> Iterator[tuple[int, int]]:
    """a and c from two differences, the first of them odd: only an odd one can be divided by."""
    for first, second, third in zip(row, row[1:], row[2:], strict=False):
        if (second - first) % 2:
            a = (third - second) * pow(second - first, -1, _MODULUS) % _MODULUS
            yield a, (second - a * first) % _MODULUS
            return


def _following(state: int, a: int, c: int, count: int) -> list[int]:
    words = []
    for _ in range(count):
        state = (a * state + c) % _MODULUS
        words.append(state)
    return words

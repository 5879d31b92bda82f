"""MT19937: 624 outputs are its state, but for a tempering that can be taken back. M. Matsumoto, T. Nishimura, 1998."""

from __future__ import annotations

import random
from collections.abc import Callable

from numpy.typing import ArrayLike

from pitbench_hil.statistics.samples import words_of

WORDS = 624


def predict(words: ArrayLike, count: int) -> list[int] | None:
    """The `count` words after `words`; None for fewer than 624, or when later ones among them aren't met."""
    row = words_of(words)
    if len(row) < WORDS:
        return None
    # The standard library's generator is this one: it is set to the state, and read.
    twister = random.Random()
    twister.setstate((3, (*map(untempered, row[:WORDS]), WORDS), None))
    met = all(twister.getrandbits(32) == word for word in row[WORDS:])
    return [twister.getrandbits(32) for _ in range(count)] if met else None


def untempered(word: int) -> int:
    """The word of the state that an output comes from."""
    word ^= word >> 18
    word ^= (word << 15) & 0xEFC60000
    word = _solved(word, lambda x: (x << 7) & 0x9D2C5680)
    return _solved(word, lambda x: x >> 11)


def _solved(word: int, shifted: Callable[[int], int]) -> int:
    """The x with x ^ shifted(x) = word: each round makes `shift` more of its bits right."""
    x = word
    for _ in range(5):
        x = word ^ shifted(x)
    return x

"""Yasmarang, the generator of MicroPython's `random`, by Ilya Levin (extmod/modrandom.c).

The seed is its `pad` alone, 32 bits; n, d and dat begin at 69, 233 and 0, at power-on and at each `seed()`. The first
output is a linear function over GF(2) of the pad behind it: so it gives the seed away by solving 32 equations. Outputs
from the middle of the stream are found only if the seed is the one of power-on and they are within its first outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice

from numpy.typing import ArrayLike

from pitbench_hil.statistics.samples import words_of

POWER_ON = 0xEDA4BABA
_MASK = 0xFFFFFFFF
_N, _D = 69, 233
# Outputs from power-on among which the words are looked for.
REACH = 100_000


def predict(words: ArrayLike, count: int) -> list[int] | None:
    """The `count` words after `words`; None unless they begin at a seed, or within REACH words of power-on."""
    row = words_of(words)
    if len(row) < 2:
        return None
    for seed in seeds_of(row[0]):
        stream = outputs(seed)
        if all(next(stream) == word for word in row):
            return list(islice(stream, count))
    return _after_power_on(row, count)


def outputs(seed: int) -> Iterator[int]:
    """The words after `random.seed(seed)`, as `random.getrandbits(32)` gives them."""
    pad, n, d, dat = seed & _MASK, _N, _D, 0
    while True:
        pad = _turned_left((pad + dat + d * n) & _MASK, 3)
        n = pad | 2
        d ^= _turned_left(pad, 31)
        dat = (dat ^ pad ^ d >> 8 ^ 1) & 0xFF
        yield _output(pad, d, dat)


def seeds_of(word: int) -> list[int]:
    """Every seed whose first output is `word`."""
    basis, kernel = _equations()
    pad, rest = 0, word ^ _first_output(0)
    for pivot, (image, source) in basis.items():
        if rest >> pivot & 1:
            rest, pad = rest ^ image, pad ^ source
    if rest:
        return []
    pads = [pad]
    for source in kernel:
        pads += [pad ^ source for pad in pads]
    return [(_turned_left(pad, 29) - _N * _D) & _MASK for pad in pads]


@cache
def _equations() -> tuple[dict[int, tuple[int, int]], list[int]]:
    """The pad's bits by what each does to the first output: by highest bit, reduced; and what does nothing."""
    basis: dict[int, tuple[int, int]] = {}
    kernel = []
    for bit in range(32):
        image, source = _first_output(1 << bit) ^ _first_output(0), 1 << bit
        while image and image.bit_length() - 1 in basis:
            other, made_of = basis[image.bit_length() - 1]
            image, source = image ^ other, source ^ made_of
        if image:
            basis[image.bit_length() - 1] = (image, source)
        else:
            kernel.append(source)
    return dict(sorted(basis.items(), reverse=True)), kernel


def _first_output(pad: int) -> int:
    """The first output by the pad that stands behind it. Only shifts and exclusive ors: linear."""
    d = _D ^ _turned_left(pad, 31)
    return _output(pad, d, (pad ^ d >> 8 ^ 1) & 0xFF)


def _output(pad: int, d: int, dat: int) -> int:
    return (pad ^ d << 5 ^ pad >> 18 ^ dat << 1) & _MASK


def _turned_left(word: int, bits: int) -> int:
    return (word << bits | word >> (32 - bits)) & _MASK


def _after_power_on(row: list[int], count: int) -> list[int] | None:
    stream = list(islice(outputs(POWER_ON), REACH + len(row) + count))
    for at in range(REACH):
        if stream[at] == row[0] and stream[at : at + len(row)] == row:
            return stream[at + len(row) : at + len(row) + count]
    return None

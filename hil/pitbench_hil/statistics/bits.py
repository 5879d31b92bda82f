"""Bit tests of NIST SP 800-22 rev. 1a. Each takes one row of zeros and ones and returns its p-value or p-values.

Defined is not the same as recommended: the examples of the publication have ten bits, it recommends a hundred or more.
A generator with a fixed seed passes all of them: they say nothing of seeding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import erfc, gammaincc, ndtr

from pitbench_hil.statistics.samples import SampleError, bits_of

# Section 3.4: block length → least bits (2.4.2), the run that the first class ends with, chances of the classes.
LONGEST_RUN = {
    8: (128, 1, (0.21484375, 0.3671875, 0.23046875, 0.1875)),
    128: (6272, 4, (0.1174035788, 0.242955959, 0.249363483, 0.17517706, 0.102701071, 0.112398847)),
    10000: (750000, 10, (0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727)),
}


def monobit(bits: ArrayLike) -> float:
    """As many ones as zeros (2.1)."""
    row = bits_of(bits)
    return float(erfc(abs(2 * _ones(row) - row.size) / math.sqrt(2 * row.size)))


def block_frequency(bits: ArrayLike, block: int) -> float:
    """As many ones as zeros in each block of `block` bits (2.2); what doesn't fill a block is left out."""
    row = bits_of(bits, _positive(block, "block"))
    blocks = row.size // block
    # The narrowest sum that holds a block: half the time of the widest.
    ones = row[: blocks * block].reshape(blocks, block).sum(axis=1, dtype=np.uint16 if block < 1 << 16 else np.int64)
    chi = 4 * block * float(((ones / block - 0.5) ** 2).sum())
    return float(gammaincc(blocks / 2, chi / 2))


def runs(bits: ArrayLike) -> float:
    """As many changes between zero and one as there should be (2.3). Zero where the ones alone are too many or few.

    Of up to 15 bits all may be alike, and nothing is to be said of their changes: one.
    """
    row = bits_of(bits, 2)
    share = _ones(row) / row.size
    if abs(share - 0.5) >= 2 / math.sqrt(row.size):
        return 0.0
    found = 1 + int(np.count_nonzero(row[1:] != row[:-1]))
    spread = share * (1 - share)
    if not spread:
        return 1.0
    return float(erfc(abs(found - 2 * row.size * spread) / (2 * math.sqrt(2 * row.size) * spread)))


def longest_run(bits: ArrayLike, block: int | None = None) -> float:
    """The longest run of ones in each block (2.4).

    Args:
        block: 8, 128 or 10,000 bits; the longest that the sample is long enough for, unless said.

    Raises SampleError for another length of block, and for fewer bits than the block needs: 128, 6,272 or 750,000.
    """
    row = bits_of(bits, LONGEST_RUN[8][0])
    block = block or max(length for length, (least, _, _) in LONGEST_RUN.items() if row.size >= least)
    if block not in LONGEST_RUN:
        raise SampleError(f"There is no table for blocks of {block} bits.", "Choose 8, 128 or 10000.")
    least, first, chances = LONGEST_RUN[block]
    longest = _longest_runs(bits_of(row, least), block)
    classes = np.clip(longest - first, 0, len(chances) - 1)
    found = np.bincount(classes, minlength=len(chances))
    expected = longest.size * np.asarray(chances)
    return float(gammaincc((len(chances) - 1) / 2, float(((found - expected) ** 2 / expected).sum()) / 2))


def _longest_runs(row: NDArray[np.uint8], block: int) -> NDArray[np.int64]:
    """Of each block. A zero behind each block ends its last run; between two zeros lies a run, maybe of length 0."""
    blocks = row.size // block
    padded = np.zeros((blocks, block + 1), bool)
    padded[:, :block] = row[: blocks * block].reshape(blocks, block)
    zeros = np.flatnonzero(~padded)
    lengths = np.diff(zeros, prepend=-1) - 1
    first_of_block = np.searchsorted(zeros, np.arange(blocks) * (block + 1))
    return np.maximum.reduceat(lengths, first_of_block)


def serial(bits: ArrayLike, length: int) -> tuple[float, float]:
    """Every pattern of `length` bits as often as every other, the row closed to a ring (2.11). Two p-values.

    Raises SampleError for patterns shorter than 2 bits or longer than the row.
    """
    if length < 2:
        raise SampleError("Patterns of the serial test have two bits or more.", "Choose a greater length.")
    counts = _pattern_counts(bits_of(bits, length), length)
    size = int(counts.sum())
    psi = [_psi_square(_shorter(counts, by), size) for by in range(3)]
    first, second = psi[0] - psi[1], psi[0] - 2 * psi[1] + psi[2]
    return float(gammaincc(2.0 ** (length - 2), first / 2)), float(gammaincc(2.0 ** (length - 3), second / 2))


def approximate_entropy(bits: ArrayLike, length: int) -> float:
    """How much a bit is given away by the `length` bits before it, the row closed to a ring (2.12)."""
    row = bits_of(bits, _positive(length, "pattern") + 1)
    longer = _pattern_counts(row, length + 1)
    entropy = _phi(_shorter(longer, 1), row.size) - _phi(longer, row.size)
    return float(gammaincc(2.0 ** (length - 1), row.size * (math.log(2) - entropy)))


def cumulative_sums(bits: ArrayLike) -> tuple[float, float]:
    """How far a walk goes that a one leads up and a zero down (2.13): p-values forward and backward."""
    row = bits_of(bits)
    highest, lowest, end = _walk(row)
    forward = max(highest, -lowest, abs(end))
    backward = max(end - lowest, highest - end, abs(end))
    return _walk_chance(forward, row.size), _walk_chance(backward, row.size)


def _ones(row: NDArray[np.uint8]) -> int:
    return int(np.count_nonzero(row))


def _positive(length: int, what: str) -> int:
    if length < 1:
        raise SampleError(f"A {what} has one bit or more.", "Choose a greater length.")
    return length


def _pattern_counts(row: NDArray[np.uint8], length: int) -> NDArray[np.int64]:
    """How often each pattern of `length` bits stands in the ring, by its value."""
    ring = np.concatenate([row, row[: length - 1]]).astype(np.uint32)
    value, have = ring, 1
    while have < length:
        # Two patterns side by side make one of twice the length.
        step = min(have, length - have)
        value = (value[: value.size - step] << np.uint32(step)) | _low_bits(value[step:], step)
        have += step
    return np.bincount(value, minlength=1 << length)


def _low_bits(value: NDArray[np.uint32], number: int) -> NDArray[np.uint32]:
    return value & np.uint32((1 << number) - 1)


def _shorter(counts: NDArray[np.int64], by: int) -> NDArray[np.int64]:
    """Counts of the patterns that are `by` bits shorter: in a ring each stands as often as all that begin with it."""
    return counts.reshape(-1, 1 << by).sum(axis=1)


def _psi_square(counts: NDArray[np.int64], size: int) -> float:
    if counts.size == 1:
        return 0.0
    return counts.size / size * float(np.dot(counts, counts)) - size


def _phi(counts: NDArray[np.int64], size: int) -> float:
    shares = counts[counts > 0] / size
    return float(np.dot(shares, np.log(shares)))


def _walk(row: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Highest and lowest point of the walk, the start among them, and its end."""
    place = np.cumsum(2 * row.view(np.int8) - 1, dtype=np.int32)
    return max(0, int(place.max())), min(0, int(place.min())), int(place[-1])


def _walk_chance(far: int, size: int) -> float:
    """Chance that a fair walk of `size` steps goes as far as `far` (section 3.13)."""
    ratio, root = size // far, math.sqrt(size)
    last = int((ratio - 1) / 4)
    # The sums have no end; the publication's own code ends them here, towards zero, and its examples with it.
    first, also = np.arange(int((1 - ratio) / 4), last + 1), np.arange(int((-ratio - 3) / 4), last + 1)
    inside = ndtr((4 * first + 1) * far / root) - ndtr((4 * first - 1) * far / root)
    beyond = ndtr((4 * also + 3) * far / root) - ndtr((4 * also + 1) * far / root)
    return min(1.0, max(0.0, float(1 - inside.sum() + beyond.sum())))

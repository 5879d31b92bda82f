"""What is judged: bits, decks and words, in arrays; and what can't be judged, said in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pitbench.errors import PitbenchError

Decks = NDArray[Any]
"""Shape (decks, cards), whole numbers."""
Columns = NDArray[Any]
"""Shape (cards, decks): row 0 holds the top card of each deck."""

# Decks in one piece of work: a piece of decks of 52, and what is computed from it, stays in a processor's cache.
CHUNK = 1 << 13


class SampleError(PitbenchError):
    """A sample that a statistic isn't defined for."""


def bits_of(bits: ArrayLike, least: int = 1) -> NDArray[np.uint8]:
    """The sample as one row of zeros and ones. Raises SampleError for anything else, or fewer than `least` bits."""
    row = np.asarray(bits)
    if row.ndim != 1 or row.size and row.dtype.kind not in "bui":
        raise SampleError("Bits are one row of whole numbers.", "Unpack bytes with numpy.unpackbits.")
    if row.size < least:
        raise SampleError(f"{row.size} bits are too few: the test is defined from {least} on.", "Take more.")
    if row.dtype.kind == "i" and row.min() < 0 or row.max() > 1:
        raise SampleError("A bit is 0 or 1.", "Unpack bytes with numpy.unpackbits.")
    return row.astype(np.uint8, copy=False)


def decks_of(decks: ArrayLike, least: int = 1) -> Decks:
    """The sample as decks. Raises SampleError unless each row is an order of 0 … cards − 1, in `least` rows or more."""
    rows = np.asarray(decks)
    if rows.ndim != 2 or rows.dtype.kind not in "ui" or rows.shape[1] < 3:
        raise SampleError("Decks are rows of three or more whole numbers.", "Give an array of shape (decks, cards).")
    if len(rows) < least:
        raise SampleError(f"{len(rows)} decks are too few: the test is defined from {least} on.", "Take more.")
    if not all(_are_orders(columns) for columns in in_columns(rows)):
        raise SampleError("A deck has each card from 0 on once, and one of these hasn't.", "See samples.relative.")
    return rows


def _are_orders(columns: Columns) -> bool:
    cards = len(columns)
    if columns.min() < 0 or columns.max() >= cards:
        return False
    if cards > 64:
        return bool((np.sort(columns, axis=0) == np.arange(cards)[:, None]).all())
    seen = np.zeros(columns.shape[1], np.uint64)
    for card in columns:
        seen |= np.uint64(1) << card.astype(np.uint64)
    return bool((seen == np.uint64((1 << cards) - 1)).all())


def in_columns(decks: Decks) -> Iterator[Columns]:
    """The decks in pieces of CHUNK, each turned: work on one position of many decks is work on adjacent memory."""
    for start in range(0, len(decks), CHUNK):
        yield np.ascontiguousarray(decks[start : start + CHUNK].T)


def places(columns: Columns) -> Columns:
    """The inverse: row c holds the position of card c in each deck."""
    found, every = np.empty(columns.shape, np.int16), np.arange(columns.shape[1])
    for at, card in enumerate(columns):
        found[card, every] = at
    return found


def relative(before: ArrayLike, after: ArrayLike) -> Decks:
    """The orders `after` a shuffle in numbers that tell each card's position `before` it.

    Args:
        before: one order for all, or a row for each shuffle. Any whole numbers, each once in a row.
        after: the same cards, shape (decks, cards).

    Raises SampleError when the two don't hold the same cards.
    """
    rows = np.asarray(after)
    first = np.broadcast_to(np.asarray(before), rows.shape)
    by_card, by_card_after = np.argsort(first, axis=1), np.argsort(rows, axis=1)
    if (np.take_along_axis(first, by_card, 1) != np.take_along_axis(rows, by_card_after, 1)).any():
        raise SampleError("The cards after a shuffle are not the cards before it.", "Look for a misread card.")
    out = np.empty(rows.shape, np.uint8 if rows.shape[1] <= 256 else np.uint16)
    np.put_along_axis(out, by_card_after, by_card.astype(out.dtype), 1)
    return out


def words_of(words: ArrayLike) -> list[int]:
    """The sample as 32-bit words. Raises SampleError for a number beyond them."""
    row = [int(word) for word in np.asarray(words).ravel().tolist()]
    if any(word < 0 or word >> 32 for word in row):
        raise SampleError("A word is a number of 32 bits.", "Split what is longer.")
    return row

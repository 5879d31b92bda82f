"""Machines that shuffle, good and bad, many decks at once. Cards are numbered by position before the shuffle."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Decks = NDArray[Any]
Random = np.random.Generator


def in_order(decks: int, cards: int) -> Decks:
    return np.tile(np.arange(cards, dtype=np.uint8), (decks, 1))


def fair(random: Random, decks: int, cards: int = 52) -> Decks:
    return random.permuted(in_order(decks, cards), axis=1)


def naive_swap(random: Random, decks: int, cards: int = 52) -> Decks:
    """Each card is swapped with any other: n^n ways to n! orders."""
    out = in_order(decks, cards)
    for at in range(cards):
        swap(out, at, random.integers(cards, size=decks))
    return out


def sattolo(random: Random, decks: int, cards: int = 52) -> Decks:
    """Never swapped with itself: one cycle."""
    out = in_order(decks, cards)
    for at in range(cards - 1, 0, -1):
        swap(out, at, random.integers(at, size=decks))
    return out


def byte_modulo(random: Random, decks: int, cards: int = 52) -> Decks:
    """The right shuffle, with a byte modulo what is left."""
    out = in_order(decks, cards)
    for at in range(cards - 1, 0, -1):
        swap(out, at, random.integers(256, size=decks) % (at + 1))
    return out


def swap(out: Decks, at: int, other: NDArray[Any]) -> None:
    every = np.arange(len(out))
    out[every, other], out[:, at] = out[:, at].copy(), out[every, other]


def shelves(random: Random, decks: int, number: int, cards: int = 52) -> Decks:
    """Dealt from below, each card onto a shelf, on top of what lies there or below."""
    shelf, on_top = random.integers(number, size=(decks, cards)), random.integers(2, size=(decks, cards)) == 1
    turn = np.arange(cards)[::-1]
    place = shelf * (2 * cards) + np.where(on_top, cards - 1 - turn, cards + turn)
    return np.argsort(place, axis=1).astype(np.uint8)


def riffles(random: Random, decks: int, number: int, cards: int = 52) -> Decks:
    """Gilbert, Shannon and Reeds: each position draws a packet, packets keep their order; so often in one go."""
    packet = random.integers(2**number, size=(decks, cards))
    by_packet = np.argsort(packet, axis=1, kind="stable")
    return np.argsort(by_packet, axis=1).astype(np.uint8)


def where_cards_lie(swaps: list[tuple[int, Any]], cards: int = 52) -> NDArray[Any]:
    """Chance [position, card] after swaps, exactly. Rows: a position, and the chances of those it is swapped with."""
    matrix = np.eye(cards)
    for at, chances in swaps:
        share = np.asarray(chances)[:, None]
        mine = (share * matrix).sum(axis=0)
        matrix = (1 - share) * matrix + share * matrix[at]
        matrix[at] = mine
    return matrix

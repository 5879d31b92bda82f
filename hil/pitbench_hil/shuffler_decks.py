"""Decks of cards, right and wrong, and what a message or a receipt says of them, read back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from pitbench_hil.card_search import card_name
from pitbench_hil.shuffler import DECK, JOKER

# A message has room for so many faces.
SHORT = 6
DOTS = "..."


def deck(decks: int = 1, jokers: int = 0) -> bytes:
    """The right cards, new decks one behind the other."""
    return (DECK + bytes([JOKER] * jokers)) * decks


def named(text: str, word: str) -> Counter[str]:
    """Cards that a text lists behind "Missing" or "Extra", each as often as it says."""
    found = re.search(rf"{word}: ([^.]*)", text)
    cards: Counter[str] = Counter()
    last = ""
    for token in found[1].split() if found else ():
        if re.fullmatch(r"x\d+", token):
            cards[last] += int(token[1:]) - 1
        else:
            last = token
            cards[last] += 1
    return cards


def faults(cards: Iterable[int], right: bytes) -> tuple[Counter[str], Counter[str]]:
    """Names of the cards that are missing and of those that are too many."""
    there, due = Counter(map(card_name, cards)), Counter(map(card_name, right))
    return due - there, there - due


def without(cards: bytes, *faces: int) -> bytes:
    """The cards, one of each of these taken out."""
    rest = bytearray(cards)
    for face in faces:
        rest.remove(face)
    return bytes(rest)

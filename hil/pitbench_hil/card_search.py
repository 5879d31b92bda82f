"""Looks for cards where none may be told: a run of them by name, by number or in hex (N.J.A.C. 13:69E-1.28X(c))."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Shorter runs stand anywhere by chance: in digests, in times.
RUN = 5
_RANKS, _SUITS, _JOKER = "A23456789TJQK", "SHDC", "joker"
# Whole words only: a digest has digits, and what looks like a card, in its middle.
_NUMBERS = re.compile(r"(?<![0-9A-Za-z])[0-9]+(?![0-9A-Za-z])")
_NAMES = re.compile(r"(?<![0-9A-Za-z])(?:(?:10|[A2-9TJQK])[SHDC]|joker)+(?![0-9A-Za-z])", re.IGNORECASE)
_NAME = re.compile(r"(10|[A2-9TJQK])([SHDC])|joker", re.IGNORECASE)


def card_name(face: int) -> str:
    """A face as it is written: "7H", "joker"."""
    return _JOKER if face == len(_RANKS) * len(_SUITS) else _RANKS[face % 13] + _SUITS[face // 13]


def runs_told(text: str, order: bytes) -> int:
    """How many runs of RUN cards of an order stand in a text, in hex, as numbers or by name."""
    as_numbers, as_names, as_hex = _windows(_NUMBERS.findall(text)), _windows(_named(text)), text.lower()
    runs = [order[at : at + RUN] for at in range(len(order) - RUN + 1)]
    return sum(
        run.hex() in as_hex or tuple(map(str, run)) in as_numbers or tuple(map(card_name, run)) in as_names
        for run in runs
    )


def _named(text: str) -> list[str]:
    found = (match for word in _NAMES.findall(text) for match in _NAME.finditer(word))
    return [(match[1].replace("10", "T") + match[2]).upper() if match[1] else _JOKER for match in found]


def _windows(row: list[str]) -> set[tuple[str, ...]]:
    return {tuple(row[at : at + RUN]) for at in range(len(row) - RUN + 1)}


def orders_told(texts: Iterable[str], orders: Iterable[bytes]) -> int:
    """Runs of any of the orders in any of the texts."""
    orders = list(orders)
    return sum(runs_told(text, order) for text in texts for order in orders)

"""How many orders there are, and whether a generator has enough state for each: arithmetic that no sample replaces."""

from __future__ import annotations

import math


def log2_orders(decks: int = 1, cards: int = 52) -> float:
    """log2 of the distinct orders of so many decks shuffled together, equal cards taken for one another."""
    return (math.lgamma(decks * cards + 1) - cards * math.lgamma(decks + 1)) / math.log(2)


def every_order_fits(state_bits: float, decks: int = 1, cards: int = 52) -> bool:
    """Whether a generator with so many bits of state can make each order, without fresh entropy on the way."""
    return state_bits >= log2_orders(decks, cards)

"""13:69E-1.28X(a): prior patterns are eradicated, whatever the order that the cards went in."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from pitbench_hil.check import Check
from pitbench_hil.inquiry import Inquiry, Sample, named
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.shuffler_random import DECK_TESTS
from pitbench_hil.statistics.budget import Plan
from pitbench_hil.statistics.declared import declare
from pitbench_hil.statistics.samples import relative

DECKS = 16
# Declared in tens of .002: .0002 each, nine statistics of five orders.
ALPHA, FAMILY = 0.002, 45
TESTS = {name: test for name, test in DECK_TESTS.items() if name != "positions"}
# A rank and a half of a suit's thirteen; aces, tens and court cards are high.
MIXED_RANKS = (4, 11, 0, 7, 2, 9, 12, 5, 1, 10, 6, 3, 8)
HIGH = (0, 9, 10, 11, 12)


def _by(key: object) -> bytes:
    return bytes(sorted(DECK, key=key))  # type: ignore[call-overload]


ORDERS = {
    "new-deck": DECK,
    "suit-blocks": bytes(suit * 13 + rank for suit in (2, 0, 3, 1) for rank in MIXED_RANKS),
    "alternating": bytes(card for pair in zip(range(26), range(26, 52), strict=True) for card in pair),
    "high-cards-on-top": _by(lambda card: (card % 13 not in HIGH, MIXED_RANKS.index(card % 13), card)),
    "previous-output": None,
}


@cache
def plans() -> tuple[Plan, ...]:
    """Computed once a process."""
    return declare(DECKS, ALPHA)


def passes(bench: ShufflerBench, decks: int, cards: bytes | None) -> Sample:
    """So many whole passes: the cards that came out, each by the place that it went in at."""
    before, after = [], []
    last = cards or DECK
    for _ in range(decks):
        before.append(list(last))
        out = bench.game(last)
        after.append(list(out))
        last = cards or out
    return relative(np.array(before), np.array(after))


@pytest.mark.parametrize("name", [pytest.param(name, marks=rule(f"NJ-1.28X(a)/eradicates/{name}")) for name in ORDERS])
def test_whole_passes_from(bench: ShufflerBench, check: Check, name: str) -> None:
    check.stimulus("decks loaded, shuffled and dealt", order=name, decks=DECKS)
    declared = named(plans(), "", FAMILY, TESTS)
    inquiry = Inquiry(check, declared, TESTS, lambda decks: passes(bench, decks, ORDERS[name]), "decks")
    inquiry.run()
    inquiry.decide(f"NJ-1.28X(a)/eradicates/{name}")
    check.measure("decks", DECKS)

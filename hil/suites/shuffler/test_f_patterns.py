"""13:69E-1.28X(f): a random manner, without patterns. That what is drawn is dealt is shown by test_g_drawn.py."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from pitbench_hil.check import Check
from pitbench_hil.inquiry import Inquiry, Statistic, named
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_random import DECK_TESTS, decks_in_a_row
from pitbench_hil.statistics.budget import Plan
from pitbench_hil.statistics.declared import declare
from pitbench_hil.statistics.pictures import p_value_plot, position_map, valley_histogram
from pitbench_hil.statistics.positions import position_counts
from pitbench_hil.statistics.samples import relative
from pitbench_hil.statistics.valleys import valleys

DECKS, DECKS_OF_OTHERS = 6000, 600
# Declared in tens of .003: .0003 each, in a family of 10 statistics, as many of orders after orders, 12 of other games.
ALPHA, FAMILY = 0.003, 32
RULES = {
    "positions": ["positions"],
    "adjacency": ["differences", "separations"],
    "valleys": ["valleys", "peaks"],
    "guesses": ["right guesses, 10 shelves"],
    "rising-sequences": ["rising sequences"],
    "fixed-points": ["decks without fixed point"],
    "cycles": ["cycles"],
    "repeats": ["repeats"],
}
OTHERS = ("positions", "differences", "valleys", "decks without fixed point")
# Cards → the settings of their game.
GAMES: dict[int, dict[str, Any]] = {53: {"jokers": 1}, 54: {"jokers": 2}, 104: {"decks": 2}}
SERIAL = "order after order: "


@cache
def plans(decks: int, cards: int = 52) -> tuple[Plan, ...]:
    """Computed once a process: a tenth of a second."""
    return declare(decks, ALPHA, cards)


def of_decks(test: Statistic) -> Statistic:
    """Of all decks but the last, which is there for the step that leads to it."""
    return lambda decks: test(decks[:-1])


def of_steps(test: Statistic) -> Statistic:
    """Of what leads from each deck to the next."""
    return lambda decks: test(relative(decks[:-1], decks[1:]))


@rule(*(f"NJ-1.28X(f)/{name}" for name in (*RULES, "serial")))
def test_orders_drawn_in_a_row(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("orders drawn in a row", decks=DECKS + 1)
    declared = [*named(plans(DECKS), "", FAMILY, DECK_TESTS), *named(plans(DECKS), SERIAL, FAMILY, DECK_TESTS)]
    tests = {name: of_decks(test) for name, test in DECK_TESTS.items()}
    tests |= {SERIAL + name: of_steps(test) for name, test in DECK_TESTS.items()}
    inquiry = Inquiry(check, declared, tests, lambda size: decks_in_a_row(bench, check, size + 1), "decks")
    inquiry.run()
    for name, statistics in RULES.items():
        inquiry.decide(f"NJ-1.28X(f)/{name}", statistics)
    inquiry.decide("NJ-1.28X(f)/serial", [name for name in tests if name.startswith(SERIAL)])
    check.measure("orders", DECKS)
    decks = inquiry.first[:-1]
    check.picture("p-values", p_value_plot(inquiry.p_values, declared[0].alpha))
    check.picture("valleys", valley_histogram(valleys(decks)))
    check.picture("positions", position_map(position_counts(decks)))


@rule("NJ-1.28X(f)/other-games")
@needs("access")
@pytest.mark.parametrize("cards", GAMES)
def test_decks_of_another_size(bench: ShufflerBench, check: Check, cards: int) -> None:
    bench.commission("technician")
    check.stimulus("configured", cards=cards, **bench.configure(**GAMES[cards]))
    declared = named(plans(DECKS_OF_OTHERS, cards), "", FAMILY, OTHERS)
    tests = {name: DECK_TESTS[name] for name in OTHERS}
    inquiry = Inquiry(check, declared, tests, lambda size: decks_in_a_row(bench, check, size, cards), "decks")
    inquiry.run()
    inquiry.decide("NJ-1.28X(f)/other-games")
    check.measure("orders", DECKS_OF_OTHERS)

"""The family of all statistics of decks, declared: what so many decks find, computed from the same distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from pitbench_hil.statistics.budget import BudgetError, Family, Plan
from pitbench_hil.statistics.fixed_points import no_fixed_point_chance
from pitbench_hil.statistics.harmonic import harmonic_chances
from pitbench_hil.statistics.power import POWER, score_power, smallest_effect, smallest_shift
from pitbench_hil.statistics.repeats import seed_bits_found
from pitbench_hil.statistics.riffles import fair_rising, riffled_rising
from pitbench_hil.statistics.scores import variance
from pitbench_hil.statistics.shelves import shelf_valleys
from pitbench_hil.statistics.shuffles import TESTS
from pitbench_hil.statistics.valleys import fair_valleys

# Faults that are looked for, from the coarsest to the finest.
SHELVES = (2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
RIFFLES = tuple(range(1, 21))


def declare(decks: int, alpha: float, cards: int = 52) -> tuple[Plan, ...]:
    """A plan for each statistic of shuffles.TESTS.

    Args:
        decks: of one sample.
        alpha: false alarm of the whole family; see budget.FAMILIES.

    Raises BudgetError for fewer than two decks, or for an alpha that is none.
    """
    family = Family(alpha, len(TESTS))
    if decks < 2:
        raise BudgetError("Shuffles are judged by two decks or more.", "Mend the plan.")
    return family.check(family.plan(name, decks, POWER, FINDS[name](decks, family.each, cards)) for name in TESTS)


@cache
def _shelf_machine(decks: int, alpha: float, cards: int) -> str:
    return _finest(
        SHELVES,
        lambda shelves: score_power(fair_valleys(cards), shelf_valleys(shelves, cards), decks, alpha),
        "shelves",
    )


def _riffles(decks: int, alpha: float, cards: int) -> str:
    return _finest(
        RIFFLES, lambda number: score_power(fair_rising(cards), riffled_rising(number, cards), decks, alpha), "riffles"
    )


def _finest(faults: tuple[int, ...], power: Callable[[int], float], what: str) -> str:
    """The last fault that is found before the first that isn't."""
    found = 0
    for fault in faults:
        if power(fault) < POWER:
            break
        found = fault
    return f"{found} {what}" if found else f"less than {faults[0]} {what}"


def _harmonic(what: str) -> Callable[[int, float, int], str]:
    def words(decks: int, alpha: float, cards: int) -> str:
        shift = smallest_shift(math.sqrt(variance(harmonic_chances(cards))), decks, alpha)
        return f"{shift:.3g} {what} a deck more or less"

    return words


def _positions(decks: int, alpha: float, cards: int) -> str:
    return f"an effect of {smallest_effect(decks, (cards - 1) ** 2, alpha):.3g} a deck"


def _differences(decks: int, alpha: float, cards: int) -> str:
    return f"an effect of {smallest_effect(decks, cards - 2, alpha):.3g} a deck"


def _fixed_points(decks: int, alpha: float, cards: int) -> str:
    chance = no_fixed_point_chance(cards)
    return f"a share that is off by {smallest_shift(math.sqrt(chance * (1 - chance)), decks, alpha):.3g}"


def _seed_space(decks: int, alpha: float, cards: int) -> str:
    return f"a seed space of {seed_bits_found(decks):.1f} bits"


# Name of a statistic → the smallest fault that so many decks find, in words.
FINDS: dict[str, Callable[[int, float, int], str]] = {
    "valleys": _shelf_machine,
    "peaks": lambda *plan: f"{_shelf_machine(*plan)}, dealt from the other end",
    "right guesses, 10 shelves": _harmonic("right guesses"),
    "rising sequences": _riffles,
    "positions": _positions,
    "differences": _differences,
    "separations": _differences,
    "decks without fixed point": _fixed_points,
    "cycles": _harmonic("cycles"),
    "repeats": _seed_space,
}

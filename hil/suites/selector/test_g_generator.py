"""13:69E-1.28G(b)1, 3 and 6 on the selector: how what its generator gives becomes a number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from pitbench_hil.check import Check
from pitbench_hil.generator_checks import bits_turned, unequal
from pitbench_hil.inquiry import Sample, Statistic, inquire, p_of, steadily
from pitbench_hil.marks import rule
from pitbench_hil.selector import MOST, NUMBERS, SelectorBench
from pitbench_hil.statistics import bits, dice
from pitbench_hil.statistics.budget import Family
from pitbench_hil.statistics.power import smallest_effect, smallest_shift

# -- (b)1

# One of seven is missed in so many once in 10^13.
ENOUGH = 200


@rule("NJ-1.28G(b)1/room-for-seven")
def test_bits_of_a_round(fresh: SelectorBench, check: Check) -> None:
    turned, without = bits_turned(fresh, check)
    gathered = fresh.do("draw", games=1)["bits"] * (1 - without / turned)
    check.note("bits gathered for a round", bits=gathered)
    check.measure("bits_above_log2_outcomes", round(gathered - math.log2(MOST), 1))
    check.measure("bits_without_effect", without)
    check.stimulus("numbers drawn", numbers=ENOUGH)
    check.measure("numbers_never_drawn", len(set(NUMBERS) - set(fresh.draws(ENOUGH))))


# -- (b)3


SIZE = 20_000
# .0005 a test.
FAMILY = Family(0.002, 4)


def high_and_low(sample: Sample) -> float:
    """Runs of numbers above and below the middle one, which is left out."""
    row = sample[:, 0]
    return bits.runs((row[row != 4] > 4).astype(np.uint8))


def of_numbers(test: Callable[..., object]) -> Statistic:
    """A test of dice, for a die of seven."""
    return p_of(lambda sample: test(sample, sides=MOST))  # type: ignore[arg-type, return-value]


def _finds(df: int) -> str:
    return f"an effect of {smallest_effect(SIZE, df, FAMILY.each):.3g} a number"


def _shift(chance: float, size: int = SIZE) -> str:
    return f"a share that is off by {smallest_shift(math.sqrt(chance * (1 - chance)), size, FAMILY.each):.3g}"


# Part of the rule → statistic → (p-value, the smallest fault that is found, in words).
NUMBER_TESTS: dict[str, dict[str, tuple[Statistic, str]]] = {
    "chi-square-of-numbers": {"numbers": (of_numbers(dice.faces), _finds(6))},
    "pairs": {"number against the next": (of_numbers(dice.throw_against_next), _finds(36))},
    "runs-of-numbers": {
        "equal numbers in a row": (of_numbers(dice.equal_faces), _shift(1 / MOST)),
        "runs of high and low": (high_and_low, _shift(1 / 2, SIZE * 6 // 7)),
    },
}


@rule(*(f"NJ-1.28G(b)3/numbers/{part}" for part in NUMBER_TESTS))
def test_numbers_in_a_row(fresh: SelectorBench, check: Check) -> None:
    fresh.start()
    check.stimulus("numbers drawn in a row", numbers=SIZE)

    def take(size: int) -> Sample:
        return steadily(fresh, check, size, lambda piece: np.array(fresh.draws(piece))[:, np.newaxis])

    inquire(check, FAMILY, NUMBER_TESTS, take, SIZE, unit="numbers", rule="NJ-1.28G(b)3/numbers")
    check.measure("numbers", SIZE)


# -- (b)6


@rule("NJ-1.28G(b)6/seven-of-256")
def test_every_word(fresh: SelectorBench, check: Check) -> None:
    fresh.start()
    check.stimulus("all 256 words, for seven outcomes")
    found = fresh.rescale(MOST, range(256))
    check.note("rejected", words=[word for word, outcome in enumerate(found) if outcome is None])
    check.measure("unequal_outcomes", unequal(found, MOST))
    check.measure("words_an_outcome", min(found.count(outcome) for outcome in range(MOST)))

"""13:69E-1.28G(b)2 on the selector: no number without a sound source."""

from __future__ import annotations

import pytest
from pitbench_hil.attended_bench import OWN_NOISE, START_MS
from pitbench_hil.check import Check
from pitbench_hil.fed import fed_by_itself, newly_fed
from pitbench_hil.marks import rule
from pitbench_hil.selector import NUMBERS, SELECT_MS, SelectorBench
from pitbench_hil.selector_rounds import not_as_drawn
from pitbench_hil.source_checks import (
    LATEST,
    fails_at_the_start,
    fails_between_games,
    said_to_be_unavailable,
    spoiled,
)

# -- (b)2

WAYS = [pytest.param(how, marks=rule(f"NJ-1.28G(b)2/no-source-no-number/{how}")) for how in LATEST]
ROUNDS = 40


@rule("NJ-1.28G(b)2/at-every-round")
def test_rounds_as_soon_as_can_be(still: SelectorBench, check: Check) -> None:
    declared = newly_fed(still, "soon")
    check.stimulus("select pressed as soon as a number is shown", rounds=ROUNDS)
    numbers, without = [], 0
    for number in range(1, ROUNDS + 1):
        numbers.append(still.select())
        status = still.status()
        without += status["round"] != number or status["draws"] != 1 or status["bits"] < 256
    check.measure("rounds_without_draw", without + not_as_drawn(declared, numbers))


def nothing_shown(bench: SelectorBench, check: Check) -> None:
    """Press everything: nothing is selected, nothing displayed."""
    before, figures = bench.status()["round"], bench.figures()
    bench.press_all()
    check.measure("selections", bench.status()["round"] - before)
    check.measure("figures", len(bench.figures()) - len(figures) + (bench.display() > 0))


def pressed(bench: SelectorBench, check: Check) -> None:
    """The same, and it says why."""
    nothing_shown(bench, check)
    said_to_be_unavailable(bench, check)


@pytest.mark.parametrize("how", WAYS)
def test_source_that_fails_between_rounds(still: SelectorBench, check: Check, how: str) -> None:
    fails_between_games(still, check, how)
    fed_by_itself(still)
    still.do("entropy", how=how, seed="failing")
    # What looks like noise for a while is one, and a round has it.
    for _ in range(LATEST[how]):
        if still.status()["standing"]:
            break
        still.press("select")
        still.advance(SELECT_MS)
    still.press("select")
    pressed(still, check)
    still.restart_with(OWN_NOISE)
    still.advance(START_MS)
    still.clear()
    check.expect("selects with a sound source again", still.select() in NUMBERS, True)


@pytest.mark.parametrize("how", WAYS)
def test_source_that_fails_at_the_start(still: SelectorBench, check: Check, how: str) -> None:
    fails_at_the_start(still, check, how)
    pressed(still, check)
    check.stimulus("cleared with the key, the source as it is")
    still.clear()
    pressed(still, check)


@rule("HOUSE-known-answer/selector")
def test_a_generator_that_computes_wrongly(bench: SelectorBench, check: Check) -> None:
    spoiled(bench, check)
    nothing_shown(bench, check)

"""What throws are judged by, on throws that were fed: fair ones pass, stuck, worn and loaded dice are convicted."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from pitbench_hil.dice_random import ALPHA, THROWS, declare, judge, statistics_of
from pitbench_hil.verdict import Verdict

DICE = 3
Rows = NDArray[np.int64]
Fault = Callable[[np.random.Generator, Rows], Rows]


def fair(random: np.random.Generator, rows: Rows) -> Rows:
    return rows


def stuck(random: np.random.Generator, rows: Rows) -> Rows:
    """The second die lies as it lay, one time in twenty."""
    for throw in np.flatnonzero(random.random(len(rows)) < 1 / 20):
        if throw:
            rows[throw, 1] = rows[throw - 1, 1]
    return rows


def loaded(random: np.random.Generator, rows: Rows) -> Rows:
    """The third die shows a six three and a half points too often."""
    rows[random.random(len(rows)) < 0.035 * 6 / 5, 2] = 6
    return rows


def worn(random: np.random.Generator, rows: Rows) -> Rows:
    """The first die shows its one ever oftener: one time in six at first, one in four and a half at last."""
    rows[random.random(len(rows)) < np.linspace(0, 0.09, len(rows)), 0] = 1
    return rows


def joined(random: np.random.Generator, rows: Rows) -> Rows:
    """Two dice that fall alike, one time in twelve."""
    together = random.random(len(rows)) < 1 / 12
    rows[together, 1] = rows[together, 0]
    return rows


def samples(seed: int, fault: Fault) -> Iterator[tuple[str, Rows]]:
    random = np.random.default_rng(seed)
    number = 0
    while True:
        number += 1
        yield f"sample {number}", fault(random, random.integers(1, 7, (THROWS, DICE)))


def verdicts(seed: int, fault: Fault) -> dict[str, Verdict]:
    return {trial.plan.statistic: trial.verdict for trial in judge(DICE, samples(seed, fault))}


@pytest.mark.parametrize(
    ("fault", "by"),
    [
        (stuck, "equal consecutive faces of die 2"),
        (loaded, "faces of die 3"),
        (worn, "faces of die 1"),
        (joined, "die 1 against die 2"),
    ],
)
def test_a_faulty_die_is_convicted_and_by_its_own_statistic(fault: Fault, by: str) -> None:
    for seed in range(10):
        assert verdicts(seed, fault)[by] is Verdict.FAIL, seed


def test_fair_dice_are_not_failed_in_a_hundred_runs() -> None:
    runs = [verdicts(seed, fair) for seed in range(100)]
    assert not [seed for seed, run in enumerate(runs) if Verdict.FAIL in run.values()]
    # A false alarm of one in a hundred: nobody may see ten of them.
    assert sum(Verdict.INCONCLUSIVE in run.values() for run in runs) < 10


@pytest.mark.parametrize("dice", [2, 3])
def test_each_statistic_is_declared_with_what_it_finds(dice: int) -> None:
    plans = declare(dice)
    assert {plan.statistic for plan in plans} == set(statistics_of(dice))
    assert sum(plan.alpha for plan in plans) <= ALPHA * 1.001
    words = {plan.statistic: plan.finds for plan in plans}
    assert words["faces of die 1"] == f"a face that is {'3.1' if dice == 2 else '3.2'} points too likely"
    assert "a die left as it lay" in words["equal consecutive faces of die 1"]

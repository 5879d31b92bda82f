"""Throws of real dice, or throws that were fed, judged as declared beforehand: faces, sums, die against die, and on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitbench_hil.statistics import dice as tests
from pitbench_hil.statistics.budget import Family, Plan
from pitbench_hil.statistics.power import POWER, smallest_effect, smallest_shift
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.retries import Trial

Throws = NDArray[Any]
SIDES = tests.SIDES
# False alarm of the whole family, and throws of a sample: a die that isn't turned one time in twenty shows in 5,124.
ALPHA, THROWS = 0.01, 6000


def statistics_of(count: int) -> dict[str, Callable[[Throws], Result]]:
    """Every statistic of throws of so many dice, by name."""
    each = range(count)
    pairs = [(one, other) for one in each for other in range(one + 1, count)]
    found: dict[str, Callable[[Throws], Result]] = {"sums": tests.sums}
    found |= {f"faces of die {die + 1}": _of(tests.faces, die) for die in each}
    found |= {f"die {die + 1} against its next throw": _of(tests.throw_against_next, die) for die in each}
    found |= {f"equal consecutive faces of die {die + 1}": _of(tests.equal_faces, die) for die in each}
    found |= {f"die {one + 1} against die {other + 1}": _of(tests.die_against_die, one, other) for one, other in pairs}
    return found


def _of(test: Callable[..., Result], *dice: int) -> Callable[[Throws], Result]:
    return lambda throws: test(throws, *dice)


def declare(count: int, throws: int = THROWS, alpha: float = ALPHA) -> tuple[Plan, ...]:
    """A plan for each statistic of throws of so many dice.

    Args:
        throws: of one sample.
        alpha: false alarm of the whole family.

    Raises BudgetError for an alpha that is none.
    """
    names = list(statistics_of(count))
    family = Family(alpha, len(names))
    return family.check(family.plan(name, throws, POWER, _finds(name, count, throws, family.each)) for name in names)


def _finds(name: str, count: int, throws: int, alpha: float) -> str:
    """The smallest fault that so many throws find, in words."""
    if name.startswith("faces"):
        points = (smallest_effect(throws, SIDES - 1, alpha) * (SIDES - 1) / SIDES**2) ** 0.5
        return f"a face that is {100 * points:.2g} points too likely"
    if name.startswith("equal"):
        shift = smallest_shift((1 / SIDES * (1 - 1 / SIDES)) ** 0.5, throws, alpha)
        return f"a die left as it lay {100 * shift / (1 - 1 / SIDES):.2g} times in a hundred"
    df = 5 * count if name == "sums" else (SIDES - 1) ** 2
    return f"an effect of {smallest_effect(throws, df, alpha):.3g} a throw"


def judge(count: int, samples: Iterator[tuple[str, Throws]], throws: int = THROWS, alpha: float = ALPHA) -> list[Trial]:
    """Each statistic's trial at its end: a first failure calls for a second sample, a disagreement for a last one.

    Args:
        count: dice of a throw.
        samples: a name and `throws` throws, shape (throws, count), for each; taken as far as a trial needs them. Where
            they run out, a trial stands as far as it came, and its verdict says so.
    """
    trials = [Trial(plan) for plan in declare(count, throws, alpha)]
    every = statistics_of(count)
    while wanted := max(trial.wants for trial in trials):
        name, rows = _taken(samples, wanted)
        if len(rows) < wanted:
            break
        trials = [_stepped(trial, every, rows, name) for trial in trials]
    return trials


def _taken(samples: Iterator[tuple[str, Throws]], wanted: int) -> tuple[str, Throws]:
    """A sample of so many throws, of as many pieces as that takes; fewer where they run out."""
    names, pieces, taken = [], [], 0
    for name, rows in samples:
        names.append(name)
        pieces.append(rows)
        taken += len(rows)
        if taken >= wanted:
            break
    return ", ".join(names), np.concatenate(pieces) if pieces else np.empty((0, 0), int)


def _stepped(trial: Trial, every: dict[str, Callable[[Throws], Result]], rows: Throws, name: str) -> Trial:
    if not trial.wants:
        return trial
    return trial.step(every[trial.plan.statistic](rows[: trial.wants]).p, name, trial.wants)

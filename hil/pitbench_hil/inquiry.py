"""Samples of what a device draws, taken and judged as declared beforehand, with every p-value recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pitbench.link import LinkError

from pitbench_hil.check import Check
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.records import NEEDED
from pitbench_hil.statistics.budget import Family, Plan
from pitbench_hil.statistics.power import POWER
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.retries import Trial
from pitbench_hil.statistics.samples import SampleError
from pitbench_hil.verdict import Verdict

Sample = NDArray[Any]
Statistic = Callable[[Any], float]
# Draws between two looks, and false alarms that may come in one sample.
PIECE, ALARMS = 600, 3
# Draws that a failed statistic is tried with, to say how few would have done.
PREFIXES = [round(base * 10**power) for power in range(5) for base in (1, 1.5, 2, 3, 5, 7)]
# Failed samples of a trial, and how sure that is: one of two that disagree decides nothing.
FAILED = {Verdict.PASS: (0, 0.0), Verdict.INCONCLUSIVE: (1, 1.0), Verdict.FAIL: (2, 0.0)}


def p_of(test: Callable[[Any], Result]) -> Statistic:
    """A test of a sample as a function that gives its p-value."""
    return lambda sample: test(sample).p


def named(plans: Iterable[Plan], what: str, size: int, only: Iterable[str]) -> list[Plan]:
    """Plans of some statistics under another name, in a family of that size."""
    wanted = set(only)
    return [
        replace(plan, statistic=f"{what}{plan.statistic}", family=size) for plan in plans if plan.statistic in wanted
    ]


class Inquiry:
    """Declared statistics of one source of samples.

    Args:
        plans: as declared, all of one N.
        tests: statistic → its p-value for a sample.
        take: gives a fresh sample of so many.
        unit: what a sample counts.
    """

    def __init__(
        self,
        check: Check,
        plans: Sequence[Plan],
        tests: Mapping[str, Statistic],
        take: Callable[[int], Sample],
        unit: str,
    ) -> None:
        self.check, self.tests, self.take, self.unit = check, tests, take, unit
        self.trials = {plan.statistic: Trial(plan) for plan in plans}
        self.first: Sample = np.empty(0)
        self.p_values: dict[str, float] = {}
        check.note("declared before the first sample", plans=[str(plan) for plan in plans])

    def run(self) -> None:
        """Sample and judge until every trial is at its end; once one failed for good, no last samples of others."""
        number = 0
        while wanted := sorted({trial.wants for trial in self.trials.values()} - {0}):
            if number > 1 and any(trial.verdict is Verdict.FAIL for trial in self.trials.values()):
                self.check.note("no last samples: a statistic failed for good")
                return
            number += 1
            sample = self.take(wanted[0])
            p_values = self._judge(sample, wanted[0], f"sample {number}")
            if number == 1:
                self.first, self.p_values = sample, p_values
                self._how_few(sample)

    def _judge(self, sample: Sample, size: int, name: str) -> dict[str, float]:
        asked = [statistic for statistic, trial in self.trials.items() if trial.wants == size]
        p_values = {statistic: self.tests[statistic](sample) for statistic in asked}
        for statistic, p in p_values.items():
            self.trials[statistic] = self.trials[statistic].step(p, name, size)
        self.check.note(f"p-values of {name}", size=size, **{key: float(f"{p:.4g}") for key, p in p_values.items()})
        return p_values

    def _how_few(self, sample: Sample) -> None:
        """How small a sample each statistic that failed would have needed: said, and decides nothing."""
        for statistic, trial in self.trials.items():
            if trial.taken[0].p < trial.plan.alpha:
                few = self._fewest(self.tests[statistic], sample, trial.plan)
                self.check.measure(f"{NEEDED}{statistic}", few, unit=self.unit)

    def _fewest(self, test: Statistic, sample: Sample, plan: Plan) -> int:
        for size in PREFIXES:
            if size < plan.samples and _p(test, sample[:size]) < plan.alpha:
                return size
        return plan.samples

    def decide(self, rule: str, statistics: Iterable[str] | None = None) -> None:
        """Record for a rule how many samples failed, at worst, of those statistics (all unless said)."""
        trials = [self.trials[name] for name in (statistics or self.trials)]
        worst = max(trials, key=lambda trial: FAILED[trial.verdict][0])
        failed, unsure = FAILED[worst.verdict]
        if failed:
            self.check.note(worst.why)
        self.check.measure("failed_samples", failed, uncertainty=unsure, rule=rule)


def inquire(
    check: Check,
    family: Family,
    parts: Mapping[str, Mapping[str, tuple[Statistic, str]]],
    take: Callable[[int], Sample],
    size: int,
    *,
    unit: str,
    rule: str,
) -> None:
    """Decide each part of a rule by its statistics, all of one family.

    Args:
        parts: part of the rule → statistic → (its p-value for a sample, the smallest fault that it finds, in words).
        take: gives a fresh sample of so many.
        size: of a sample; unit: what it counts.

    Raises BudgetError where the family has another size than it said.
    """
    every = {name: row for rows in parts.values() for name, row in rows.items()}
    plans = family.check(family.plan(name, size, POWER, finds) for name, (_, finds) in every.items())
    inquiry = Inquiry(check, plans, {name: test for name, (test, _) in every.items()}, take, unit)
    inquiry.run()
    for part, rows in parts.items():
        inquiry.decide(f"{rule}/{part}", rows)


def _p(test: Statistic, sample: Sample) -> float:
    """Of too few to be judged: 1."""
    try:
        return test(sample)
    except SampleError:
        return 1.0


def steadily(bench: DrawingBench, check: Check, count: int, draw: Callable[[int], Sample]) -> Sample:
    """So many outcomes, drawn in a row from the board's own source; `draw` takes that many of them at once.

    A fair source alarms once in 2^24 bytes, half a million draws: the board is started again, and the piece drawn anew.
    """
    pieces: list[Sample] = []
    alarms = 0
    while (left := count - sum(len(piece) for piece in pieces)) > 0:
        try:
            pieces.append(draw(min(left, PIECE)))
        except LinkError as refused:
            alarms += 1
            check.note("the source's health test alarmed while it was drawn from", why=str(refused), alarms=alarms)
            if alarms > ALARMS:
                check.fail("draws", "the source fails again and again")
            bench.start_after_alarm()
    return np.concatenate(pieces)

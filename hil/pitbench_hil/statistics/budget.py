"""Error budgets: how often a fair device may be called unfair is set before the first sample, for all tests together.

Thirty tests at .01 raise a false alarm 26 times in a hundred: the share of each follows from that of the family.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from pitbench.errors import PitbenchError

# False alarms of a whole family, by profile: 25 CFR 547.14 asks 99 % confidence; Maryland asks 95 % of shufflers.
FAMILIES = {"25 CFR 547.14": 0.01, "Maryland": 0.05}


class BudgetError(PitbenchError):
    """A test that was not declared so, or a family that can't be."""


@dataclass(frozen=True)
class Plan:
    """One statistic, as it was declared before the first sample.

    Args:
        statistic: its name.
        samples: decks, throws, bits or boots of one sample.
        alpha: chance of a first failure if all is fair.
        family: how many statistics share the budget.
        power: chance that one sample finds the fault.
        finds: the smallest fault that is found so, in words.
    """

    statistic: str
    samples: int
    alpha: float
    family: int
    power: float
    finds: str

    def __str__(self) -> str:
        return (
            f"{self.statistic}: N {self.samples:,}, α {self.alpha:.3g} (one of {self.family}), "
            f"power {self.power:.2f} against {self.finds}"
        )


@dataclass(frozen=True)
class Family:
    """All statistics that share one budget.

    Args:
        alpha: chance that any of them fails its first sample if all is fair.
        size: how many they are.
    """

    alpha: float
    size: int

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or self.size < 1:
            raise BudgetError("A family has one test or more, and a false alarm between 0 and 1.", "Mend the plan.")

    @property
    def each(self) -> float:
        """The share of each: no more than alpha in all, however they depend on each other (Bonferroni)."""
        return self.alpha / self.size

    def plan(self, statistic: str, samples: int, power: float, finds: str) -> Plan:
        """Declare one of them. Raises BudgetError without a sample, or for a power that is none."""
        if samples < 1 or not 0 < power <= 1:
            raise BudgetError(f"{statistic} is declared without sample or power.", "Mend the plan.")
        return Plan(statistic, samples, self.each, self.size, power, finds)

    def check(self, plans: Iterable[Plan]) -> tuple[Plan, ...]:
        """The plans, if they are the family that was declared. Raises BudgetError for more, fewer or the same twice."""
        declared = tuple(plans)
        names = {plan.statistic for plan in declared}
        if len(declared) != self.size or len(names) != self.size:
            raise BudgetError(f"{self.size} statistics share the budget, {len(names)} are planned.", "Mend the plan.")
        return declared


def false_alarm(alphas: Iterable[float]) -> float:
    """Chance that any of several independent tests fails if all is fair."""
    return -math.expm1(sum(math.log1p(-alpha) for alpha in alphas))

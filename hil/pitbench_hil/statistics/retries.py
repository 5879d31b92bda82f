"""What a failed statistic leads to: a second sample, maybe a last one, and never a PASS. A pure table of steps.

A fair device fails for good with about 2·alpha², and is INCONCLUSIVE with about alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import Enum

from pitbench_hil.statistics.budget import BudgetError, Plan
from pitbench_hil.verdict import Verdict

# The last sample is this many times as large: a real fault that barely shows in N shows clearly in it.
LAST = 4


class Stage(Enum):
    """Where a statistic stands: what its samples, in turn, said so far."""

    DECLARED = "nothing was sampled yet"
    FAILED_ONCE = "the first sample failed"
    DISAGREE = "the first sample failed, the second passed"
    PASSED = "the first sample passed"
    FAILED_TWICE = "the first and the second sample failed"
    FAILED_LAST = "the first and the last sample failed, the second passed"
    UNDECIDED = "the first sample failed, the second and the last passed"


# Stage → the stage after a sample that failed, and after one that passed. A stage that isn't here is an end.
NEXT = {
    Stage.DECLARED: (Stage.FAILED_ONCE, Stage.PASSED),
    Stage.FAILED_ONCE: (Stage.FAILED_TWICE, Stage.DISAGREE),
    Stage.DISAGREE: (Stage.FAILED_LAST, Stage.UNDECIDED),
}
# Stage → the next sample, in multiples of the declared N.
WANTED = {Stage.DECLARED: 1, Stage.FAILED_ONCE: 1, Stage.DISAGREE: LAST}
# Stage → the verdict if nothing more is sampled.
VERDICT = {
    Stage.DECLARED: Verdict.NOT_TESTED,
    Stage.FAILED_ONCE: Verdict.INCONCLUSIVE,
    Stage.DISAGREE: Verdict.INCONCLUSIVE,
    Stage.PASSED: Verdict.PASS,
    Stage.FAILED_TWICE: Verdict.FAIL,
    Stage.FAILED_LAST: Verdict.FAIL,
    Stage.UNDECIDED: Verdict.INCONCLUSIVE,
}


@dataclass(frozen=True)
class Sampled:
    """One sample: its name (no two samples of a statistic are the same one), its size, and its p-value."""

    sample: str
    samples: int
    p: float


@dataclass(frozen=True)
class Trial:
    """One declared statistic and what its samples said so far. Stepping gives the next trial; nothing changes."""

    plan: Plan
    stage: Stage = Stage.DECLARED
    taken: tuple[Sampled, ...] = ()

    @property
    def wants(self) -> int:
        """Samples to be taken next, none when the trial is at its end."""
        return WANTED.get(self.stage, 0) * self.plan.samples

    @property
    def verdict(self) -> Verdict:
        """The verdict if nothing more is sampled."""
        return VERDICT[self.stage]

    @property
    def why(self) -> str:
        """The plan, the stage, and every p-value, whatever the verdict."""
        each = "; ".join(f"{s.sample}: N {s.samples:,}, p = {s.p:.3g}" for s in self.taken)
        return f"{self.plan}. {self.stage.value[0].upper()}{self.stage.value[1:]}" + (f" ({each})." if each else ".")

    def step(self, p: float, sample: str, samples: int) -> Trial:
        """The trial after one more sample.

        Args:
            p: its p-value.
            sample: its name, an independent sample of its own: the seed, the time, the file.
            samples: its size, as `wants` says.

        Raises BudgetError after the end, for a sample that was judged before or has another size, and for no p-value.
        """
        if not self.wants or samples != self.wants:
            wants = f"{self.wants:,} samples" if self.wants else "no more samples"
            raise BudgetError(f"{self.plan.statistic} takes {wants}, not {samples:,}.", "Keep to the plan.")
        if sample in {taken.sample for taken in self.taken}:
            raise BudgetError(f"Sample '{sample}' of {self.plan.statistic} was judged before.", "Take a new one.")
        if math.isnan(p) or not 0 <= p <= 1:
            raise BudgetError(f"{p} is no p-value.", "Mend the statistic.")
        stage = NEXT[self.stage][0 if p < self.plan.alpha else 1]
        return replace(self, stage=stage, taken=(*self.taken, Sampled(sample, samples, p)))


def fail_chance(alpha: float) -> float:
    """Chance that a fair device fails for good."""
    return alpha * (alpha + (1 - alpha) * alpha)

"""From recorded measurements to a verdict. Pure: the same facts and rules give the same verdict, also at a rejudge.

A measurement with a limit decides: beyond the limit by more than its uncertainty fails, within the limit by more than
it passes, in between is inconclusive. An expectation is an observation that must equal what is expected. A rule passes
when every name in its limits was measured, at least one thing decided, and nothing failed. What failed before a rig
broke stays a FAIL; what a broken rig kept from being measured is NOT TESTED. A second try takes no fact away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pitbench.errors import PitbenchError

from pitbench_hil.catalogue import Limit, Rule


class Verdict(str, Enum):
    """The seven verdicts (a bench-only PASS is a PASS with that remark)."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    NOT_TESTED = "NOT TESTED"
    NOT_APPLICABLE = "NOT APPLICABLE"
    INSPECT = "INSPECT"
    DOCUMENT = "DOCUMENT"

    def __str__(self) -> str:
        return self.value


# The worst counts, wherever several facts meet in one rule.
_WORST_FIRST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NOT_TESTED, Verdict.PASS)
PROFILES = ("nj", "ny", "house")


def profiles_named(text: str) -> list[str]:
    """The profiles that a person named, comma apart. Raises PitbenchError for one that there isn't."""
    profiles = [word.strip().lower() for word in text.split(",") if word.strip()]
    unknown = [profile for profile in profiles if profile not in PROFILES]
    if unknown or not profiles:
        raise PitbenchError(f"There is no profile '{', '.join(unknown)}'.", f"Choose from: {', '.join(PROFILES)}.")
    return profiles


@dataclass(frozen=True)
class Measurement:
    """A value in a unit, with the rig's uncertainty in the same unit, and the limit given by the test, if any."""

    name: str
    value: Any
    unit: str = ""
    uncertainty: float = 0.0
    limit: Limit | None = None


@dataclass(frozen=True)
class Expectation:
    """What was observed and what was expected. `met` is the comparison made before numbers were masked."""

    name: str
    observed: Any
    expected: Any
    met: bool | None = None

    @property
    def holds(self) -> bool:
        """Whether the observation is the expected one."""
        return self.observed == self.expected if self.met is None else self.met


@dataclass
class Facts:
    """What one test recorded for one rule."""

    image: str = "bench"
    test: str = ""
    measurements: list[Measurement] = field(default_factory=list)
    expectations: list[Expectation] = field(default_factory=list)
    broken: str | None = None
    skipped: str | None = None
    untold: str | None = None
    finished: bool = True


@dataclass(frozen=True)
class Judgement:
    """A verdict, the reason for it, and the numbers that it rests on."""

    verdict: Verdict
    why: str = ""
    observed: str = ""
    limit: str = ""
    remark: str = ""

    @property
    def label(self) -> str:
        """The verdict as it is printed: `PASS (bench image)`."""
        return f"{self.verdict} ({self.remark})" if self.remark else str(self.verdict)


def judge_measurement(measurement: Measurement, limit: Limit) -> Verdict:
    """PASS, FAIL or INCONCLUSIVE of one value against one limit."""
    if limit.equals is not None and not measurement.uncertainty:
        return Verdict.PASS if measurement.value == limit.equals else Verdict.FAIL
    value = measurement.value
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        return Verdict.INCONCLUSIVE
    return _by_margin(_margin(float(value), limit), measurement.uncertainty)


def _by_margin(margin: float, uncertainty: float) -> Verdict:
    if margin < -uncertainty:
        return Verdict.FAIL
    return Verdict.PASS if margin >= uncertainty else Verdict.INCONCLUSIVE


def _margin(value: float, limit: Limit) -> float:
    """How far inside the limit the value lies; negative outside."""
    margins = [limit.max - value] if limit.max is not None else []
    margins += [value - limit.min] if limit.min is not None else []
    margins += [-abs(value - limit.equals)] if limit.equals is not None else []
    return min(margins, default=math.inf)


def judge(rule: Rule, facts: Facts) -> Judgement:
    """The verdict of one test's facts on one rule."""
    decided = [
        (m, limit, judge_measurement(m, limit)) for m in facts.measurements if (limit := _limit(rule, m)).decides
    ]
    failed = [_said(m) for m, _, verdict in decided if verdict is Verdict.FAIL]
    failed += [_unmet(e) for e in facts.expectations if not e.holds]
    verdict, why = _verdict(rule, facts, decided, failed)
    return Judgement(verdict, why, _observed(decided, facts.expectations, failed), _limits_text(rule, decided))


def _verdict(rule: Rule, facts: Facts, decided: Sequence[Any], failed: list[str]) -> tuple[Verdict, str]:
    if failed:
        after = f"; then the rig broke: {facts.broken}" if facts.broken else ""
        return Verdict.FAIL, "; ".join(failed) + after
    if untested := facts.broken or facts.skipped or ("" if facts.finished else "the run was interrupted in this test"):
        return Verdict.NOT_TESTED, untested
    if unsure := [_said(m) for m, _, verdict in decided if verdict is Verdict.INCONCLUSIVE]:
        return Verdict.INCONCLUSIVE, f"within the rig's uncertainty: {'; '.join(unsure)}"
    if missing := [name for name in rule.limits if name not in {m.name for m, _, _ in decided}]:
        return Verdict.NOT_TESTED, f"the test didn't measure {', '.join(missing)}"
    if not decided and not facts.expectations:
        return Verdict.NOT_TESTED, facts.untold or "the test recorded nothing that decides"
    return Verdict.PASS, f"not told: {facts.untold}" if facts.untold else ""


def judge_rule(rule: Rule, facts: Iterable[Facts], untested: str = "") -> Judgement:
    """The verdict of everything recorded for a rule; `untested` says why there may be nothing.

    On one kind of image the worst counts. A rule that passed on one kind and couldn't be tested on the other passes,
    with the remark.
    """
    if rule.instead:
        return Judgement(Verdict(rule.instead), rule.condition)
    judged = [(fact.image, judge(rule, fact)) for fact in facts]
    if not judged:
        return Judgement(Verdict.NOT_TESTED, untested or "no test was run for it")
    by_image = {image: _worst([j for kind, j in judged if kind == image]) for image, _ in judged}
    return _over_images(by_image, len(judged))


def _over_images(by_image: dict[str, Judgement], tests: int) -> Judgement:
    passed = [image for image, judgement in by_image.items() if judgement.verdict is Verdict.PASS]
    worst = _worst(list(by_image.values()))
    chosen = by_image[passed[0]] if passed and worst.verdict is Verdict.NOT_TESTED else worst
    bench_only = chosen.verdict is Verdict.PASS and "release" not in passed
    why = chosen.why or (f"on the other image: {worst.why}" if worst is not chosen else "")
    remark = "bench image" if bench_only else ""
    observed = chosen.observed + (f" · {tests} tests" if tests > 1 and chosen.observed else "")
    return Judgement(chosen.verdict, why, observed, chosen.limit, remark)


def _worst(judgements: list[Judgement]) -> Judgement:
    return min(judgements, key=lambda judgement: _WORST_FIRST.index(judgement.verdict))


def counts(rule: Rule, profiles: Iterable[str]) -> bool:
    """Whether a FAIL of this rule fails the device under the profiles (house takes everything in)."""
    return "house" in profiles or rule.jurisdiction.lower() in profiles


def _limit(rule: Rule, measurement: Measurement) -> Limit:
    """The catalogue's limit where it has one: a rejudge applies today's rule."""
    return rule.limits.get(measurement.name) or measurement.limit or Limit()


def _said(m: Measurement) -> str:
    value = f"{m.value:.4g}" if isinstance(m.value, float) else str(m.value)
    band = f" ± {m.uncertainty:.2g}" if m.uncertainty else ""
    return f"{m.name} {value}{band}" + (f" {m.unit}" if m.unit else "")


def _unmet(expectation: Expectation) -> str:
    return f"{expectation.name}: {short(expectation.observed)} instead of {short(expectation.expected)}"


def short(value: Any, length: int = 80) -> str:
    """A value in at most `length` characters."""
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def _observed(decided: Sequence[Any], expectations: Sequence[Expectation], failed: list[str]) -> str:
    if failed:
        return "; ".join(failed)
    worst: dict[str, tuple[float, Measurement]] = {}
    for m, limit, _ in decided:
        margin = _margin(m.value, limit) if isinstance(m.value, int | float) else 0.0
        if m.name not in worst or margin < worst[m.name][0]:
            worst[m.name] = (margin, m)
    said = [_said(m) for _, m in worst.values()]
    met = sum(e.holds for e in expectations)
    return "; ".join(said + ([f"{met} of {len(expectations)} expectations met"] if expectations else []))


def _limits_text(rule: Rule, decided: Sequence[Any]) -> str:
    limits = {m.name: str(limit) for m, limit, _ in decided} | {name: str(limit) for name, limit in rule.limits.items()}
    return "; ".join(f"{name} {limit}" for name, limit in limits.items())

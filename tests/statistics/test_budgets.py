"""The budget set beforehand, and what a failure leads to: the whole table, and its chances."""

from __future__ import annotations

import numpy as np
import pytest
from pitbench_hil.statistics.budget import FAMILIES, BudgetError, Family, false_alarm
from pitbench_hil.statistics.retries import NEXT, VERDICT, WANTED, Stage, Trial, fail_chance
from pitbench_hil.verdict import Verdict

PLAN = Family(0.01, 10).plan("valleys", 8, 0.99, "a machine with 20 shelves")


def test_thirty_tests_at_one_in_a_hundred():
    assert false_alarm([0.01] * 30) == pytest.approx(0.26, abs=0.005)
    for alpha in FAMILIES.values():
        assert false_alarm([Family(alpha, 30).each] * 30) <= alpha


def test_a_plan_says_all_that_was_set():
    assert str(PLAN) == "valleys: N 8, α 0.001 (one of 10), power 0.99 against a machine with 20 shelves"


def after(*p_values: float) -> Trial:
    trial = Trial(PLAN)
    for at, p in enumerate(p_values):
        trial = trial.step(p, f"sample {at}", trial.wants)
    return trial


PASS, FAIL = 0.5, 0.0001


@pytest.mark.parametrize(
    ("p_values", "verdict", "wants"),
    [
        ((), Verdict.NOT_TESTED, 8),
        ((PASS,), Verdict.PASS, 0),
        ((0.001,), Verdict.PASS, 0),
        ((FAIL,), Verdict.INCONCLUSIVE, 8),
        ((FAIL, FAIL), Verdict.FAIL, 0),
        ((FAIL, PASS), Verdict.INCONCLUSIVE, 32),
        ((FAIL, PASS, FAIL), Verdict.FAIL, 0),
        ((FAIL, PASS, PASS), Verdict.INCONCLUSIVE, 0),
    ],
)
def test_what_samples_lead_to(p_values, verdict, wants):
    trial = after(*p_values)
    assert (trial.verdict, trial.wants) == (verdict, wants)
    assert [taken.p for taken in trial.taken] == list(p_values)
    assert all(f"p = {p:.3g}" in trial.why for p in p_values)


def test_no_retry_leads_to_a_pass():
    for stages in NEXT.values():
        assert VERDICT[stages[0]] is not Verdict.PASS
    late = {stage for before, stages in NEXT.items() if before is not Stage.DECLARED for stage in stages}
    assert Verdict.PASS not in {VERDICT[stage] for stage in late}


def test_every_stage_is_reached_has_a_verdict_and_asks_for_a_sample_or_ends():
    reached = {Stage.DECLARED} | {stage for stages in NEXT.values() for stage in stages}
    assert reached == set(Stage) == set(VERDICT)
    assert set(WANTED) == set(NEXT)


def test_a_fair_device_fails_for_good_as_seldom_as_computed():
    random, family = np.random.default_rng(1), Family(0.1, 1)
    plan, ends = family.plan("faces", 1, 0.99, "a fault"), []
    for _ in range(20_000):
        trial = Trial(plan)
        while trial.wants:
            trial = trial.step(random.random(), str(len(trial.taken)), trial.wants)
        ends.append(trial.verdict)
    assert ends.count(Verdict.FAIL) / 20_000 == pytest.approx(fail_chance(0.1), abs=0.004)
    assert ends.count(Verdict.PASS) / 20_000 == pytest.approx(0.9, abs=0.008)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda: after(PASS).step(PASS, "another", 8), "no more samples"),
        (lambda: after().step(PASS, "one", 9), "takes 8 samples, not 9"),
        (lambda: after(FAIL, PASS).step(PASS, "last", 8), "takes 32 samples"),
        (lambda: after(FAIL).step(PASS, "sample 0", 8), "was judged before"),
        (lambda: after().step(float("nan"), "one", 8), "no p-value"),
        (lambda: after().step(1.5, "one", 8), "no p-value"),
        (lambda: Family(0.01, 0), "one test or more"),
        (lambda: Family(1.0, 3), "between 0 and 1"),
        (lambda: Family(0.01, 3).plan("faces", 0, 0.9, "a fault"), "without sample"),
        (lambda: Family(0.01, 2).check([PLAN]), "2 statistics share the budget, 1 are planned"),
        (lambda: Family(0.01, 2).check([PLAN, PLAN]), "2 statistics share"),
    ],
)
def test_what_was_not_declared_is_refused(step, words):
    with pytest.raises(BudgetError, match=words):
        step()

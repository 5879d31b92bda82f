"""Bad machines are found in as many decks as was computed, and fair ones are not failed. Fixed seeds throughout."""

from __future__ import annotations

from collections.abc import Callable

import machines
import numpy as np
import pytest
from pitbench_hil.statistics import power, scores, shuffles
from pitbench_hil.statistics.adjacency import (
    adjacency_effect,
    adjacency_test,
    difference_counts,
    separation_counts,
    separation_test,
)
from pitbench_hil.statistics.budget import FAMILIES, BudgetError
from pitbench_hil.statistics.cycles import cycle_shape_test, cycle_test
from pitbench_hil.statistics.declared import FINDS, declare
from pitbench_hil.statistics.fixed_points import fixed_point_test
from pitbench_hil.statistics.guessing import guessing_test
from pitbench_hil.statistics.positions import position_effect, position_test
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.retries import Trial
from pitbench_hil.statistics.riffles import rising_test
from pitbench_hil.statistics.samples import SampleError
from pitbench_hil.statistics.shelves import shelf_test, shelf_valleys
from pitbench_hil.statistics.valleys import fair_valleys, valley_shape_test, valley_test

ALPHA = 0.001
Machine = Callable[[np.random.Generator, int], np.ndarray]
MACHINES: dict[str, Machine] = {
    "naive swap": machines.naive_swap,
    "Sattolo": machines.sattolo,
    "byte modulo": machines.byte_modulo,
    "10 shelves": lambda random, decks: machines.shelves(random, decks, 10),
    "20 shelves": lambda random, decks: machines.shelves(random, decks, 20),
    "5 riffles": lambda random, decks: machines.riffles(random, decks, 5),
}


def found_in(machine: str, test: Callable[..., Result], decks: int, runs: int) -> float:
    """Share of the runs in which the test fails the machine."""
    random = np.random.default_rng(2026)
    return sum(test(MACHINES[machine](random, decks)).p < ALPHA for _ in range(runs)) / runs


# machine, test, decks, runs, least share of the runs. The power is .99, and .96 for five riffles: runs are few.
FOUND = [
    ("naive swap", position_test, 636, 40, 0.9),
    ("Sattolo", position_test, 418, 40, 0.9),
    ("byte modulo", position_test, 4_859, 20, 0.9),
    ("10 shelves", valley_test, 1, 300, 1.0),
    ("20 shelves", valley_test, 7, 300, 0.97),
    ("10 shelves", adjacency_test, 13, 300, 0.97),
    ("5 riffles", adjacency_test, 53, 200, 0.93),
    ("5 riffles", separation_test, 8, 200, 0.95),
    ("10 shelves", guessing_test, 5, 200, 0.95),
    ("10 shelves", lambda decks: shelf_test(decks, 10), 1, 200, 1.0),
    ("20 shelves", lambda decks: shelf_test(decks, 20), 12, 200, 0.95),
    ("20 shelves", valley_shape_test, 60, 40, 1.0),
    ("5 riffles", rising_test, 3, 200, 0.95),
    ("Sattolo", fixed_point_test, 10, 20, 1.0),
    ("Sattolo", cycle_test, 4, 20, 0.95),
    ("Sattolo", cycle_shape_test, 60, 20, 1.0),
]


@pytest.mark.parametrize(("machine", "test", "decks", "runs", "least"), FOUND)
def test_a_bad_machine_is_found(machine, test, decks, runs, least):
    assert found_in(machine, test, decks, runs) >= least


CARDS = 52
EVERY = np.full(CARDS, 1 / CARDS)


def among(first: int, last: int) -> np.ndarray:
    return np.where((np.arange(CARDS) >= first) & (np.arange(CARDS) <= last), 1 / (last - first + 1), 0)


def modulo(cards: int) -> np.ndarray:
    return np.bincount(np.arange(256) % cards, minlength=CARDS) / 256


WHERE = {
    "naive swap": ([(at, EVERY) for at in range(CARDS)], 636),
    "Sattolo": ([(at, among(0, at - 1)) for at in range(CARDS - 1, 0, -1)], 418),
    "byte modulo": ([(at, modulo(at + 1)) for at in range(CARDS - 1, 0, -1)], 4_859),
}


@pytest.mark.parametrize("machine", WHERE)
def test_the_position_matrix_takes_as_many_decks_as_its_noncentral_chi_square_says(machine):
    swaps, decks = WHERE[machine]
    effect = position_effect(machines.where_cards_lie(swaps))
    assert power.chi_square_samples(effect, 51**2, ALPHA) == pytest.approx(decks, abs=1)
    assert power.chi_square_power(decks, effect, 51**2, ALPHA) == pytest.approx(0.99, abs=5e-4)
    assert power.smallest_effect(decks, 51**2, ALPHA) == pytest.approx(effect, rel=3e-3)


def test_a_fair_swap_leaves_no_effect():
    swaps = [(at, among(0, at)) for at in range(CARDS - 1, 0, -1)]
    assert position_effect(machines.where_cards_lie(swaps)) == pytest.approx(0, abs=1e-20)


def test_valleys_take_as_many_decks_as_their_exact_distributions_say():
    fair = fair_valleys(52)
    assert power.score_decks(fair, shelf_valleys(10, 52), ALPHA) == 1
    # The 7 decks are those of one side; looking at too many valleys too leaves .98995 of their power.
    assert power.score_decks(fair, shelf_valleys(20, 52), 2 * ALPHA) == 7
    assert power.score_power(fair, shelf_valleys(20, 52), 7, ALPHA) == pytest.approx(0.98995, abs=1e-5)
    assert power.score_decks(fair, shelf_valleys(20, 52), ALPHA) == 8


def test_the_effect_of_riffles_on_differences_takes_as_many_decks():
    random = np.random.default_rng(5)
    for number, differences, separations in ((5, 58, 8), (7, 1_050, 115)):
        decks = machines.riffles(random, 100_000, number)
        for counts, expected in ((difference_counts(decks), differences), (separation_counts(decks), separations)):
            effect = adjacency_effect(counts / 100_000)
            assert power.chi_square_samples(effect, 50, ALPHA) == pytest.approx(expected, rel=0.08)


def test_what_the_position_matrix_does_not_see_the_valleys_do():
    decks = machines.shelves(np.random.default_rng(1), 300, 20)
    assert position_test(decks).p > 0.01
    assert valley_test(decks).p < 1e-11


def test_a_bias_of_one_bit():
    bias = power.smallest_bias(1_000_000, ALPHA)
    random = np.random.default_rng(3)
    found = random.binomial(1_000_000, 0.5 + bias, size=2_000)
    assert np.mean(np.abs(found - 500_000) > 3.2905 * 500) == pytest.approx(0.99, abs=0.01)


# -- fair decks


def test_critical_values_are_those_of_the_table():
    at = np.random.default_rng(9)
    for test, critical, decks in ((adjacency_test, 86.66, 400), (position_test, 2829.6, 400)):
        result = test(machines.fair(at, decks))
        assert result.df is not None
        assert power.chdtri(result.df, ALPHA) == pytest.approx(critical, abs=0.05)


@pytest.mark.parametrize(
    ("test", "decks", "runs"),
    [
        (valley_test, 20, 1_000),
        (valley_shape_test, 100, 500),
        (guessing_test, 20, 500),
        (rising_test, 20, 1_000),
        (adjacency_test, 5, 2_000),
        (adjacency_test, 53, 1_000),
        (separation_test, 8, 1_000),
        (position_test, 260, 400),
        (fixed_point_test, 100, 1_000),
        (cycle_test, 20, 1_000),
        (cycle_shape_test, 100, 500),
    ],
)
def test_p_values_of_fair_decks_are_those_of_their_null(test, decks, runs):
    every = machines.fair(np.random.default_rng(decks + runs), decks * runs).reshape(runs, decks, 52)
    p = np.array([test(some).p for some in every])
    for level in (0.01, 0.1, 0.3):
        # Whole totals make a test shy, never bold.
        most = level + 4 * np.sqrt(level / runs)
        assert 0.3 * level - 2 * np.sqrt(level / runs) <= np.mean(p < level) <= most


def test_fair_decks_are_never_failed_in_a_hundred_runs_at_the_declared_budget():
    random, plans = np.random.default_rng(547), declare(300, FAMILIES["25 CFR 547.14"])
    seconds = 0
    for run in range(100):
        decks = machines.fair(random, 300)
        for plan in plans:
            trial = Trial(plan).step(shuffles.TESTS[plan.statistic](decks).p, f"run {run}", plan.samples)
            while trial.wants:
                seconds += 1
                more = machines.fair(random, trial.wants)
                trial = trial.step(
                    shuffles.TESTS[plan.statistic](more).p, f"run {run}, retry {len(trial.taken)}", trial.wants
                )
            assert trial.verdict != "FAIL"
    # One run in a hundred has a first failure.
    assert seconds <= 8


def test_a_family_is_declared_with_what_it_finds():
    plans = {plan.statistic: plan for plan in declare(1_000, 0.01)}
    assert list(plans) == list(shuffles.TESTS)
    assert set(FINDS) == set(shuffles.TESTS)
    assert {plan.alpha for plan in plans.values()} == {0.01 / len(plans)}
    assert plans["valleys"].finds == "75 shelves"
    assert plans["peaks"].finds == "75 shelves, dealt from the other end"
    assert plans["rising sequences"].finds == "9 riffles"
    assert plans["repeats"].finds == "a seed space of 16.7 bits"
    assert plans["positions"].finds == f"an effect of {power.smallest_effect(1_000, 2_601, 0.001):.3g} a deck"
    assert declare(7, 2 * ALPHA * len(plans))[0].finds == "20 shelves"
    # Two decks of ten shelves have eighteen valleys at most, fair ones with a chance of 1.2e-12.
    assert declare(2, 1e-9)[0].finds == "10 shelves"
    with pytest.raises(BudgetError, match="two decks or more"):
        declare(1, 0.01)


def test_every_statistic_of_a_fair_sample_has_the_name_of_its_test():
    decks = machines.fair(np.random.default_rng(0), 300)
    results = shuffles.judge(decks)
    assert [result.name for result in results] == list(shuffles.TESTS)
    assert min(result.p for result in results) > ALPHA
    assert "p = " in str(results[0])


@pytest.mark.parametrize("decks", [1, 10_000])
def test_pieces_are_joined_without_loss(decks, monkeypatch):
    rows = machines.fair(np.random.default_rng(decks), max(decks, 300))
    whole = shuffles.judge(rows)
    monkeypatch.setattr("pitbench_hil.statistics.samples.CHUNK", 97)
    assert shuffles.judge(rows) == whole


def test_too_few_decks_for_a_chi_square_are_refused():
    rows = machines.fair(np.random.default_rng(0), 259)
    with pytest.raises(SampleError, match="it takes 260"):
        position_test(rows)
    with pytest.raises(SampleError, match="it takes five"):
        adjacency_test(rows[:4])
    with pytest.raises(SampleError, match="too few"):
        valley_shape_test(rows[:29])
    with pytest.raises(SampleError, match="higher than any deck"):
        scores.shape_test("valleys", np.array([60]), fair_valleys(52))

"""Counts and dice: tables that others have judged, and dice that cheat."""

from __future__ import annotations

import numpy as np
import pytest
from known_answers import VECTORS
from pitbench_hil.statistics import dice
from pitbench_hil.statistics.counts import chi_square, independence, merged
from pitbench_hil.statistics.power import chi_square_samples, counts_effect
from pitbench_hil.statistics.samples import SampleError


@pytest.mark.parametrize("table", VECTORS["dice_chi_square"], ids=lambda table: table["name"])
def test_tables_of_dice(table):
    result = chi_square(table["faces"])
    assert result.value == pytest.approx(table["chi_square"], abs=6e-4)
    assert result.p == pytest.approx(table["p"], rel=1e-9)
    assert (result.df, result.samples) == (5, sum(table["faces"]))


def test_faces_of_throws_are_counted():
    faces = VECTORS["dice_chi_square"][0]["faces"]
    throws = np.repeat(np.arange(1, 7), faces)[:, None]
    assert dice.faces(throws).value == pytest.approx(13.4)


def test_sums_of_two_dice():
    assert dice.sum_chances(2) * 36 == pytest.approx([1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1])
    every = np.array([(a, b) for a in range(1, 7) for b in range(1, 7)])
    assert dice.sums(every).value == pytest.approx(0, abs=1e-12)
    assert (dice.sums(every).df, dice.sums(every).samples) == (10, 36)


def test_a_table_of_two_by_two_by_hand():
    result = independence([[10, 20], [30, 40]])
    assert result.value == pytest.approx(100 * (10 * 40 - 20 * 30) ** 2 / (30 * 70 * 40 * 60))
    assert result.df == 1


def fair_throws(seed: int, throws: int, number: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 7, (throws, number))


def unturned(seed: int, throws: int) -> np.ndarray:
    """A die that isn't turned one time in twenty."""
    random = np.random.default_rng(seed)
    fresh, kept = random.integers(1, 7, throws), random.random(throws) < 0.05
    last_turn = np.maximum.accumulate(np.where(kept, 0, np.arange(throws)))
    return fresh[last_turn][:, None]


def test_fair_dice_are_not_failed():
    p = []
    for seed in range(100):
        throws = fair_throws(seed, 2_000)
        tests = (dice.faces, dice.sums, dice.die_against_die, dice.throw_against_next, dice.equal_faces)
        p += [test(throws).p for test in tests]
    assert min(p) > 0.01 / 500
    assert np.mean(np.array(p) < 0.1) == pytest.approx(0.1, abs=0.045)


def test_an_unturned_die_shows_in_its_consecutive_throws():
    joint = np.full((6, 6), 0.95 / 36) + np.eye(6) * 0.05 / 6
    assert chi_square_samples(counts_effect(joint.ravel()), 25, 0.001) == 5_124
    found = [unturned(seed, 5_125) for seed in range(100)]
    assert sum(dice.throw_against_next(throws).p < 0.001 for throws in found) >= 95
    assert sum(dice.equal_faces(throws).p < 0.001 for throws in found) >= 99


def test_a_face_one_point_high():
    high = np.full(6, (1 - 1 / 6 - 0.01) / 5)
    high[0] = 1 / 6 + 0.01
    assert chi_square_samples(counts_effect(high), 5, 0.001) == pytest.approx(58_400, rel=1e-3)
    random = np.random.default_rng(6)
    assert sum(chi_square(random.multinomial(58_400, high)).p < 0.001 for _ in range(100)) >= 95


def test_dice_that_go_together():
    throws = fair_throws(1, 3_000)
    throws[::10, 1] = throws[::10, 0]
    assert dice.die_against_die(throws).p < 0.001
    assert dice.faces(throws, die=1).p > 0.001


def test_rare_neighbours_are_merged_and_none_is_lost():
    found, expected = merged([1, 2, 30, 4, 1], [0.5, 2.5, 30, 4, 1])
    assert found.tolist() == [33, 5]
    assert expected.tolist() == [33, 5]
    found, expected = merged([9, 9, 1], [9, 9, 1])
    assert (found.tolist(), expected.tolist()) == ([9, 10], [9, 10])


@pytest.mark.parametrize(
    "call",
    [
        lambda: chi_square([5]),
        lambda: chi_square([0, 0]),
        lambda: chi_square([1, 2], [1, 0]),
        lambda: chi_square([1, 2], [1, 1, 1]),
        lambda: independence([[1, 0], [1, 0]]),
        lambda: independence([1, 2]),
        lambda: dice.faces([[0]]),
        lambda: dice.faces([[7]]),
        lambda: dice.faces([1, 2]),
        lambda: dice.equal_faces([[1]]),
    ],
)
def test_what_cannot_be_judged_is_refused(call):
    with pytest.raises(SampleError):
        call()

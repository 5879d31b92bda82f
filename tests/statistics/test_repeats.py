"""The birthday bound, what boots find of it, and rows that come back."""

from __future__ import annotations

import machines
import numpy as np
import pytest
from pitbench_hil.statistics import repeats, shuffles
from pitbench_hil.statistics.samples import SampleError


def test_an_even_chance_of_a_repeat():
    assert repeats.even_chance_draws(16) == pytest.approx(301, abs=1)
    assert repeats.even_chance_draws(32) == pytest.approx(77_160, rel=1e-3)
    # The birthdays themselves.
    assert repeats.even_chance_draws(np.log2(365)) == 23


@pytest.mark.parametrize(("draws", "space"), [(2, 2), (10, 100), (23, 365), (300, 65_536)])
def test_the_chance_of_a_repeat_is_that_of_its_product(draws, space):
    exact = 1 - np.prod(1 - np.arange(draws) / space)
    assert repeats.repeat_chance(draws, np.log2(space)) == pytest.approx(exact, rel=0.12 if space < 10 else 2e-3)


def test_more_draws_than_there_are_outcomes_repeat():
    assert repeats.repeat_chance(5, 2) == 1.0


def test_the_seed_space_that_boots_find():
    assert repeats.seed_bits_found(1_000) == pytest.approx(16.7, abs=0.05)
    assert repeats.seed_bits_found(10_000) == pytest.approx(23.4, abs=0.05)
    for boots in (1_000, 10_000):
        assert repeats.repeat_chance(boots, repeats.seed_bits_found(boots)) == pytest.approx(0.99, abs=5e-4)
    with pytest.raises(SampleError, match="One boot"):
        repeats.seed_bits_found(1)


def test_boots_with_sixteen_bits_of_seed_are_found():
    random = np.random.default_rng(16)
    found = [repeats.repeats(random.integers(65_536, size=(1_000, 1))) for _ in range(200)]
    assert np.mean([number > 0 for number in found]) >= 0.99
    assert repeats.seed_bits_estimated(200_000, 200 * int(np.mean(found) * 200)) == pytest.approx(16, abs=1)


def test_repeated_orders_are_counted_once_each():
    decks = machines.fair(np.random.default_rng(1), 1_000)
    assert repeats.repeats(decks) == 0
    assert repeats.repeats(np.concatenate([decks, decks[:7], decks[:2]])) == 9
    assert shuffles.order_repeat_test(decks).p == 1.0
    assert shuffles.order_repeat_test(np.concatenate([decks, decks[:1]])).p < 1e-60


def test_rows_with_equal_digests_are_compared(monkeypatch):
    monkeypatch.setattr(repeats, "_digests", lambda table: np.zeros(len(table), np.uint64))
    decks = machines.fair(np.random.default_rng(2), 50)
    assert repeats.repeats(np.concatenate([decks, decks[:3]])) == 3


def test_no_repeat_is_only_a_bound():
    with pytest.raises(SampleError, match="only a bound"):
        repeats.seed_bits_estimated(1_000, 0)

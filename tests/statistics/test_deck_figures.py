"""Known figures of fair decks, shelf machines and riffles; each statistic against its definition on small decks."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import machines
import numpy as np
import pytest
from known_answers import FAIR, VECTORS
from pitbench_hil.statistics import (
    adjacency,
    cycles,
    fixed_points,
    guessing,
    harmonic,
    orders,
    riffles,
    samples,
    scores,
    shelves,
    valleys,
)
from pitbench_hil.statistics.health import adaptive_proportion, repetition_count

SHELVES = {int(number): row for number, row in VECTORS["shelf_shuffler_52"].items()}
EVERY_6 = np.array(list(permutations(range(6))), np.uint8)


def test_valleys_of_a_fair_deck():
    fair = valleys.fair_valleys(52)
    assert scores.mean(fair) == pytest.approx(FAIR["mean_valleys"], abs=1e-12)
    assert scores.variance(fair) == pytest.approx(FAIR["var_valleys"], abs=1e-9)
    assert scores.tails(fair, 1, 9)[0] == pytest.approx(FAIR["p_valleys_at_most_9"], rel=1e-12)
    assert sum(valleys.orders_by_valleys(52)) == math.factorial(52)


def by_hand(deck: tuple[int, ...]) -> dict[str, int]:
    inner = range(1, len(deck) - 1)
    return {
        "valleys": sum(deck[at - 1] > deck[at] < deck[at + 1] for at in inner),
        "peaks": sum(deck[at - 1] < deck[at] > deck[at + 1] for at in inner),
        "rising": 1 + sum(deck.index(card + 1) < deck.index(card) for card in range(len(deck) - 1)),
        "cycles": len({min(orbit(deck, card)) for card in deck}),
    }


def orbit(deck: tuple[int, ...], card: int) -> list[int]:
    cards = [card]
    while deck[cards[-1]] != card:
        cards.append(deck[cards[-1]])
    return cards


def test_scores_are_those_of_their_definition_on_every_deck_of_six():
    found = {
        "valleys": valleys.valleys(EVERY_6),
        "peaks": valleys.peaks(EVERY_6),
        "rising": riffles.rising_sequences(EVERY_6),
        "cycles": cycles.cycles(EVERY_6),
    }
    for at, deck in enumerate(EVERY_6.tolist()):
        assert {name: int(row[at]) for name, row in found.items()} == by_hand(tuple(deck))


@pytest.mark.parametrize(
    ("scored", "chances"),
    [
        (valleys.valleys, valleys.fair_valleys),
        (valleys.peaks, valleys.fair_valleys),
        (riffles.rising_sequences, riffles.fair_rising),
        (cycles.cycles, harmonic.harmonic_chances),
    ],
    ids=["valleys", "peaks", "rising sequences", "cycles"],
)
def test_fair_distributions_are_those_of_every_deck_of_six(scored, chances):
    counts = np.bincount(scored(EVERY_6), minlength=chances(6).size)
    assert counts / 720 == pytest.approx(chances(6))


@pytest.mark.parametrize("number", SHELVES)
def test_a_shelf_machine(number):
    row, chances = SHELVES[number], shelves.shelf_valleys(number, 52)
    assert shelves.total_variation(number) == pytest.approx(row["total_variation"], abs=6e-5)
    assert scores.mean(chances) == pytest.approx(row["mean_valleys"], abs=6e-4)
    assert guessing.shelf_guesses(number) == pytest.approx(row["optimal_correct_guesses"], abs=6e-4)
    assert chances.sum() == pytest.approx(1, abs=1e-12)


def test_chances_of_a_shelf_machine_are_those_of_every_way_to_deal():
    """Three cards on two shelves: each of 4^3 ways, dealt from below."""
    ways: Counter[tuple[int, ...]] = Counter()
    for way in range(4**3):
        piles: list[list[int]] = [[], []]
        for card in (2, 1, 0):
            where = way // 4**card % 4
            piles[where // 2].insert(0 if where % 2 else 99, card)
        ways[tuple(piles[0] + piles[1])] += 1
    chances = shelves.order_chances(2, 3)
    for deck in permutations(range(3)):
        assert chances[by_hand(deck)["valleys"]] == Fraction(ways[deck], 4**3)


def test_guesses_at_a_fair_deck():
    chances = harmonic.harmonic_chances(52)
    assert guessing.fair_guesses() == pytest.approx(FAIR["optimal_correct_guesses"], abs=1e-12)
    assert scores.mean(chances) == pytest.approx(FAIR["optimal_correct_guesses"], abs=1e-12)
    assert math.sqrt(scores.variance(chances)) == pytest.approx(1.7065, abs=5e-5)


def best_by_search(chances: tuple[Fraction, ...], cards: int) -> Fraction:
    """Right guesses of the best player, by looking at every deck that begins with the cards seen."""
    weight = {deck: chances[by_hand(deck)["valleys"]] for deck in permutations(range(cards))}

    def from_here(seen: tuple[int, ...]) -> Fraction:
        left = [card for card in range(cards) if card not in seen]
        if not left:
            return Fraction(0)
        share = [sum(w for deck, w in weight.items() if deck[: len(seen) + 1] == (*seen, card)) for card in left]
        return max(share) + sum((from_here((*seen, card)) for card in left), Fraction(0))

    return from_here(())


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_the_best_player_is_the_best_of_all(number):
    best = best_by_search(shelves.order_chances(number, 5), 5)
    assert guessing.shelf_guesses(number, 5) == pytest.approx(float(best), abs=1e-12)


def test_the_best_player_does_as_well_as_computed():
    random = np.random.default_rng(7)
    right = guessing.right_guesses(machines.shelves(random, 20_000, 10), 10)
    assert right.mean() == pytest.approx(SHELVES[10]["optimal_correct_guesses"], abs=0.06)
    fair = guessing.right_guesses(machines.fair(random, 20_000), 10)
    assert fair.mean() == pytest.approx(FAIR["optimal_correct_guesses"], abs=0.05)
    assert fair.std() == pytest.approx(1.7065, abs=0.03)


def test_right_guesses_of_every_deck_are_spread_as_the_player_expects():
    right = guessing.right_guesses(EVERY_6, 2)
    weight = np.array([float(shelves.order_chances(2, 6)[v]) for v in valleys.valleys(EVERY_6)])
    assert np.dot(right, weight) == pytest.approx(guessing.shelf_guesses(2, 6), abs=1e-12)
    assert np.bincount(right, minlength=7) / 720 == pytest.approx(harmonic.harmonic_chances(6))


def test_riffles():
    found = [riffles.total_variation(number) for number in range(1, 11)]
    assert found == pytest.approx(VECTORS["riffle_total_variation_52"], abs=1e-6)
    assert scores.mean(riffles.fair_rising(52)) == pytest.approx(53 / 2)
    assert scores.variance(riffles.fair_rising(52)) == pytest.approx(53 / 12)
    assert riffles.riffled_rising(1)[3:].sum() == 0


def test_riffled_decks_have_the_rising_sequences_that_the_formula_has():
    found = riffles.rising_sequences(machines.riffles(np.random.default_rng(3), 20_000, 4))
    assert found.mean() == pytest.approx(scores.mean(riffles.riffled_rising(4)), abs=0.04)


def test_fixed_points():
    assert fixed_points.no_fixed_point_chance(52) == pytest.approx(FAIR["p_no_fixed_point"], abs=1e-12)
    assert fixed_points.without_fixed_point(EVERY_6) == 265
    assert fixed_points.no_fixed_point_chance(6) == pytest.approx(265 / 720)


def test_differences_have_the_covariance_that_their_test_divides_by():
    """On every deck of six: the mean of the statistic is its degrees of freedom."""
    each = [adjacency.difference_counts(deck[None]) for deck in EVERY_6]
    inverse = [adjacency.separation_counts(np.argsort(deck)[None].astype(np.uint8)) for deck in EVERY_6]
    assert np.array_equal(each, inverse)
    assert np.mean(each, axis=0) == pytest.approx(1)
    covariance = np.cov(np.array(each).T, bias=True)
    identity, reverse = np.eye(5), np.eye(5)[::-1]
    assert covariance == pytest.approx((6 * identity - 1 - reverse) / 5)
    assert np.mean([adjacency._value(counts - 1.0, 6) for counts in each]) == pytest.approx(4)


@pytest.mark.parametrize("decks", VECTORS["log2_distinct_orders"])
def test_orders(decks):
    bits = VECTORS["log2_distinct_orders"][decks]
    assert orders.log2_orders(int(decks)) == pytest.approx(bits, abs=0.05)
    assert not orders.every_order_fits(128, int(decks))
    assert orders.every_order_fits(256, int(decks)) == (decks == "1")


def test_the_naive_swap_of_three_cards_by_all_its_ways():
    ways: Counter[str] = Counter()
    for way in range(27):
        deck = [1, 2, 3]
        for at in range(3):
            other = way // 3**at % 3
            deck[at], deck[other] = deck[other], deck[at]
        ways["".join(map(str, deck))] += 1
    assert ways == VECTORS["naive_swap_n3_of_27"]
    decks = machines.naive_swap(np.random.default_rng(1), 27_000, 3)
    found = Counter("".join(str(card + 1) for card in deck) for deck in decks.tolist())
    assert {deck: n / 1_000 for deck, n in found.items()} == pytest.approx(VECTORS["naive_swap_n3_of_27"], rel=0.06)


def test_health_cut_offs():
    table = VECTORS["health_test_cutoffs_alpha_2^-20"]
    for name, cut_off in table["repetition_count"].items():
        assert repetition_count(float(name[2:])) == cut_off
    for name, cut_off in table["adaptive_proportion_1024_binary"].items():
        assert adaptive_proportion(float(name[2:]), 1024) == cut_off
    for name, cut_off in table["adaptive_proportion_512"].items():
        assert adaptive_proportion(float(name[2:]), 512) == cut_off


@pytest.mark.parametrize("decks", [1, 3, 200, 4_000])
def test_chances_of_a_total_are_those_of_its_moments(decks):
    fair = valleys.fair_valleys(52)
    start, spread = scores.total_chances(fair, decks)
    totals = start + np.arange(spread.size)
    assert spread.sum() == pytest.approx(1, abs=1e-9)
    assert np.dot(totals, spread) == pytest.approx(decks * 50 / 3, rel=1e-9)
    assert np.dot((totals - decks * 50 / 3) ** 2, spread) == pytest.approx(decks * 106 / 45, rel=1e-6)


def test_both_ways_to_a_total_give_the_same_tails(monkeypatch):
    fair = harmonic.harmonic_chances(52)
    exact = scores.tails(fair, 60, 330)
    monkeypatch.setattr(scores, "_TERM_BY_TERM", 0)
    assert scores.tails(fair, 60, 330) == pytest.approx(exact, rel=1e-6)


def test_a_total_far_beyond_what_is_looked_at_has_no_chance_and_no_error():
    fair = valleys.fair_valleys(52)
    assert max(min(scores.tails(fair, 100_000, 0)), min(scores.tails(fair, 100_000, 2_500_000))) <= 1e-12


def test_orders_relative_to_the_order_before():
    before, after = np.array([7, 3, 9, 5]), np.array([[3, 5, 7, 9], [7, 3, 9, 5]])
    assert samples.relative(before, after).tolist() == [[1, 3, 0, 2], [0, 1, 2, 3]]
    assert samples.relative(np.tile(before, (2, 1)), after).tolist() == [[1, 3, 0, 2], [0, 1, 2, 3]]
    with pytest.raises(samples.SampleError, match="not the cards before"):
        samples.relative(before, [[3, 5, 7, 8]])


@pytest.mark.parametrize(
    ("decks", "words"),
    [
        ([0, 1, 2], "rows"),
        ([[0.0, 1.0, 2.0]], "rows"),
        ([[1, 0]], "three or more"),
        (np.zeros((0, 52), np.uint8), "too few"),
        ([[0, 1, 1]], "each card"),
        ([[1, 2, 3]], "each card"),
        ([[-1, 0, 1]], "each card"),
        ([[*range(69), 68]], "each card"),
    ],
)
def test_what_is_no_deck_is_refused(decks, words):
    with pytest.raises(samples.SampleError, match=words):
        samples.decks_of(decks)


def test_six_decks_in_one_are_judged_too():
    decks = np.tile(np.arange(312, dtype=np.uint16), (6, 1))
    decks = np.random.default_rng(4).permuted(decks, axis=1)
    assert valleys.valley_test(decks).p > 0.001
    assert cycles.cycle_test(decks).p > 0.001
    assert riffles.rising_test(decks).p > 0.001
    assert adjacency.adjacency_test(decks).p > 0.001
    assert guessing.guessing_test(decks, 20).p > 0.001

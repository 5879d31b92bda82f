"""13:69E-1.28X(g), 1.28G(b)2 and (c)1, 2: the declared generator draws, once a game, and what it draws is dealt."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from pitbench_hil.check import Check
from pitbench_hil.declared_generator import Declared, cycles_before, cycles_until
from pitbench_hil.fed import newly_fed, set_as_declared
from pitbench_hil.generator_checks import IDLE
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.shuffler_fed import dealt_as_drawn

HIGH_ON_TOP = bytes(sorted(DECK, key=lambda card: -(card % 13)))


def places_off(declared: Declared, order: list[int]) -> int:
    """Places at which an order differs from the next one of the reference: all of them, or none."""
    return 0 if cycles_before(declared, order, IDLE) is not None else len(order)


# -- X(g)


# What is done before a draw; those with a proof take a challenge from the same source.
DEEDS: dict[str, Callable[[ShufflerBench], object]] = {
    "nothing": lambda bench: None,
    "a new deck in the hopper": lambda bench: bench.load(DECK),
    "another order behind it": lambda bench: bench.load(DECK[::-1]),
    "New Year of 2038": lambda bench: bench.do("calendar", set=2145916800),
    "calendar unknown": lambda bench: bench.do("calendar", set=None),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "another game": {"game": "baccarat", "hand": 3},
    "cards not recognised": {"recognise": False},
    "continuous": {"continuous": True},
    "a joker": {"jokers": 1},
    "eight decks": {"decks": 8},
    "one deck again": {"decks": 1, "jokers": 0},
}


@rule("NJ-1.28X(g)/order-is-the-generators")
def test_nothing_else_has_a_part_in_an_order(fresh: ShufflerBench, check: Check) -> None:
    declared, off = newly_fed(fresh, "games"), 0
    for deed, do in DEEDS.items():
        check.stimulus("order drawn", after=deed)
        do(fresh)
        off += places_off(declared, fresh.orders(1)[0].tolist())
    check.measure("other_places", off)


@rule("NJ-1.28X(g)/order-is-the-generators")
@needs("access")
def test_no_setting_has_a_part_in_an_order(fresh: ShufflerBench, check: Check) -> None:
    declared, off = newly_fed(fresh, "settings"), 0
    fresh.commission("technician")
    for deed, settings in SETTINGS.items():
        check.stimulus("order drawn", after=deed)
        now = set_as_declared(fresh, declared, **settings)
        off += places_off(declared, fresh.orders(1, now["decks"] * (52 + now["jokers"]))[0].tolist())
    check.measure("other_places", off)


# -- (b)2, (c)1


def by_hand(bench: ShufflerBench) -> None:
    """Hand by hand."""
    bench.deal_all()


def by_card(bench: ShufflerBench) -> None:
    """Card by card, the rest by hand."""
    for _ in range(6):
        bench.press("deal")
        bench.until("ready", "error", within=4000)
    bench.deal_all()


def unloaded(bench: ShufflerBench) -> None:
    """Not dealt at all."""
    bench.press("unload")
    bench.until("idle", "error", within=400_000, step=5000)


def _mixed(seed: int) -> bytes:
    return bytes(random.Random(seed).sample(DECK, len(DECK)))


# The cards as they go in, and how they come out. So many in a row that what is done at each twentieth shows.
GAMES: list[tuple[bytes, Callable[[ShufflerBench], None]]] = [
    (DECK, by_hand), (DECK[::-1], by_card), (HIGH_ON_TOP, by_hand), (_mixed(1), unloaded),
    *((_mixed(number), by_hand) for number in range(2, 24)),
]  # fmt: skip


@rule("NJ-1.28G(c)1/out-as-drawn", "NJ-1.28G(b)2/at-every-game", "NJ-1.28X(g)/order-is-the-generators")
def test_games_in_a_row_come_out_as_drawn(fresh: ShufflerBench, check: Check) -> None:
    declared, without_draw, off = newly_fed(fresh, "dealt"), 0, 0
    for cards, out in GAMES:
        check.stimulus("deck shuffled", out=out.__doc__)
        games = fresh.status()["games"]
        fresh.shuffle(cards)
        status = fresh.status()
        check.expect("state", status["state"], "ready")
        check.expect("draws that the device counted", status["draws"], len(cards) - 1)
        without_draw += status["games"] != games + 1
        out(fresh)
        dealt = fresh.tray()
        fresh.do("take")
        check.expect("the same cards", sorted(dealt), sorted(cards))
        order = [dealt.index(card) if card in dealt else -1 for card in cards]
        off += (wrong := places_off(declared, order))
        without_draw += wrong > 0
    dealt_as_drawn(check, off)
    check.measure("games_without_draw", without_draw, rule="NJ-1.28G(b)2/at-every-game")


@rule("NJ-1.28G(c)1/out-as-drawn", "NJ-1.28X(g)/order-is-the-generators")
@needs("access")
def test_a_shoe_of_two_decks_comes_out_as_drawn(fresh: ShufflerBench, check: Check) -> None:
    declared = newly_fed(fresh, "shoe")
    fresh.commission("technician")
    set_as_declared(fresh, declared, decks=2, hand=13)
    cards = DECK + DECK[::-1]
    check.stimulus("two decks shuffled and dealt")
    fresh.shuffle(cards)
    dealt = fresh.deal_all()
    dealt_as_drawn(check, shoe_off(declared, cards, dealt))


def shoe_off(declared: Declared, cards: bytes, dealt: bytes) -> int:
    """Cards of two alike can't be told apart: the faces in the slots are compared."""

    def fits(order: list[int]) -> bool:
        faces = dict(zip(order, cards, strict=True))
        return bytes(faces[slot] for slot in range(len(cards))) == dealt

    found = cycles_until(declared, lambda generator: generator.order(len(cards)), fits, IDLE)
    return len(cards) if found is None else 0


# -- (c)2

DRAWS = 200


@rule("NJ-1.28G(c)2/one-draw", "NJ-1.28X(g)/order-is-the-generators")
def test_one_draw_a_game(fresh: ShufflerBench, check: Check) -> None:
    declared = newly_fed(fresh, "once")
    check.stimulus("orders drawn in a row", orders=DRAWS)
    drawn = fresh.orders(DRAWS).tolist()
    other = next((number for number, order in enumerate(drawn) if places_off(declared, order)), None)
    check.note("the first order that is another than the reference's", number=other)
    draws = fresh.status()["draws"]
    check.note("draws that the device counted for the last", draws=draws)
    check.measure("other_orders", 0 if other is None else DRAWS - other, rule="NJ-1.28G(c)2/one-draw")
    check.measure("draws_beyond_one", abs(draws - (len(DECK) - 1)), rule="NJ-1.28G(c)2/one-draw")
    check.measure("other_places", 0 if other is None else len(DECK), rule="NJ-1.28X(g)/order-is-the-generators")

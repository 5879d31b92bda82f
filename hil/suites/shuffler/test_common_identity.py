"""13:69E-1.28(h): the device does what its identity says, and its version is one, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pitbench.image import Image
from pitbench.link import LinkError
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.claims import calendar_works, clock_works, expect_kept, says_bench, still_clock_works
from pitbench_hil.marks import images, needs, rule
from pitbench_hil.prototype import expect_one_version
from pitbench_hil.shuffler import BOXED, DECK, FOREIGN_BACK, JOKER, RECEIPT, UNREADABLE, ShufflerBench
from pitbench_hil.shuffler_decks import deck
from pitbench_hil.shuffler_moves import afresh, hand_back

Trial = Callable[[ShufflerBench], bool]
LEAST_SETTINGS = {"game": "g", "decks": 1, "jokers": 0, "hand": 1, "recognise": True, "continuous": False}
MOST_SETTINGS = {"game": "g" * 24, "decks": 8, "jokers": 2, "hand": 13, "recognise": False, "continuous": True}


def cards_work(bench: ShufflerBench) -> bool:
    """A deck comes out whole, in another order."""
    dealt = bench.game()
    return sorted(dealt) == sorted(DECK) and dealt != DECK


def doors_work(bench: ShufflerBench) -> bool:
    """Each door that is opened is noticed, until it is closed and cleared."""
    for door, name in (("service", "service_door"), ("shroud", "shroud")):
        bench.door(door, is_open=True)
        noticed = bench.status()["standing"]
        bench.door(door, is_open=False)
        bench.clear()
        if noticed != [name] or bench.status()["standing"]:
            return False
    return True


def camera_works(bench: ShufflerBench) -> bool:
    """Of a deck with two aces of spades and no king of clubs, both are named."""
    status = bench.shuffle(DECK[:-1] + DECK[:1])
    bench.clear()
    bench.unload()
    return "KC" in status["message"] and "AS" in status["message"]


def display_works(bench: ShufflerBench) -> bool:
    """What it displays is another text once a door is open."""
    before = bench.status()["message"]
    bench.door("shroud", is_open=True)
    message = bench.status()["message"]
    bench.door("shroud", is_open=False)
    bench.clear()
    return message != before and "shroud" in message.lower()


def access_works(bench: ShufflerBench) -> bool:
    """The history is for who proves a role."""
    bench.commission()
    return refusal(bench.do, "history", role="technician", proof="") == "auth" and isinstance(bench.history(), list)


def receipt_works(bench: ShufflerBench) -> bool:
    """A game's cards have a receipt."""
    bench.game()
    made = bench.do("receipt", **RECEIPT)
    return made["total"] == len(DECK) and made["result"] == "passed"


def store_fault_works(bench: ShufflerBench) -> bool:
    """A write that is made to fail is a memory error."""
    bench.do("store_fault", at=1, how="full")
    bench.shuffle()
    broken = "memory_error" in bench.status()["standing"]
    afresh(bench)
    return broken


def draw_works(bench: ShufflerBench) -> bool:
    """Orders are drawn without a card, each whole."""
    return all(sorted(order) == list(DECK) for order in bench.orders(3).tolist()) and len(bench.words(8)) == 8


def raw_entropy_works(bench: ShufflerBench) -> bool:
    """A source that is stuck at the bench's word gives no challenge."""
    bench.do("entropy", how="stuck")
    dead = refusal(bench.do, "challenge")
    afresh(bench)
    return dead == "entropy"


def rescaling_works(bench: ShufflerBench) -> bool:
    """Of 256 words six outcomes come 42 times each, and four are rejected."""
    found = bench.rescale(6, range(256))
    return [found.count(outcome) for outcome in range(6)] == [42] * 6 and found.count(None) == 4


TRIALS: dict[str, Trial] = {
    "cards": cards_work,
    "doors": doors_work,
    "camera": camera_works,
    "lcd": display_works,
    "access": access_works,
    "receipt": receipt_works,
    "plant": cards_work,
    "bench": says_bench,
    "advance": clock_works,
    "calendar": calendar_works,
    "still_clock": still_clock_works,
    "store_fault": store_fault_works,
    "draw": draw_works,
    "raw_entropy": raw_entropy_works,
    "rescaling": rescaling_works,
}


@rule("NJ-1.28(h)/as-represented")
def test_identity_does_not_overstate(bench: ShufflerBench, check: Check) -> None:
    claims = {f"cap {cap}": TRIALS.get(cap) for cap in bench.link.hello()["caps"]}
    expect_kept(check, bench, claims, lambda: afresh(bench))


@rule("NJ-1.28(h)/as-represented")
def test_settings_are_taken_as_far_as_they_are_declared(bench: ShufflerBench, check: Check) -> None:
    bench.commission()
    overstated = 0
    for settings in (MOST_SETTINGS, LEAST_SETTINGS):
        for name, value in settings.items():
            check.stimulus("declared setting made", name=name, value=value)
            taken = answer_to(bench, name, value)
            check.expect(f"{name} {value}", taken, "")
            overstated += taken != ""
    for name, value in (("decks", 0), ("decks", 9), ("jokers", 3), ("hand", 0), ("hand", 14), ("speed", 1)):
        check.expect(f"{name} {value}", answer_to(bench, name, value), "refused")
    check.measure("overstated", overstated)


def answer_to(bench: ShufflerBench, name: str, value: object) -> str:
    """The error code for a setting, "" where it was taken."""
    try:
        return "" if bench.configure(**{name: value})[name] == value else "another value"
    except LinkError as error:
        return error.code


def hand_of(cards: int) -> Trial:
    """The cards of a hand, neither more nor fewer, each time."""

    def works(bench: ShufflerBench) -> bool:
        bench.configure(hand=cards)
        bench.shuffle()
        for hands in (1, 2):
            bench.press("hand")
            bench.until("ready", "error", within=20_000, step=1000)
            if len(bench.tray()) != hands * cards:
                return False
        return True

    return works


def deck_of(right: bytes, wrong: bytes, **settings: Any) -> Trial:
    """With these settings one deck is taken, and another isn't."""

    def works(bench: ShufflerBench) -> bool:
        bench.configure(**settings)
        if bench.shuffle(right)["state"] != "ready":
            return False
        bench.unload()
        return bool(bench.shuffle(wrong)["state"] == "error")

    return works


def takes_back(*, continuous: bool) -> Trial:
    """Dealt cards go back into the rack, or stay where they were laid."""

    def works(bench: ShufflerBench) -> bool:
        bench.configure(continuous=continuous)
        bench.shuffle()
        hand_back(bench)
        inside = bench.status()["inside"]
        bench.press("start")
        bench.until("ready", "error", within=20_000, step=1000)
        return bool(bench.status()["inside"] == inside + (5 if continuous else 0))

    return works


def named_in_history(bench: ShufflerBench) -> bool:
    """The game's name is what history calls it."""
    bench.configure(game="acme 21")
    bench.game()
    return bool(bench.history()[-1][2] == "acme 21")


# What a setting says -> whether it does so, on a new device that is commissioned.
EFFECTS: dict[str, Trial] = {
    **{f"hand {cards}": hand_of(cards) for cards in (1, 3, 13)},
    "decks 1": deck_of(deck(), deck(2), decks=1),
    "decks 2": deck_of(deck(2), deck(), decks=2),
    "decks 4": deck_of(deck(4), deck(3), decks=4),
    "jokers 0": deck_of(deck(), deck(1, 1), jokers=0),
    "jokers 1": deck_of(deck(1, 1), deck(), jokers=1),
    "jokers 2": deck_of(deck(1, 2), deck(1, 1), jokers=2),
    "recognise true": deck_of(DECK, DECK[:-1] + DECK[:1], recognise=True),
    "recognise false": deck_of(DECK[:-1] + DECK[:1], DECK[:-1], recognise=False),
    "continuous true": takes_back(continuous=True),
    "continuous false": takes_back(continuous=False),
    "game": named_in_history,
}


@rule("NJ-1.28(h)/as-represented")
@needs("access", "cards")
@pytest.mark.parametrize("setting", EFFECTS)
def test_a_setting_does_what_it_says(bench: ShufflerBench, check: Check, setting: str) -> None:
    bench.commission()
    check.stimulus("set, and tried", setting=setting)
    kept = EFFECTS[setting](bench)
    check.expect(setting, kept, True)
    check.measure("overstated", int(not kept))


UNDECLARED = {
    "a joker": DECK + bytes([JOKER]),
    "two decks": DECK * 2,
    "a card of another make": DECK[:-1] + bytes([DECK[-1] | FOREIGN_BACK]),
    "a card face up": DECK[:-1] + bytes([DECK[-1] | BOXED]),
    "a card that can't be read": DECK[:-1] + bytes([UNREADABLE]),
}


@rule("NJ-1.28(h)/as-represented")
@pytest.mark.parametrize("cards", UNDECLARED.values(), ids=UNDECLARED)
def test_what_is_not_declared_is_not_taken(bench: ShufflerBench, check: Check, cards: bytes) -> None:
    check.stimulus("cards of no configured game", count=len(cards))
    check.expect("state", bench.shuffle(cards)["state"], "error")
    for button in ("deal", "hand", "start"):
        bench.press(button)
    bench.advance(5000)
    check.expect("cards dealt", len(bench.tray()), 0)
    check.measure("overstated", 0)


@rule("NJ-1.28(h)/version-matches")
@images("bench", "release")
def test_version_is_one(fresh: ShufflerBench, check: Check, image: Image) -> None:
    expect_one_version(check, fresh.board, image)
    check.expect("protocol", fresh.link.identity["wire"], "gat")
    check.stimulus("power cycle")
    fresh.cut()
    fresh.power_on()
    expect_one_version(check, fresh.board, image)

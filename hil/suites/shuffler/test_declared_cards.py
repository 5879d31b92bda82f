"""13:69E-1.28(h): settings do what they say, and cards that no setting declares aren't taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pitbench_hil.check import Check
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import BOXED, DECK, FOREIGN_BACK, JOKER, UNREADABLE, ShufflerBench
from pitbench_hil.shuffler_decks import deck
from pitbench_hil.shuffler_moves import hand_back

Trial = Callable[[ShufflerBench], bool]


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

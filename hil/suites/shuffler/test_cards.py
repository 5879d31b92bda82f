"""13:69E-1.17 and 1.18A(c)2ii: right decks are released, wrong ones found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench_hil.acts import afresh
from pitbench_hil.check import Check
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import BOXED, DECK, FOREIGN_BACK, JOKER, ShufflerBench
from pitbench_hil.shuffler_decks import deck, without
from pitbench_hil.shuffler_errors import another_of_the_rack, one_more
from pitbench_hil.shuffler_moves import dealt, press_all, recycle, to_continuous

WRONG = "NJ-1.18A(c)2ii/wrong-deck"
QUEEN, SEVEN = 11, 19
TOP_MIDDLE_BOTTOM = (51, 25, 0)
# Part of the rule -> (jokers set, cards).
# Decks set -> cards in which one is missing and another is once more than in the decks.
TWICE: dict[int, bytes] = {decks: without(deck(decks), SEVEN) + bytes([QUEEN]) for decks in (2, 3, 8)}
WRONG_DECKS: dict[str, tuple[tuple[int, bytes], ...]] = {
    "missing": ((0, without(DECK, SEVEN)), (0, without(DECK, 0, 51)), (1, without(deck(1, 1), SEVEN))),
    "extra": ((0, DECK + bytes([QUEEN])), (1, deck(1, 1) + bytes([SEVEN])), (0, DECK + DECK[:12])),
    "duplicate": ((0, without(DECK, SEVEN) + bytes([QUEEN])), (0, bytes(26) + DECK[26:])),
    "exchanged": ((0, without(DECK, SEVEN) + bytes([JOKER])), (1, without(deck(1, 1), QUEEN) + bytes([JOKER]))),
    "joker-missing": ((1, DECK), (2, deck(1, 1)), (1, DECK + bytes([QUEEN]))),
    "joker-too-many": ((0, deck(1, 1)), (1, deck(1, 2)), (2, deck(1, 3))),
}
HANDS = 11
RIGHT = ((1, 0), (1, 1), (1, 2), (2, 0), (6, 0), (8, 2))


def released(bench: ShufflerBench, cards: bytes) -> tuple[int, int]:
    """Shuffle and ask for cards: how many came out, and whether the deck was called right."""
    called_right = bench.shuffle(cards)["state"] == "ready"
    press_all(bench)
    return dealt(bench.truth()), called_right


def set_to(bench: ShufflerBench, decks: int, jokers: int) -> None:
    """On a new device, decks and jokers as a technician sets them."""
    afresh(bench)
    if (decks, jokers) != (1, 0):
        bench.commission("technician")
        bench.configure(decks=decks, jokers=jokers)


@pytest.mark.parametrize("part", [pytest.param(part, marks=rule(f"{WRONG}/{part}")) for part in WRONG_DECKS])
def test_wrong_deck(still: ShufflerBench, check: Check, part: str) -> None:
    cards_dealt = called_right = 0
    for jokers, cards in WRONG_DECKS[part]:
        set_to(still, 1, jokers)
        check.stimulus("a wrong deck", jokers_set=jokers, cards=cards.hex())
        out, right = released(still, cards)
        cards_dealt += out
        called_right += right
        check.note("the device says", message=still.status()["message"])
    check.measure("cards_dealt", cards_dealt)
    check.measure("called_right", called_right)


@rule(f"{WRONG}/duplicate")
@needs("access")
@pytest.mark.parametrize("decks", TWICE)
def test_one_card_too_often_in_several_decks(still: ShufflerBench, check: Check, decks: int) -> None:
    set_to(still, decks, 0)
    check.stimulus("wrong decks, the number is right", decks=decks, cards=TWICE[decks].hex())
    out, right = released(still, TWICE[decks])
    check.note("the device says", message=still.status()["message"])
    check.measure("cards_dealt", out)
    check.measure("called_right", int(right))


# The most cards that a game can have, and what is laid in beyond them: one card, and more than any rack has room for.
MOST = (8, 2)
BEYOND: dict[str, bytes] = {"one": bytes([QUEEN]), "a deck": DECK}


@rule(f"{WRONG}/extra")
@needs("access")
@pytest.mark.parametrize("beyond", BEYOND)
def test_more_cards_than_the_largest_game_has(still: ShufflerBench, check: Check, beyond: str) -> None:
    set_to(still, *MOST)
    check.stimulus("too many of eight decks with two jokers each", beyond=beyond)
    out, right = released(still, deck(*MOST) + BEYOND[beyond])
    check.note("the device says", message=still.status()["message"])
    check.measure("cards_dealt", out)
    check.measure("called_right", int(right))


# Part of the rule -> what a hand that comes back is made, and how that is told.
COME_BACK: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "duplicate": (another_of_the_rack, "cards_wrong"),
    "extra": (one_more, "count_wrong"),
    "exchanged": (lambda cards: cards[:4] + bytes([JOKER]), "cards_wrong"),
}


@pytest.mark.parametrize("part", [pytest.param(part, marks=rule(f"{WRONG}/{part}")) for part in COME_BACK])
@needs("access")
def test_wrong_cards_that_come_back(still: ShufflerBench, check: Check, part: str) -> None:
    change, told = COME_BACK[part]
    to_continuous(still)
    recycle()(still)
    check.expect("the hand that was dealt is taken back", still.until("ready", within=5000)["standing"], [])
    check.stimulus("a hand that comes back with a card that the game hasn't got", part=part)
    recycle(change)(still)
    still.advance(3000)
    status = still.status()
    check.note("the device says", message=status["message"])
    check.expect("told", status["standing"], [told])
    press_all(still)
    check.measure("cards_dealt", dealt(still.truth()))
    check.measure("called_right", int(status["state"] == "ready"))


@rule("NJ-1.18A(c)2ii/right-deck")
@needs("access")
def test_right_cards_come_back(still: ShufflerBench, check: Check) -> None:
    """Also two alike, where two decks are played, and hand after hand."""
    still.commission("technician")
    still.configure(decks=2, hand=13, continuous=True)
    still.shuffle(deck(2))
    refused = 0
    for _ in range(6):
        check.stimulus("a hand dealt, taken away and fed again")
        recycle()(still)
        still.advance(6000)
        status = still.status()
        refused += (status["state"], status["inside"]) != ("ready", 104)
    check.measure("right_decks_refused", refused)


@rule("NJ-1.18A(c)2ii/right-deck")
def test_right_decks(still: ShufflerBench, check: Check) -> None:
    refused = 0
    for decks, jokers in RIGHT:
        set_to(still, decks, jokers)
        check.stimulus("right cards", decks=decks, jokers=jokers)
        cards = deck(decks, jokers)
        ready = still.shuffle(cards)["state"] == "ready"
        # One deck to its last card, more of them as far as the second hand.
        hands = HANDS if decks == 1 else 2
        for _ in range(hands):
            still.press("hand")
            still.advance(3000)
        truth = still.truth()
        out = min(len(cards), hands * 5)
        refused += not (ready and dealt(truth) == out and truth["rack"] == len(cards) - out)
    check.measure("right_decks_refused", refused)


@pytest.mark.parametrize(
    "mark",
    [
        pytest.param(FOREIGN_BACK, marks=rule("HOUSE-foreign-back"), id="foreign-back"),
        pytest.param(BOXED, marks=rule("HOUSE-boxed-card"), id="boxed-card"),
    ],
)
def test_card_with_another_back_or_turned_over(still: ShufflerBench, check: Check, mark: int) -> None:
    cards_dealt = 0
    for place in TOP_MIDDLE_BOTTOM:
        afresh(still)
        cards = DECK[:place] + bytes([DECK[place] | mark]) + DECK[place + 1 :]
        check.stimulus("one card", place=place)
        out, right = released(still, cards)
        cards_dealt += out
        words = {FOREIGN_BACK: "foreign back", BOXED: "boxed card"}[mark]
        check.expect("called right", right, 0)
        check.expect("named", words in still.status()["message"], True)
    for place in (0, 2, 4):
        afresh(still)
        to_continuous(still)
        check.stimulus("one card of a hand that comes back", place=place)
        recycle(lambda cards, at=place: cards[:at] + bytes([cards[at] | mark]) + cards[at + 1 :])(still)  # type: ignore[misc]
        still.advance(3000)
        press_all(still)
        cards_dealt += dealt(still.truth())
        check.expect("told", still.status()["standing"], ["cards_wrong"])
        check.expect("named", words in still.status()["message"], True)
    check.measure("cards_dealt", cards_dealt)

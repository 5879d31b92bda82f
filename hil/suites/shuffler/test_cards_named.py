"""13:69E-1.18A(b)4 and (c)2iv: cards that are missing or too many are named, and receipts say what they must."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pitbench.link import LinkError
from pitbench_hil.acts import afresh
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.shuffler_decks import DOTS, SHORT, deck, faults, named, without
from pitbench_hil.shuffler_moves import STATES

NAMES = "NJ-1.18A(b)4vi/names-cards"
INSPECTION, SHUFFLING = "NJ-1.18A(b)4/receipt", "NJ-1.18A(c)2iv/receipt"
GIVEN = {"who": "B. Dealer 4711", "seal": "S-0815", "place": "Pit 3", "cards": "Cartamundi paper poker"}
NOON = 1_800_000_000
CHOICE = random.Random(20)


def picked(count: int) -> list[int]:
    return CHOICE.sample(list(DECK), count)


def wrong_decks() -> dict[str, tuple[int, bytes]]:
    """Part of the rule -> (decks set, cards)."""
    five, six = picked(5), picked(3)
    return {
        "one-missing": (1, without(DECK, *picked(1))),
        "one-extra": (1, DECK + bytes(picked(1))),
        "missing-and-extra": (1, without(DECK, six[0]) + bytes([six[1]])),
        "several": (1, without(DECK, *five[:3]) + bytes(five[3:])),
        "many": (1, DECK[:13] + DECK[26:]),
        "several-decks": (2, without(deck(2), six[0], six[0], six[1]) + bytes([six[2], six[2]])),
    }


CASES = wrong_decks()


def receipt(bench: ShufflerBench, **other: str) -> dict[str, Any]:
    """The receipt, or the refusal."""
    try:
        return bench.do("receipt", **{**GIVEN, **other})
    except LinkError as error:
        return {"refused": error.why}


@pytest.mark.parametrize("part", [pytest.param(part, marks=rule(f"{NAMES}/{part}")) for part in CASES])
def test_wrong_cards_are_named(still: ShufflerBench, check: Check, part: str) -> None:
    decks, cards = CASES[part]
    if decks > 1:
        still.commission("technician")
        still.configure(decks=decks)
    check.stimulus("a wrong deck", cards=cards.hex())
    still.shuffle(cards)
    said = {"message": str(still.status()["message"]), "receipt": str(receipt(still).get("result"))}
    check.note("the device says", **said)
    unnamed = wrongly = 0
    for where, text in said.items():
        for word, due in zip(("Missing", "Extra"), faults(cards, deck(decks)), strict=True):
            found = named(text, word)
            wrongly += (found - due).total()
            if where == "receipt" or DOTS not in text:
                unnamed += (due - found).total()
            else:
                check.expect(f"{word}: faces named before the dots", len(found), min(SHORT, len(due)))
    check.measure("unnamed", unnamed)
    check.measure("wrongly_named", wrongly)


def judge(check: Check, made: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Every field there, and right."""
    missing = [name for name in wanted if name not in made]
    wrong = [name for name in wanted if name in made and made[name] != wanted[name]]
    check.note("receipt", **made)
    check.measure("missing_fields", len(missing), unit="fields")
    check.measure("wrong_fields", len(wrong), unit="fields")
    if missing or wrong:
        check.note("not as it must be", missing=missing, wrong=wrong)


def maker(bench: ShufflerBench) -> dict[str, Any]:
    """Manufacturer, model and serial number of this board."""
    identity = bench.board.identity
    return {"manufacturer": identity["firmware"], "model": identity["device"], "serial": identity["uid"]}


@pytest.mark.parametrize("cards", [DECK, without(DECK, 7)], ids=["passed", "failed"])
@rule(INSPECTION)
def test_receipt_of_an_inspection(still: ShufflerBench, check: Check, cards: bytes) -> None:
    still.do("calendar", set=NOON)
    check.stimulus("cards inspected", cards=len(cards))
    still.shuffle(cards)
    counted = {"game": "blackjack", "decks": 1, "total": len(cards)}
    made = receipt(still)
    took = still.status()["calendar"] - made.pop("when", 0)
    check.expect("inspected within half a minute before now", 0 <= took < 30, True)
    result = made.pop("result", "")
    check.expect("result", result == "passed", cards == DECK)
    check.expect("missing", dict(named(result, "Missing")), dict(faults(cards, DECK)[0]))
    judge(check, made, {**maker(still), **counted, **GIVEN})
    for name in GIVEN:
        refused = receipt(still, **{name: ""})
        check.expect(f"without {name}: refused by that name", name in refused.get("refused", ""), True)


@rule(SHUFFLING)
def test_receipt_of_a_shuffle(still: ShufflerBench, check: Check) -> None:
    still.do("calendar", set=NOON)
    noon = still.status()["now"]
    still.shuffle()
    made = receipt(still)
    ended = next(ms for _, ms, what, _ in still.events() if what == "ready")
    when = NOON + (ended - noon) // 1000
    judge(check, made, {**maker(still), "total": 52, "decks": 1, "when": when, "who": GIVEN["who"], "shuffled": True})


@rule(SHUFFLING)
def test_receipt_with_an_unknown_date(still: ShufflerBench, check: Check) -> None:
    check.stimulus("calendar unknown")
    still.do("calendar", set=None)
    still.shuffle()
    judge(check, receipt(still), {**maker(still), "total": 52, "decks": 1, "when": None, "shuffled": True})


@rule(SHUFFLING)
def test_no_receipt_of_a_shuffle_that_did_not_end(still: ShufflerBench, check: Check) -> None:
    """Also not the one of the deck before."""
    still.game()
    check.stimulus("door opened in the next shuffle")
    STATES["shuffling"](still)
    still.door("shroud", is_open=True)
    check.expect("aborted in a shuffle", "refused" in receipt(still), True)
    afresh(still)
    still.shuffle()
    still.door("shroud", is_open=True)
    check.expect("aborted afterwards: not called shuffled", bool(receipt(still).get("shuffled")), False)
    afresh(still)
    still.shuffle()
    judge(check, receipt(still), {**maker(still), "total": 52, "shuffled": True})

"""What a card shuffler says to who proves a role: history, settings, the receipt."""

from __future__ import annotations

import hmac
from types import SimpleNamespace
from typing import Any

import pytest
from desk import Source
from device.access import Access
from link import cards, service, settings
from link.frame import Refused
from shuffler_bench import DECK, Desk

SECRETS = {"attendant": "11" * 16, "technician": "22" * 16, "regulator": "33" * 16}


class Door:
    """A commissioned shuffler and its authorised requests."""

    def __init__(self) -> None:
        self.table = Desk().ready_for_cards()
        self.table.device.record["secrets"].update(SECRETS)
        proofs = Access(self.table.device.record["secrets"], Source(b"nonce").read)
        identity = {"firmware": "pitbench", "uid": "0011223344556677"}
        machine = SimpleNamespace(
            device=self.table.device,
            now=0,
            access=lambda: proofs,
            entropy=lambda: Source(),
            step=lambda event: self.table.step(*event),
            boot=SimpleNamespace(identity=lambda: identity),
        )
        self.cards, self.settings, self.service = (module.Ops(machine) for module in (cards, settings, service))

    def ask(self, op: str, role: str, asked: str, secret: str | None = None, **request: Any) -> dict:
        nonce = self.service._challenge({})["nonce"]
        key = bytes.fromhex(secret or SECRETS[role])
        proof = hmac.new(key, f"{nonce}|{role}|{asked}".encode(), "sha256").hexdigest()
        ops = self.settings if op == "configure" else self.cards
        return getattr(ops, "_" + op)({"do": op, "role": role, "proof": proof, **request})


def configure(door: Door, role: str, asked: str, **settings: Any) -> dict:
    return door.ask("configure", role, "configure|" + asked, set=settings)


@pytest.mark.parametrize(("role", "may"), [("attendant", False), ("technician", True), ("regulator", True)])
def test_history_is_for_who_has_the_right(role, may):
    door = Door()
    door.table.shuffle()
    for _ in range(11):
        door.table.press("hand")
        door.table.run(3000)
    if may:
        assert door.ask("history", role, "history")["games"] == [[1, None, "blackjack", 52, "dealt"]]
        assert door.table.logged[-1][4:6] == ["history_read", role]
    else:
        with pytest.raises(Refused, match="attendant may not: ask technician or regulator"):
            door.ask("history", role, "history")


def test_history_is_for_nobody_without_a_proof():
    with pytest.raises(Refused, match="does not fit"):
        Door().ask("history", "technician", "history", secret="44" * 16)


def test_only_a_technician_sets_what_is_right():
    door = Door()
    assert configure(door, "technician", "decks=2,recognise=false", decks=2, recognise=False)["settings"]["decks"] == 2
    assert door.table.commits[-1]["settings"]["decks"] == 2
    with pytest.raises(Refused, match="regulator may not"):
        configure(door, "regulator", "decks=1", decks=1)


@pytest.mark.parametrize(
    ("asked", "settings", "why"),
    [
        ("decks=9", {"decks": 9}, "decks is 1 to 8"),
        ("decks=true", {"decks": True}, "decks is no setting, or of another type"),
        ("speed=1", {"speed": 1}, "speed is no setting"),
        ('game="' + 25 * "x" + '"', {"game": 25 * "x"}, "1 to 24 printable ASCII letters"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_by_its_name(asked, settings, why):
    with pytest.raises(Refused, match=why):
        configure(Door(), "technician", asked, **settings)


def test_the_proof_covers_every_value():
    with pytest.raises(Refused, match="does not fit"):
        configure(Door(), "technician", "decks=2", decks=8)


def test_settings_stay_as_they_are_while_a_game_runs():
    door = Door()
    door.table.shuffle()
    with pytest.raises(Refused, match="a game is under way"):
        configure(door, "technician", "decks=2", decks=2)


def receipt(door: Door, **given: str) -> dict:
    return door.cards._receipt(
        {"do": "receipt", "who": "D. Ealer 7", "seal": "S1", "place": "pit 3", "cards": "Bee", **given}
    )


def test_a_receipt_says_what_was_counted_and_who_says_so():
    door = Door()
    with pytest.raises(Refused, match="no cards were counted"):
        receipt(door)
    door.table.shuffle()
    made = receipt(door)
    assert (made["serial"], made["decks"], made["total"], made["result"]) == ("0011223344556677", 1, 52, "passed")
    assert (made["who"], made["seal"], made["place"], made["cards"]) == ("D. Ealer 7", "S1", "pit 3", "Bee")
    assert made["shuffled"]
    with pytest.raises(Refused, match="seal is empty"):
        receipt(door, seal="")


def test_a_failed_inspection_names_the_cards():
    door = Door()
    door.table.shuffle(DECK[:-1])
    made = receipt(door)
    assert (made["result"], made["shuffled"]) == ("failed: 51 cards, 52 are right. Missing: KC.", False)

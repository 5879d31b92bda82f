"""A card shuffler on the bench: cards and buttons by the link's stimuli, and time that the bench lets pass.

Device time moves by `advance` and hardly by itself: every wait here is in device milliseconds.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pitbench_hil.attended_bench import ROLES, SECRETS, START_MS, STEP_MS, TECHNICIAN, AttendedBench

if TYPE_CHECKING:
    import numpy as np

# Beside its own names, those of every attended device.
__all__ = ["ROLES", "SECRETS", "START_MS", "STEP_MS", "TECHNICIAN"]

DECK = bytes(range(52))
JOKER, UNREADABLE = 52, 53
FOREIGN_BACK, BOXED = 64, 128
# A deck of 52 goes in within 13 s, and one of the card out in half a second.
CARD_MS = 250
# Cards that one line of the link can carry.
LOADED_AT_ONCE = 90
# Bytes of orders or words that one line can carry.
DRAWN_AT_ONCE = 640
# What a person gives for a receipt.
RECEIPT = {"who": "C. Dealer", "seal": "S-1", "place": "Pit 1", "cards": "paper"}


class ShufflerBench(AttendedBench):
    """Bench for one board.

    Args:
        board: an open target that runs a card shuffler.
    """

    # -- link --------------------------------------------------------------------------------

    def tray(self) -> bytes:
        """The cards that came out, in order, a byte each."""
        return bytes.fromhex(self.truth()["tray"])

    # -- what people do ------------------------------------------------------------------------

    def load(self, cards: bytes = DECK) -> None:
        """Lay cards into the hopper, the first one lowest."""
        for at in range(0, len(cards), LOADED_AT_ONCE):
            self.do("load", cards=cards[at : at + LOADED_AT_ONCE].hex())

    def door(self, which: str, *, is_open: bool) -> None:
        """Open or close the service door or the shroud."""
        self.do("door", which=which, open=is_open)

    def shuffle(self, cards: bytes = DECK) -> dict[str, Any]:
        """Load and start; returns the status once the device is at rest. Raises Unreached."""
        self.load(cards)
        self.press("start")
        return self.until("ready", "error", "idle", within=CARD_MS * (len(cards) + 8) * 2, step=1000)

    def deal_all(self) -> bytes:
        """Hand by hand until nothing is inside; returns what lies in the tray. Raises Unreached."""
        while self.status()["state"] == "ready":
            self.press("hand")
            self.until("ready", "idle", "error", within=20_000, step=1000)
        return self.tray()

    def unload(self) -> None:
        """Have whatever is inside come out, and take it away. Raises Unreached."""
        self.press("unload")
        self.until("idle", "error", within=400_000, step=5000)
        self.do("take")

    def game(self, cards: bytes = DECK) -> bytes:
        """A whole game: shuffled, dealt to the last card, taken away; returns the order that came out."""
        self.shuffle(cards)
        dealt = self.deal_all()
        self.do("take")
        return dealt

    # -- randomness ----------------------------------------------------------------------------

    def orders(self, count: int, cards: int = 52, at: int | None = None, step: int = 0) -> np.ndarray:
        """Orders drawn where a shuffle draws its own.

        Args:
            count: how many; cards: of the configured game.
            at, step: the calendar's second at the first and how much later at each other, each seeded anew.

        Returns:
            array of shape (count, cards): the slot that each card, in order of feeding, goes to.
        """
        import numpy as np

        at_once = DRAWN_AT_ONCE // (cards if cards <= 256 else cards + (cards + 7) // 8)
        parts = []
        for done in range(0, count, at_once):
            dates = {} if at is None else {"at": at + done * step, "step": step}
            decks = min(at_once, count - done)
            drawn = base64.b64decode(self.do("draw", decks=decks, **dates)["orders"])
            parts.append(unpacked(np.frombuffer(drawn, np.uint8).reshape(decks, -1), cards))
        return np.concatenate(parts)

    def words(self, count: int) -> bytes:
        """Bytes of the generator's own output."""
        sizes = [min(DRAWN_AT_ONCE, count - at) for at in range(0, count, DRAWN_AT_ONCE)]
        return b"".join(base64.b64decode(self.do("words", n=size)["words"]) for size in sizes)

    def rescale(self, n: int, words: Iterable[int]) -> list[int | None]:
        """The outcome, of `n`, of each word, None where it is rejected. Words are bytes, or 16 bits where n > 256."""
        width = 1 if n <= 256 else 2
        data = b"".join(word.to_bytes(width, "big") for word in words)
        found: list[int | None] = []
        for at in range(0, len(data), 90):
            found += self.do("rescale", n=n, words=data[at : at + 90].hex())["outcomes"]
        return found

    # -- with proof -----------------------------------------------------------------------------

    def history(self, role: str = "technician") -> list[list[Any]]:
        """The games that were: [number, calendar, game, cards dealt, end]. Raises LinkError."""
        return self.prove("history", role, "history")["games"]


def unpacked(rows: np.ndarray, cards: int) -> np.ndarray:
    """Orders as a line of the link carries them: a byte a slot, behind them the ninth bits of more than 256."""
    import numpy as np

    if cards <= 256:
        return rows
    high = np.unpackbits(rows[:, cards:], axis=1)[:, :cards]
    return rows[:, :cards] + (high.astype(np.uint16) << 8)

"""A card shuffler on the bench: cards and buttons by the link's stimuli, and time that the bench lets pass.

Device time moves by `advance` and hardly by itself: every wait here is in device milliseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pitbench_hil.declared_generator import Declared
from pitbench_hil.drawing_bench import DrawingBench

if TYPE_CHECKING:
    import numpy as np

DECK = bytes(range(52))
JOKER, UNREADABLE = 52, 53
FOREIGN_BACK, BOXED = 64, 128
# A deck of 52 goes in within 13 s, and one of the card out in half a second.
CARD_MS = 250
# Cards that one line of the link can carry.
LOADED_AT_ONCE = 90
# What a person gives for a receipt.
RECEIPT = {"who": "C. Dealer", "seal": "S-1", "place": "Pit 1", "cards": "paper"}


class ShufflerBench(DrawingBench):
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

        size = cards if cards <= 256 else cards + (cards + 7) // 8
        drawn = np.frombuffer(self.drawn_bytes(count, size, at, step), np.uint8)
        return unpacked(drawn.reshape(count, size), cards)

    def draws(self, count: int, at: int | None = None, step: int = 0) -> list[Any]:
        """Orders of one deck; arguments as for `orders`."""
        return list(self.orders(count, at=at, step=step).tolist())

    def draw_of(self, declared: Declared) -> list[int]:
        """The order of one deck, by the declared generator."""
        return declared.order(len(DECK))

    # -- proof of a role -------------------------------------------------------------------------

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

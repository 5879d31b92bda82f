"""A card shuffler on the bench: cards and buttons by the link's stimuli, and time that the bench lets pass.

Device time moves by `advance` and hardly by itself: every wait here is in device milliseconds.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pitbench.proof import asked, proof

from pitbench_hil.authority import challenge
from pitbench_hil.board_bench import BoardBench, Unreached

if TYPE_CHECKING:
    import numpy as np

DECK = bytes(range(52))
JOKER, UNREADABLE = 52, 53
FOREIGN_BACK, BOXED = 64, 128
# A deck of 52 goes in within 13 s, and one of the card out in half a second.
CARD_MS = 250
STEP_MS = 250
START_MS = 3000
# Cards that one line of the link can carry.
LOADED_AT_ONCE = 90
# Bytes of orders or words that one line can carry.
DRAWN_AT_ONCE = 640
TECHNICIAN = "technician"
SECRETS = {"attendant": "a0" * 16, "technician": "b1" * 16, "regulator": "c2" * 16}
ROLES = tuple(SECRETS)
# What a person gives for a receipt.
RECEIPT = {"who": "C. Dealer", "seal": "S-1", "place": "Pit 1", "cards": "paper"}


class ShufflerBench(BoardBench):
    """Bench for one board.

    Args:
        board: an open target that runs a card shuffler.
    """

    # -- link --------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What `status` on the link says."""
        return self.do("status")

    def tray(self) -> bytes:
        """The cards that came out, in order, a byte each."""
        return bytes.fromhex(self.truth()["tray"])

    def events(self, after: int = 0) -> list[list[Any]]:
        """What the device told since its start, as far as it remembers, behind a number: [number, ms, what, detail]."""
        rows: list[list[Any]] = []
        while page := self.do("events", after=rows[-1][0] if rows else after)["events"]:
            rows += page
        return rows

    def told(self) -> list[str]:
        """The names of those events."""
        return [row[2] for row in self.events()]

    # -- time --------------------------------------------------------------------------------

    def advance(self, ms: int = STEP_MS) -> None:
        """Let device time pass, event by event."""
        super().advance(ms)

    def until(self, *states: str, within: int, step: int = STEP_MS) -> dict[str, Any]:
        """Let time pass until the device is in one of the states; returns its status. Raises Unreached."""
        for _ in range(within // step + 1):
            status = self.status()
            if status["state"] in states:
                return status
            self.advance(step)
        raise Unreached(f"{' or '.join(states)} not reached in {within} ms: {status['state']} instead")

    # -- what people do ------------------------------------------------------------------------

    def start(self) -> None:
        """From power-up to idle. Raises Unreached.

        A fair source alarms in one start of 15,000 (1,024 bytes, four alike in a row): that start is made again.
        """
        try:
            self.until("idle", within=2 * START_MS)
        except Unreached:
            if "entropy_failed" not in self.status()["standing"]:
                raise
            self.start_after_alarm()

    def start_after_alarm(self) -> None:
        """Power off and on, cleared with the key. Raises Unreached where the source fails again."""
        self.cut()
        self.power_on()
        self.advance(START_MS)
        self.clear()
        self.until("idle", within=2 * START_MS)

    def load(self, cards: bytes = DECK) -> None:
        """Lay cards into the hopper, the first one lowest."""
        for at in range(0, len(cards), LOADED_AT_ONCE):
            self.do("load", cards=cards[at : at + LOADED_AT_ONCE].hex())

    def press(self, button: str) -> None:
        """Press a button: start, deal, hand, unload, clear."""
        self.do("press", button=button)
        self.advance(100)

    def clear(self, *, key: bool = True) -> None:
        """Clear what stands, with the key turned or without it, and let the self-test run."""
        self.do("key", turned=key)
        self.press("clear")
        self.do("key", turned=False)
        self.advance(START_MS)

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

    # -- proof of a role -------------------------------------------------------------------------

    def commission(self, *roles: str) -> None:
        """Give roles of a new board their secrets: the technician, and those it lets in (all unless named)."""
        self.do("commission", role=TECHNICIAN, secret=SECRETS[TECHNICIAN])
        for role in roles or SECRETS:
            if role != TECHNICIAN:
                self.let_in(role)

    def let_in(self, role: str) -> dict[str, Any]:
        """Give a role its secret, by the technician's authority. Raises LinkError."""
        given = {"role": role, "secret": SECRETS.get(role, "d3" * 16)}
        return self.do("commission", **given, by=TECHNICIAN, proof=self.proof(TECHNICIAN, asked("commission", given)))

    def proof(self, role: str, asked: str, secret: str | None = None) -> str:
        """The proof of a role for one request, over a new challenge."""
        return proof(bytes.fromhex(secret or SECRETS[role]), challenge(self.do), role, asked)

    def prove(self, op: str, role: str, asked: str, **args: Any) -> dict[str, Any]:
        """Ask for something that takes a proof. Raises LinkError where the device refuses."""
        return self.do(op, role=role, proof=self.proof(role, asked), **args)

    def history(self, role: str = "technician") -> list[list[Any]]:
        """The games that were: [number, calendar, game, cards dealt, end]. Raises LinkError."""
        return self.prove("history", role, "history")["games"]

    def configure(self, role: str = "technician", **settings: Any) -> dict[str, Any]:
        """Set what is to be played; commissions nobody. Raises LinkError."""
        return self.prove("configure", role, asked("configure", {"set": settings}), set=settings)["settings"]

    # -- power -----------------------------------------------------------------------------------

    def start_over_with(self, how: str, seed: str = "") -> dict[str, Any]:
        """A new board, its entropy source fed by the bench from its first word on; returns the new identity."""
        self.board.rig.entropy_at_start(how, seed)
        return self.board.start_over()

    def restart_with(self, how: str, seed: str = "") -> dict[str, Any]:
        """A cold start whose entropy source is fed by the bench from its first word on; returns the new identity."""
        self.board.rig.entropy_at_start(how, seed)
        self.cut()
        return self.power_on()


def unpacked(rows: np.ndarray, cards: int) -> np.ndarray:
    """Orders as a line of the link carries them: a byte a slot, behind them the ninth bits of more than 256."""
    import numpy as np

    if cards <= 256:
        return rows
    high = np.unpackbits(rows[:, cards:], axis=1)[:, :cards]
    return rows[:, :cards] + (high.astype(np.uint16) << 8)

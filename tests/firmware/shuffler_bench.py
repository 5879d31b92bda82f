"""A card shuffler without a board."""

from __future__ import annotations

import desk
from bench.plant.shuffler import Plant
from device import shuffler

DECK = bytes(range(52))


class Desk(desk.Attended):
    """A card shuffler and its plant."""

    module, world = shuffler, Plant

    def ready_for_cards(self) -> Desk:
        self.run(3000)
        assert self.device.state == "idle", (self.device.state, self.device.post.steps)
        return self

    def shuffle(self, cards: bytes = DECK, ms: int = 60000) -> Desk:
        self.do("load", cards=cards.hex())
        self.press("start")
        self.run(ms)
        return self

    @property
    def tray(self) -> bytes:
        return bytes(self.plant.tray)

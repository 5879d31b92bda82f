"""A card shuffler without a board."""

from __future__ import annotations

import hashlib
from typing import Any

import desk
from bench.plant.shuffler import Plant
from device import shuffler

DECK = bytes(range(52))
UNIQUE = "0011223344556677"


class Source:
    """Entropy that is the same each time: SHA-256 in counter mode."""

    name = "test"
    healthy = True

    def __init__(self, seed: bytes = b"") -> None:
        self.seed, self.count = seed, 0

    def read(self, n: int) -> bytes:
        out = b""
        while len(out) < n:
            self.count += 1
            out += hashlib.sha256(self.seed + self.count.to_bytes(8, "big")).digest()
        return out[:n]


class Desk(desk.Desk):
    """A card shuffler and its plant."""

    def __init__(
        self,
        record: dict[str, Any] | None = None,
        plant: Plant | None = None,
        now: int = 0,
        source: Source | None = None,
        **settings: Any,
    ) -> None:
        entropy = source or Source()
        device = shuffler.create(record, (True, ""), lambda: None, record is None, lambda: entropy, UNIQUE)
        device.record["settings"].update(settings)
        super().__init__(device, plant or Plant(), [] if record is None else [record], now)

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

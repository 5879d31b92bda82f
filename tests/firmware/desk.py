"""A device without a board: stepped with its plant as its world, as main.py steps it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

UNIQUE = "0011223344556677"


class Desk:
    """Device and plant in one time, and a store that keeps what was committed."""

    def __init__(self, device: Any, plant: Any, commits: list[dict[str, Any]], now: int = 0) -> None:
        self.plant = plant
        self.device = device
        self.now = now
        self.commits = commits
        self.before_commit: Callable[[], None] = lambda: None
        self.verifying = False
        self.logged: list[list[Any]] = []
        self.plant.step(now)
        self.step("start", self.plant.levels(), "power")

    def step(self, *event: Any) -> None:
        for effect in self.device.step(event, self.now):
            getattr(self, "_" + effect[0], lambda *_: None)(*effect[1:])

    def _commit(self, record: dict[str, Any]) -> None:
        self.before_commit()
        self.commits.append(json.loads(json.dumps(record)))

    def _log(self, number: int, line: str) -> None:
        self.logged.append(json.loads(line))

    def _motor(self, name: str, direction: int) -> None:
        self.plant.motor(name, direction)

    def _emitters(self, on: int) -> None:
        self.plant.light_emitters(on)

    def _verify(self) -> None:
        self.verifying = True

    def run(self, ms: int) -> None:
        """Time passes from one deadline to the next, as it does on a bench image."""
        until = self.now + ms
        while True:
            self.happen()
            due = [t for t in (self.device.next(), self.plant.next()) if t is not None]
            if self.now >= until:
                return
            self.now = min([until, *(max(t, self.now + 1) for t in due)])

    def happen(self) -> None:
        self.plant.step(self.now)
        self._settle()
        if self.verifying:
            self.verifying = False
            self.step("verified", True, "")
        self.step("tick")
        self._settle()

    def _settle(self) -> None:
        for _ in range(16):
            if not self.plant.changed:
                return
            self.plant.changed = False
            self.step("sensors", self.plant.levels(), self.plant.take_reading())

    # -- what a person does

    def do(self, op: str, **request: Any) -> None:
        getattr(self.plant, "_op_" + op)(request)
        self.happen()

    def press(self, button: str) -> None:
        self.do("press", button=button)
        self.run(100)

    def clear(self) -> None:
        self.do("key", turned=True)
        self.press("clear")
        self.do("key", turned=False)
        self.run(3000)

    @property
    def standing(self) -> list[str]:
        return self.device.standing.names()


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


class Attended(Desk):
    """A device with an attendant and its plant: new, with settings, or with the record that another left.

    Args:
        record: what a store gives back, None for a new device.
        plant: its world, None for a new one.
        now: where its time begins.
        source: of its entropy, where it draws.
        settings: other than those it begins with.
    """

    # The device's module, and the class of its plant.
    module: Any
    world: Any

    def __init__(
        self,
        record: dict[str, Any] | None = None,
        plant: Any = None,
        now: int = 0,
        source: Source | None = None,
        **settings: Any,
    ) -> None:
        entropy = source or Source()
        device = self.module.create(record, (True, ""), self.calendar, record is None, lambda: entropy, UNIQUE)
        device.record["settings"].update(settings)
        super().__init__(device, plant or self.world(), [], now)

    def calendar(self) -> int | None:
        """Nobody knows the date."""
        return None

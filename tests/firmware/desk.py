"""A device without a board: stepped with its plant as its world, as main.py steps it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


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

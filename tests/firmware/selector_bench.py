"""A selector without a board."""

from __future__ import annotations

from typing import Any

import desk
from bench.plant.selector import Plant
from device import selector
from shuffler_bench import UNIQUE, Source

NOON = 1_800_000_000


class Desk(desk.Desk):
    """A selector and its plant."""

    def __init__(
        self,
        record: dict[str, Any] | None = None,
        plant: Plant | None = None,
        now: int = 0,
        source: Source | None = None,
        **settings: Any,
    ) -> None:
        entropy = source or Source()
        if record is None:
            record = selector.blank_record()
            record["settings"].update(settings)
        device = selector.create(record, (True, ""), lambda: NOON, False, lambda: entropy, UNIQUE)
        super().__init__(device, plant or Plant(), [], now)

    def do(self, op: str, **request: Any) -> None:
        getattr(self.plant, "_op_" + op)(request)
        self.happen()

    def press(self, button: str) -> None:
        self.do("press", button=button)
        self.run(100)

    def started(self) -> Desk:
        self.run(3000)
        return self

    def select(self) -> int:
        """A round; returns the figure on the display."""
        self.press("select")
        self.run(1000)
        return int(self.plant.display)

    def clear(self) -> None:
        self.do("key", turned=True)
        self.press("clear")
        self.do("key", turned=False)
        self.run(3000)

    @property
    def standing(self) -> list[str]:
        return self.device.standing.names()

"""A selector without a board."""

from __future__ import annotations

import desk
from bench.plant.selector import Plant
from device import selector

NOON = 1_800_000_000


class Desk(desk.Attended):
    """A selector and its plant."""

    module, world = selector, Plant

    def calendar(self) -> int:
        return NOON

    def started(self) -> Desk:
        self.run(3000)
        return self

    def select(self) -> int:
        """A round; returns the figure on the display."""
        self.press("select")
        self.run(1000)
        return int(self.plant.display)

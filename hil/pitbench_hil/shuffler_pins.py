"""A card shuffler without a bench inside: a release image, worked by the levels of its sensor pins.

Time is real there: nothing lets it pass. A wait ends as soon as the status is what was waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pitbench.deadline import Deadline
from pitbench.targets import Board

from pitbench_hil.board_bench import sensor_pins

PATIENCE_S = 10.0
Status = dict[str, Any]


class PinShuffler:
    """A board whose image has no bench; its pins are set from outside.

    Raises BeyondRig where the rig can't set them.
    """

    def __init__(self, board: Board) -> None:
        self._pins = sensor_pins(board)
        self.board = board

    def pin(self, name: str, level: int) -> None:
        """Set a sensor's level."""
        self._pins.pins(name, level)

    def status(self) -> Status:
        """What `status` on the link says."""
        return self.board.link.do("status")

    def until(self, holds: Callable[[Status], bool], awaited: str) -> Status:
        """Ask for the status until it is so; returns it. Raises DeadlinePassed."""
        deadline = Deadline(PATIENCE_S, self.board.clock)
        while not holds(status := self.status()):
            deadline.check(awaited)
        return status

    def clear(self) -> None:
        """Turn the key, press clear."""
        for name, level in (("key", 1), ("clear", 1), ("clear", 0), ("key", 0)):
            self.pin(name, level)

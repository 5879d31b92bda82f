"""The bench of any device: its link, device time that the bench lets pass, and its power."""

from __future__ import annotations

from typing import Any

from pitbench.errors import BeyondRig
from pitbench.link import whole_log
from pitbench.real_rig import VIRTUAL_ONLY, RealRig
from pitbench.targets import Board
from pitbench.virtual import VirtualBoard

# Device time that one request lets pass at most.
ADVANCE_MAX_MS = 10_000


def sensor_pins(board: Board) -> VirtualBoard | RealRig:
    """What sets the levels of a board's sensor pins. Raises BeyondRig where the rig can't."""
    if board.real and "pins" not in board.real.caps:
        raise BeyondRig("move the board's sensor pins", VIRTUAL_ONLY)
    return board.rig


class Unreached(AssertionError):
    """The device did not reach a state in time."""


class BoardBench:
    """Bench for one board.

    Args:
        board: an open target.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self.link = board.link

    # -- link --------------------------------------------------------------------------------

    def do(self, op: str, **args: Any) -> dict[str, Any]:
        """Ask the board over the link. Raises LinkError, LinkTimeout, BoardRebooted."""
        return self.link.do(op, **args)

    def truth(self) -> dict[str, Any]:
        """The plant's own count of things."""
        return self.do("plant")

    def log(self) -> list[list[Any]]:
        """Every entry that the log still holds: [number, boot, ms, calendar, what, detail, chain]."""
        return whole_log(self.link)

    def logged(self) -> list[str]:
        """The names of all log entries, in order."""
        return [entry[4] for entry in self.log()]

    # -- time --------------------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        """Let device time pass, event by event."""
        while ms > 0:
            step = min(ms, ADVANCE_MAX_MS)
            self.do("advance", ms=step)
            ms -= step

    def start(self) -> None:
        """From power-up to idle. Raises Unreached."""
        raise NotImplementedError

    # -- power -------------------------------------------------------------------------------

    def cut(self) -> None:
        """Take the power away."""
        self.board.cut()

    def power_on(self) -> dict[str, Any]:
        """Give it back; returns the new identity."""
        return self.board.power_on()

    def power_cycle(self) -> dict[str, Any]:
        """Take the power away and give it back; returns the new identity."""
        self.cut()
        return self.power_on()

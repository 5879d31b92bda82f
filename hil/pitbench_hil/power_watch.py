"""Ports that notice at once that the board's power went, instead of waiting for an answer that can't come."""

from __future__ import annotations

from pitbench.deadline import Deadline
from pitbench.targets import Board
from pitbench.transport import Transport
from pitbench.virtual import VirtualBoard

# How often a silent port is asked whether its board has power, in seconds of real time.
LOOK_S = 0.003


class PowerGone(Exception):
    """The board has no power any more."""


class WatchedPort:
    """A port of a virtual board; `read` raises PowerGone once nothing more can come."""

    def __init__(self, port: Transport, virtual: VirtualBoard) -> None:
        self.url, self.name = port.url, port.name
        self._port = port
        self._virtual = virtual
        self.write, self.flush_input, self.close = port.write, port.flush_input, port.close

    def read(self, timeout: float) -> bytes:
        """As a transport's."""
        deadline = Deadline(timeout)
        while True:
            alive = self._virtual.alive
            data = self._port.read(min(LOOK_S, deadline.remaining))
            if not (data or alive):
                raise PowerGone
            if data or deadline.passed:
                return data


def watch_power(board: Board) -> None:
    """From now on, link and wire of a virtual board raise PowerGone; a real board's stay as they are."""
    if board.virtual:
        board.link.transport = WatchedPort(board.link.transport, board.virtual)  # type: ignore[assignment]
        board.wire = WatchedPort(board.wire, board.virtual)  # type: ignore[assignment]

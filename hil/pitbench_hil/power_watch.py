"""Ports that notice at once that the board's power went, instead of waiting for an answer that can't come."""

from __future__ import annotations

from collections.abc import Callable

from pitbench.deadline import Deadline
from pitbench.link import LinkTimeout
from pitbench.targets import Board
from pitbench.transport import Transport
from pitbench.virtual import VirtualBoard

from pitbench_hil.acceptor import AcceptorBench, Unreached

# How often a silent port is asked whether its board has power, in seconds of real time.
LOOK_S = 0.003
# A board that doesn't answer for so long has cut itself; what it was asked is not asked again.
SILENT_S = 0.05


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


def interrupted(bench: AcceptorBench, work: Callable[[], None]) -> None:
    """Do work that ends in a cut which the board asks for, and start it again."""
    timeout, bench.link.timeout = bench.link.timeout, SILENT_S
    try:
        work()
    except (LinkTimeout, Unreached):
        assert bench.board.virtual
        bench.board.virtual.wait_off(Deadline(5))
    finally:
        bench.link.timeout = timeout
    bench.cut()
    bench.power_on()

"""Ports that notice at once that the board's power went, instead of waiting for an answer that can't come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pitbench.deadline import Deadline
from pitbench.link import LinkTimeout
from pitbench.targets import Board, NoPower
from pitbench.transport import Transport, TransportGone

from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.board_bench import Unreached

# How often a silent port is asked whether its board has power, in seconds of real time.
LOOK_S = 0.003
# The supervisor takes the power of a board that asks for it.
OFF_S = 5.0


class PowerGone(Exception):
    """The board has no power any more."""


class WatchedPort:
    """A port of a board; `read` raises PowerGone once nothing more can come."""

    def __init__(self, port: Transport, board: Board) -> None:
        self.url, self.name = port.url, port.name
        self._port = port
        self._board = board
        self.write, self.flush_input, self.close = port.write, port.flush_input, port.close

    def read(self, timeout: float) -> bytes:
        """As a transport's."""
        deadline = Deadline(timeout, self._board.clock)
        while True:
            alive = self._board.has_power
            data = self._received(min(LOOK_S, deadline.remaining))
            if not (data or alive):
                raise PowerGone
            if data or deadline.passed:
                return data

    def _received(self, seconds: float) -> bytes:
        try:
            return self._port.read(seconds)
        except TransportGone:
            # A real board's USB port goes with its power.
            if self._board.has_power:
                raise
            return b""

    def open_again(self, deadline: Deadline) -> None:
        """As the port's own, where it has that."""
        if again := getattr(self._port, "open_again", None):
            again(deadline)


def watch_power(board: Board) -> None:
    """From now on, link and wire raise PowerGone."""
    if not isinstance(board.wire, WatchedPort):
        board.link.transport = WatchedPort(board.link.transport, board)  # type: ignore[assignment]
        board.wire = WatchedPort(board.wire, board)  # type: ignore[assignment]


@contextmanager
def until_power_goes(board: Board) -> Iterator[None]:
    """Work that may end in a cut which the board asks for; afterwards the ports are as before."""
    ports = board.link.transport, board.wire
    watch_power(board)
    try:
        yield
    except (PowerGone, NoPower):
        # A board with a slow start may be cut before it has answered.
        board.rig.wait_off(Deadline(OFF_S, board.clock))
    finally:
        board.link.transport, board.wire = ports


def interrupted(bench: AcceptorBench, work: Callable[[], None]) -> None:
    """Do work that ends in a cut which the board asks for, and start it again."""
    watch_power(bench.board)
    try:
        work()
    except (PowerGone, NoPower, LinkTimeout, Unreached, TransportGone):
        bench.board.rig.wait_off(Deadline(OFF_S, bench.board.clock))
    bench.power_cycle()

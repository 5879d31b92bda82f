"""Gives host software a port on any machine: what one side says, the other hears.

The board's side is any port that pyserial opens; the host's side is a pty of this machine, a TCP port, or a TCP port
that speaks RFC 2217, on which a host sets speed and parity as on a serial port of its own.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import serial
import serial.rfc2217

from pitbench.errors import PitbenchError
from pitbench.sniffing import Row
from pitbench.transport import FROM_BOARD, LOST, READ_SIZE, TO_BOARD, Transport
from pitbench.virtual.ptys import PtyPort

# How long a side is waited for before it is asked whether to go on, in seconds.
TURN_S = 0.1
LOOPBACK = "127.0.0.1"

Told = Callable[[Row], None]


class Side(Protocol):
    """The host's side of a bridge."""

    @property
    def address(self) -> str:
        """Where a host finds it."""

    def read(self, timeout: float) -> bytes:
        """What the host sent, b"" for nothing within `timeout` seconds."""

    def write(self, data: bytes) -> None:
        """To the host, if there is one; otherwise nobody hears it, as on a cable without a plug."""

    def close(self) -> None:
        """Give it back."""


class PtySide:
    """A pseudo-terminal, for host software on this machine."""

    def __init__(self) -> None:
        self._pty = PtyPort()
        self.address = self._pty.path

    def read(self, timeout: float) -> bytes:
        if not select.select([self._pty.master], [], [], timeout)[0]:
            return b""
        with contextlib.suppress(BlockingIOError):
            return os.read(self._pty.master, READ_SIZE)
        return b""

    def write(self, data: bytes) -> None:
        # A host that never reads loses what its line can't hold.
        with contextlib.suppress(BlockingIOError):
            os.write(self._pty.master, data)

    def close(self) -> None:
        self._pty.close()


class TcpSide:
    """A TCP port, one host at a time; the next may come when the first has left.

    Args:
        host, port: to listen at; port 0 takes a free one.
        board: the serial port that a host may set by RFC 2217, None for raw bytes.

    Raises PitbenchError where it can't listen.
    """

    def __init__(self, host: str, port: int, board: serial.Serial | None = None) -> None:
        self._board = board
        self._host: socket.socket | None = None
        self._manager: Any = None
        try:
            self._listener = socket.create_server((host, port), backlog=1)
        except OSError as error:
            raise PitbenchError(
                f"Nothing can listen at {host}:{port} ({error.strerror}).", "Choose another address or port."
            ) from error
        name, number = self._listener.getsockname()[:2]
        self.address = f"{'rfc2217' if board else 'socket'}://{name}:{number}"

    def read(self, timeout: float) -> bytes:
        waited_for = self._host or self._listener
        if not select.select([waited_for], [], [], timeout)[0]:
            return b""
        if self._host is None:
            self._welcome()
            return b""
        try:
            data = self._host.recv(READ_SIZE)
        except OSError:
            data = b""
        if not data:
            self._leave()
        return b"".join(self._manager.filter(data)) if self._manager and data else data

    def write(self, data: bytes) -> None:
        if self._manager:
            data = b"".join(self._manager.escape(data))
        self._send(data)

    def close(self) -> None:
        self._leave()
        self._listener.close()

    def _welcome(self) -> None:
        self._host, _ = self._listener.accept()
        self._host.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._board is not None:
            # It takes any port, and of the connection only `write`.
            board: Any = _Line(self._board)
            connection: Any = _Connection(self._send)
            self._manager = serial.rfc2217.PortManager(board, connection)

    def _send(self, data: bytes) -> None:
        host = self._host
        if host is not None:
            with contextlib.suppress(OSError):
                host.sendall(data)

    def _leave(self) -> None:
        host, self._host, self._manager = self._host, None, None
        if host is not None:
            host.close()


class _Line:
    """A serial port as a host from afar sees it: what a pty hasn't got reads as low, and isn't set."""

    def __init__(self, port: serial.Serial) -> None:
        object.__setattr__(self, "_port", port)

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._port, name)
        except LOST:
            return False

    def __setattr__(self, name: str, value: object) -> None:
        with contextlib.suppress(*LOST):
            setattr(self._port, name, value)


class _Connection:
    """What pyserial's PortManager answers a host's settings through."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self.write = write


class Bridge:
    """Carries bytes between a board's port and a host's side until it is closed or the board goes.

    Args:
        board: the board's port, or its wire tunnelled over the link.
        side: the host's.
        told: called with each piece that crosses, from two threads.
    """

    def __init__(self, board: Transport, side: Side, told: Told | None = None) -> None:
        self._board, self._side, self._told = board, side, told or (lambda row: None)
        self._over = threading.Event()
        self._gone: PitbenchError | None = None

    def run(self, running: Callable[[], bool]) -> None:
        """Carry for as long as `running()` says so. Raises TransportGone, TransportStuck, and what a link raises."""
        back = threading.Thread(target=self._to_host, daemon=True)
        back.start()
        try:
            while running() and self._gone is None:
                self._carry(self._side.read(TURN_S), TO_BOARD, self._board.write)
        finally:
            self._over.set()
            back.join()
        if self._gone:
            raise self._gone

    def _to_host(self) -> None:
        try:
            while not self._over.is_set():
                self._carry(self._board.read(TURN_S), FROM_BOARD, self._side.write)
        except PitbenchError as error:
            self._gone = error

    def _carry(self, data: bytes, direction: str, write: Callable[[bytes], None]) -> None:
        if data:
            self._told(Row(time.time(), direction, data))
            write(data)

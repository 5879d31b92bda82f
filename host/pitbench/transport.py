"""A serial port of a board: opened by path or pyserial URL, held by one bench at a time.

A bench talks through two of these, the link and the wire. Both write into the same trace, so that
a reader sees what crossed either port, in order of time.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol

import serial

from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.framing import Framing
from pitbench.port_holder import holder_of
from pitbench.virtual.ptys import freshen

# What a port raises that has gone away under a call.
LOST: tuple[type[Exception], ...] = (OSError, TypeError, ValueError)
if sys.platform != "win32":
    import termios

    LOST += (termios.error,)

TO_BOARD = "to_board"
FROM_BOARD = "from_board"
WRITE_TIMEOUT_S = 2.0
READ_SIZE = 4096

# Called with (monotonic seconds, port name, TO_BOARD or FROM_BOARD, bytes).
TraceSink = Callable[[float, str, str, bytes], None]


class TransportError(PitbenchError):
    """A port cannot be used."""


class PortAbsent(TransportError):
    """No such port."""


class PortDenied(TransportError):
    """The port is there, and this user may not open it."""


class PortBusy(TransportError):
    """Another program holds the port."""


class TransportGone(TransportError):
    """The port vanished while it was in use."""


class TransportStuck(TransportError):
    """The other side stopped taking bytes."""


LINK_FRAMING = Framing()


class Transport(Protocol):
    """What the link client and the protocol hosts need of a port."""

    url: str
    name: str

    def read(self, timeout: float) -> bytes:
        """Bytes that are there, waiting up to `timeout` seconds for the first; b"" if none came.

        Raises TransportGone.
        """

    def write(self, data: bytes) -> None:
        """Send all of `data`. Raises TransportGone, TransportStuck."""

    def flush_input(self) -> None:
        """Drop what was received and not read."""

    def close(self) -> None:
        """Give the port back; harmless when done twice."""


def open_transport(
    url: str, *, name: str = "link", framing: Framing = LINK_FRAMING, trace: TraceSink | None = None
) -> SerialTransport:
    """Open a port for this bench alone.

    Args:
        url: device path (`/dev/ttyACM0`, a pty) or pyserial URL.
        name: the port's name in the trace, "link" or "wire".
        framing: line settings.
        trace: called with every byte string that crosses the port.

    Raises: PortAbsent, PortDenied, PortBusy, TransportError.
    """
    try:
        port = _open_serial(url, framing)
    except (serial.SerialException, OSError, ValueError) as error:
        raise _open_error(url, error) from error
    has_descriptor = os.name == "posix" and isinstance(port, serial.Serial)
    return (DescriptorTransport if has_descriptor else SerialTransport)(url, name, port, trace)


def _open_serial(url: str, framing: Framing) -> serial.Serial:
    settings: dict[str, Any] = {"baudrate": framing.baud, "bytesize": framing.bits, "parity": framing.parity}
    settings |= {"stopbits": framing.stop, "timeout": 0, "write_timeout": WRITE_TIMEOUT_S, "exclusive": True}
    if url.startswith("rfc2217:"):
        # pyserial's client of it knows no such limit.
        del settings["write_timeout"]
    if sys.platform == "win32":
        return serial.serial_for_url(url, **settings)
    try:
        return serial.serial_for_url(url, **settings)
    except termios.error:
        # A pty that a host set like this before: see freshen().
        _freshen_path(url)
        try:
            return serial.serial_for_url(url, **settings)
        except termios.error as error:
            raise OSError(*error.args) from error


@contextmanager
def _descriptor(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _freshen_path(path: str) -> None:
    with _descriptor(path) as descriptor:
        freshen(descriptor)


def _is_no_terminal(path: str) -> bool:
    """Whether it is there and can't be a serial port: a file, a folder, another device."""
    if os.name != "posix" or not os.path.exists(path):
        return False
    if not stat.S_ISCHR(os.stat(path).st_mode):
        return True
    try:
        with _descriptor(path) as descriptor:
            return not os.isatty(descriptor)
    except OSError:
        return False


def _open_error(url: str, error: Exception) -> TransportError:
    code = getattr(error, "errno", None)
    if code in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        return PortAbsent(f"There is no port {url}.", "Plug the board in, or look at its path or URL again.")
    if code in (errno.EACCES, errno.EPERM):
        return PortDenied(
            f"You may not open port {url}.", "Add yourself to the group that owns it (often dialout), and log in again."
        )
    if code in (errno.EAGAIN, errno.EBUSY):
        return PortBusy(f"Port {url} is in use by {holder_of(url)}.", "Stop that one, or choose another board.")
    if _is_no_terminal(url):
        return TransportError(f"{url} is no serial port.", "Look at the path again.")
    return TransportError(f"Port {url} cannot be opened: {error}.", "Look at the path or URL, and at the cable.")


class SerialTransport:
    """A port behind any pyserial URL."""

    def __init__(self, url: str, name: str, port: serial.Serial, trace: TraceSink | None) -> None:
        self.url = url
        self.name = name
        self._port = port
        self._trace = trace

    @property
    def pyserial(self) -> serial.Serial:
        """pyserial's port, for a host that sets its line from afar."""
        return self._port

    def read(self, timeout: float) -> bytes:
        try:
            data = self._receive(timeout)
        except LOST as error:
            raise self._gone() from error
        if data and self._trace:
            self._trace(time.monotonic(), self.name, FROM_BOARD, data)
        return data

    def write(self, data: bytes) -> None:
        if self._trace:
            self._trace(time.monotonic(), self.name, TO_BOARD, data)
        try:
            self._send(data)
        except serial.SerialTimeoutException as error:
            raise self._stuck() from error
        except LOST as error:
            raise self._gone() from error

    def flush_input(self) -> None:
        try:
            self._port.reset_input_buffer()
        except LOST as error:
            raise self._gone() from error

    def close(self) -> None:
        self._port.close()

    def __enter__(self) -> SerialTransport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, timeout: float) -> bytes:
        self._port.timeout = timeout
        first = self._port.read(1)
        waiting = self._port.in_waiting if first else 0
        return bytes(first) + (self._port.read(waiting) if waiting else b"")

    def _send(self, data: bytes) -> None:
        self._port.write(data)

    def _gone(self) -> TransportGone:
        return TransportGone(
            f"Port {self.url} ({self.name}) went away in mid-run.", "Look at the cable and the board, then start again."
        )

    def _stuck(self) -> TransportStuck:
        return TransportStuck(
            f"Port {self.url} ({self.name}) took no bytes for {WRITE_TIMEOUT_S:g} s.",
            "Reset the board, then start again.",
        )


class DescriptorTransport(SerialTransport):
    """A port with a file descriptor: read without pyserial's detour, which costs more than the round trip."""

    def _receive(self, timeout: float) -> bytes:
        descriptor = self._port.fileno()
        if not select.select([descriptor], [], [], timeout)[0]:
            return b""
        data = os.read(descriptor, READ_SIZE)
        if not data:
            raise OSError(errno.EIO, "hung up")
        return data

    def _send(self, data: bytes) -> None:
        descriptor = self._port.fileno()
        deadline = Deadline(WRITE_TIMEOUT_S)
        rest = memoryview(data)
        rest = rest[_write_some(descriptor, rest) :]
        while rest:
            if not select.select([], [descriptor], [], deadline.remaining)[1]:
                raise serial.SerialTimeoutException("write timeout")
            rest = rest[_write_some(descriptor, rest) :]


def _write_some(descriptor: int, data: memoryview) -> int:
    try:
        return os.write(descriptor, data)
    except BlockingIOError:
        return 0

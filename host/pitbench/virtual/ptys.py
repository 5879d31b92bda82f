"""Serial ports of a virtual board: ptys whose far ends stay when the board's power goes."""

from __future__ import annotations

import contextlib
import os
import sys

from pitbench.errors import NotBuilt

if sys.platform != "win32":
    import fcntl
    import termios
    import tty

DRAIN_SIZE = 65536
# The child's descriptors 0 to 5 are set by number: what is copied there must come from above them.
ABOVE_CHILD = 10


class PtyPort:
    """One serial port. The board has the master, a host opens `path`."""

    def __init__(self) -> None:
        first, self.far_end = os.openpty()
        self.master = above_child(first)
        # A far end of our own stays open, so that the board never sees a hang-up when a host leaves.
        tty.setraw(self.far_end)
        # MicroPython must get what is there and no more: its read(n) would wait for n bytes.
        os.set_blocking(self.master, False)
        self.path = os.ttyname(self.far_end)

    def drain(self) -> None:
        """Drop what hosts sent and nobody read: a board without power takes the bytes and forgets them."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.master, DRAIN_SIZE):
                pass

    def flush(self) -> None:
        """Drop what is under way, in both directions."""
        termios.tcflush(self.far_end, termios.TCIOFLUSH)
        self.drain()

    def freshen(self) -> None:
        """Let the next host set its line as the first did."""
        freshen(self.far_end)

    def close(self) -> None:
        os.close(self.master)
        os.close(self.far_end)


def freshen(descriptor: int) -> None:
    """Give a pty another speed than hosts ask for.

    A pty keeps no parity. Asked again for 9600 8E1 it changes nothing, and tcsetattr calls that an invalid argument.
    """
    settings = termios.tcgetattr(descriptor)
    settings[4] = settings[5] = termios.B38400
    termios.tcsetattr(descriptor, termios.TCSANOW, settings)


def above_child(descriptor: int) -> int:
    """Move a descriptor out of the way of the child's own numbers."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, ABOVE_CHILD)
    os.close(descriptor)
    return moved


def open_port() -> PtyPort:
    """A new serial port of this system. Raises NotBuilt on Windows, where it would be a loopback socket."""
    if sys.platform == "win32":
        raise NotBuilt("A virtual board on Windows", "Run the bench under WSL.")
    return PtyPort()

"""The interpreter's process: its descriptors, its control socket, its end."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

from pitbench.errors import PitbenchError
from pitbench.virtual.ptys import PtyPort, above_child
from pitbench.virtual.starting import Starter, spawn

if sys.platform != "win32":
    import fcntl

# link in, link out, console, wire, control, lifeline
STDIN, STDOUT, STDERR, WIRE, CONTROL, LIFELINE = range(6)
CONTROL_READ_SIZE = 4096


class Child:
    """One run of the interpreter, from start to reaped.

    Args:
        command: argv, an absolute program first.
        link, wire: the board's ports.
        console: file that takes what the interpreter writes to stderr.
        start: what starts it.
    """

    def __init__(self, command: list[str], link: PtyPort, wire: PtyPort, console: Path, start: Starter = spawn) -> None:
        ours, theirs = socket.socketpair()
        self.control = ours
        self._lines = b""
        self._last: list[str] = []
        self.status: int | None = None
        control = above_child(theirs.detach())
        log = above_child(os.open(console, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644))
        life, self._lifeline = _lifeline()
        os.set_blocking(control, False)
        ours.setblocking(False)
        plan = {STDIN: link.master, STDOUT: link.master, STDERR: log, WIRE: wire.master, CONTROL: control}
        try:
            self.pid = start(command, {**plan, LIFELINE: life})
            _end_with_us(life, self.pid)
        except OSError as error:
            raise PitbenchError(f"{command[0]} cannot be started: {error}.", "Look at the interpreter.") from error
        finally:
            for descriptor in (control, log, life):
                os.close(descriptor)

    def lines(self) -> tuple[list[str], bool]:
        """Whole lines that the child wrote to its control socket, and whether it hung up."""
        try:
            data = self.control.recv(CONTROL_READ_SIZE)
        except BlockingIOError:
            return [], False
        except ConnectionError:
            return [], True
        *lines, self._lines = (self._lines + data).split(b"\n")
        return [line.decode("ascii", "replace") for line in lines], not data

    def last_lines(self) -> list[str]:
        """What it had written to its control socket and nobody had read, once it has ended."""
        return self._last

    def _drain(self) -> list[str]:
        found: list[str] = []
        lines, hung_up = self.lines()
        while lines or not hung_up:
            found += lines
            lines, hung_up = self.lines()
        return found

    def tell(self, line: str) -> None:
        """Write one line to the child's control socket; a child that is gone does not hear it."""
        try:
            self.control.sendall(line.encode("ascii") + b"\n")
        except BlockingIOError as error:
            raise PitbenchError("The board reads no pin levels.", "Look at its console.log.") from error
        except ConnectionError:
            return

    def end(self) -> int:
        """Kill it, wait until it is gone, close what we held; its exit status (negative: signal)."""
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            self._last = self._drain()
            self.control.close()
            os.close(self._lifeline)
        return self.status


def _lifeline() -> tuple[int, int]:
    inner, outer = os.pipe()
    return above_child(inner), above_child(outer)


def _end_with_us(life: int, pid: int) -> None:
    # When this process dies, even by SIGKILL, the pipe hangs up and the kernel sends the child SIGIO, which ends it:
    # no board outlives its bench. Only Linux signals a pipe's hang-up.
    if sys.platform == "linux":
        fcntl.fcntl(life, fcntl.F_SETOWN, pid)
        fcntl.fcntl(life, fcntl.F_SETFL, fcntl.fcntl(life, fcntl.F_GETFL) | os.O_ASYNC)

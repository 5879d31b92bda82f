"""Starts boards of the MicroPython wheel by forking a process that has it loaded, instead of loading it each time.

Half of the time that a virtual board takes to be ready is CPython's start and the loading of the wheel. One process
(`fork_server_process`) does that once for this bench. It is started like any program, never by forking the bench, which
has threads. Its forks are children of the bench: everything else about a board is as if it had been started alone.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path

from pitbench.virtual.ptys import above_child
from pitbench.virtual.starting import spawn

PROGRAM = Path(__file__).with_name("fork_server_process.py")
# A fork takes a millisecond; the first one waits for CPython's start.
ANSWER_S = 20.0
ANSWER_SIZE = 64


class ForkServer:
    """A Starter that has a server fork what it starts. Use it from any thread.

    Args:
        bare: argv that starts the same by itself, before the arguments that a request hands on.
        program: argv of the server, its socket on descriptor 0.
        patience: seconds that the first answer may take, in which the server starts.
    """

    def __init__(self, bare: tuple[str, ...], program: tuple[str, ...], patience: float = ANSWER_S) -> None:
        self.bare = bare
        self.program = program
        self.patience = patience
        self.pid: int | None = None
        self._socket: socket.socket | None = None
        self._lost = 0
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def __call__(self, command: list[str], descriptors: Mapping[int, int]) -> int:
        """Start a board; by itself where there is no fork server to be had. Raises OSError."""
        assert tuple(command[: len(self.bare)]) == self.bare
        assert list(descriptors) == list(range(len(descriptors)))
        with self._lock:
            pid = self._ask(command[len(self.bare) :], list(descriptors.values()))
        return pid or spawn(command, descriptors)

    def _ask(self, arguments: list[str], descriptors: list[int]) -> int | None:
        """Process id of a new board, None when two servers in a row couldn't make one."""
        while self._lost < 2:
            try:
                answer = self._answer(arguments, descriptors)
            except (ConnectionError, TimeoutError) as error:
                self._end(str(error))
                continue
            self._lost = 0
            return answer
        return None

    def _answer(self, arguments: list[str], descriptors: list[int]) -> int:
        if self._socket is None:
            self._start()
        assert self._socket is not None
        socket.send_fds(self._socket, [os.fsencode("\0".join(arguments))], descriptors)
        answer = int(self._socket.recv(ANSWER_SIZE) or 0)
        if answer <= 0:
            raise ConnectionResetError(os.strerror(-answer) if answer else "it ended")
        return answer

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(self.patience)
        there = above_child(theirs.detach())
        try:
            with open(os.devnull, "wb") as nowhere:
                self.pid = spawn(list(self.program), {0: there, 1: nowhere.fileno()})
        finally:
            os.close(there)
        self._socket = ours

    def _end(self, why: str) -> None:
        """The server is gone, or of no use."""
        self._lost += 1
        warnings.warn(f"The fork server of virtual boards was lost: {why}.", RuntimeWarning, stacklevel=2)
        if self._socket:
            self._socket.close()
            self._socket = None
        if self.pid:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            self.pid = None

    def _forget(self) -> None:
        """In a fork of the bench: the server is the parent's, and must see its socket closed when the parent dies."""
        if self._socket:
            self._socket.close()
        self._socket = self.pid = None
        self._lock = threading.Lock()


@functools.cache
def fork_server(bare: tuple[str, ...], folder: Path) -> ForkServer:
    """The one fork server of this process for a wheel."""
    return ForkServer(bare, (sys.executable, "-I", "-S", str(PROGRAM), str(folder)))

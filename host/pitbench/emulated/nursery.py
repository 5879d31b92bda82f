"""The process behind `emulated.starting`: boots one board of a flash, and hands out boards that have just booted.

Its socket is on descriptor 0; its argument is a folder with the flash. A cold start is a second of device time and ten
on the wall, the same for every board with the same flash; a fork of this process is that board, at that moment, in
some milliseconds. Requests are those of `pitbench.virtual.fork_server`. It has one thread, and ends with its bench.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import sys
from pathlib import Path

from pitbench.emulated.lines import reactions
from pitbench.emulated.runner import CONTROL, LINK_IN, LINK_OUT, WIRE, Runner
from pitbench.link import LineSplitter, encode_line
from pitbench.virtual.fork_server_process import serve
from pitbench.virtual.surroundings import Surroundings

# Where the server's own ends stay clear of a board's descriptors.
HIGH = 32
READ_SIZE = 4096
# By then the host has found its USB port; what is sent earlier is lost.
ENUMERATED_NS = 200_000_000
# A board that has said nothing by then stays mute: it may hold no program.
MUTE_NS = 5_000_000_000
HELLO = encode_line({"id": 0, "do": "hello", "session": 1})


class Bench:
    """The far ends of the board that is booted here: enough of a supervisor and of a link client."""

    def __init__(self) -> None:
        self._ends = {number: _pair(number) for number in (LINK_IN, WIRE, CONTROL)}
        os.dup2(LINK_IN, LINK_OUT)
        self._splitter = LineSplitter()
        self._orders = LineSplitter()
        self._around = Surroundings()
        self.answered = False

    def attend(self) -> None:
        """Take what the board says; answer once it asks."""
        for number in (LINK_IN, WIRE, CONTROL):
            if select.select([self._ends[number]], [], [], 0)[0]:
                self._take(number, self._ends[number].recv(READ_SIZE))

    def greet(self) -> None:
        """Say hello on its link; a board reads it when it gets so far."""
        self._ends[LINK_IN].send(HELLO)

    def _take(self, number: int, data: bytes) -> None:
        if number == CONTROL:
            for line in self._orders.feed(data):
                self._answer(line.decode())
        if number == LINK_IN and self._splitter.feed(data):
            self.answered = True

    def _answer(self, line: str) -> None:
        for answer in reactions(line, self._around.heard(line) or []):
            self._ends[CONTROL].send(f"{answer}\n".encode())


def _pair(number: int) -> socket.socket:
    ours, theirs = (_above(end.detach()) for end in socket.socketpair())
    os.dup2(theirs.fileno(), number)
    os.set_blocking(number, False)
    return ours


def _above(descriptor: int) -> socket.socket:
    """A socket out of the way of a board's own descriptors."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.close(descriptor)
    return socket.socket(fileno=moved)


def boot(folder: Path, requests: socket.socket) -> Runner:
    """A board that has just answered its first hello, or is mute. Ends this process if the bench goes first."""
    gone = select.poll()
    gone.register(requests, select.POLLHUP | select.POLLRDHUP)
    bench = Bench()
    runner = Runner(folder)
    runner.start("power")
    while runner.chip.nanos < ENUMERATED_NS:
        runner.step()
    bench.greet()
    while not bench.answered and runner.chip.nanos < MUTE_NS:
        runner.step()
        bench.attend()
        if gone.poll(0):
            os._exit(0)
    return runner


def main() -> None:
    """Take the socket out of the way of a board's own descriptors, boot, and hand out boards."""
    requests = _above(0)
    runner = boot(Path(sys.argv[1]), requests)

    def live(words: list[str]) -> int:
        runner.move(Path(words[0]))
        runner.run()

    serve(requests, live)

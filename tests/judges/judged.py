"""A board on trial: a host that nobody of this project wrote holds its wire, in a process of its own.

trial.judge.do("connect")
trial.insert("usd20")
trial.judge.says("credit 20 USD")
trial.board.link.do("plant")["stacked"]
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pitbench.deadline import Deadline
from pitbench.items import item_named
from pitbench.targets import Board

# A machine at work on other things takes its time; a judge that is right needs a few seconds.
SAYS_S = 60.0
PLANT_S = 30.0


class Judge:
    """A host's process: obeys a word a line, and says what it sees a line.

    Args:
        command: starts it, the wire's path included.
        environment: joins this process's own.
    """

    def __init__(self, command: Sequence[str | Path], environment: dict[str, str]) -> None:
        self.lines: list[str] = []
        self._next = 0
        self._more = threading.Condition()
        self._process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            text=True,
            errors="replace",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def says(self, pattern: str) -> str:
        """Wait for the next line that is like `pattern`; returns it. Lines before it count as heard."""
        return self._hear(pattern)

    def do(self, deed: str) -> None:
        """Have it do something, and wait until that is done."""
        self.tell(deed)
        word = deed.split()[0]
        line = self._hear(f"(done|failed) {word}( .*)?")
        assert line == f"done {word}", self._told(line)

    def tell(self, deed: str) -> None:
        """Have it do something."""
        assert self._process.stdin
        self._process.stdin.write(f"{deed}\n")
        self._process.stdin.flush()

    def count(self, pattern: str) -> int:
        """How many lines so far are like `pattern`."""
        return sum(bool(re.fullmatch(pattern, line)) for line in self.lines)

    def saw(self) -> list[str]:
        """What it told of itself and of the device, without its word that something is done."""
        return [line for line in self.lines if not line.startswith("done ")]

    def thaw(self) -> None:
        """It goes on where it hung."""
        self._process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()

    def _hear(self, pattern: str) -> str:
        deadline = Deadline(SAYS_S)
        with self._more:
            while True:
                for line in self.lines[self._next :]:
                    self._next += 1
                    if re.fullmatch(pattern, line):
                        return line
                assert self._reader.is_alive(), self._told(f"it ended, and never said '{pattern}'")
                assert self._more.wait(deadline.remaining) or not deadline.passed, self._told(f"never said '{pattern}'")

    def _told(self, why: str) -> str:
        return "\n".join([f"{why}. It said:", *self.lines])

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            with self._more:
                self.lines.append(line.rstrip())
                self._more.notify_all()
        with self._more:
            self._more.notify_all()


class Trial:
    """A board whose wire a judge holds."""

    def __init__(self, board: Board, judge: Judge) -> None:
        self.board = board
        self.judge = judge

    def insert(self, item: str) -> None:
        """Put a piece of paper into the mouth of an idle acceptor, as `usd20` or `photocopy`."""
        self.wait_idle()
        self.board.link.do("insert", item=item_named(item).record())

    def plant(self) -> dict[str, Any]:
        """What there is in truth."""
        return self.board.link.do("plant")

    def wait_plant(self, **truth: int) -> None:
        """Wait until what there is in truth is like this."""
        self._wait("plant", truth)

    def wait_idle(self) -> None:
        """Wait until the next bill is welcome."""
        self._wait("status", {"state": "idle"})
        self._wait("plant", {"in_path": 0})

    def cut_behind_the_judge(self, line: str, **truth: int) -> None:
        """The judge hangs at that line until the plant is like this and the power went and came."""
        self.judge.says(line)
        self.wait_plant(**truth)
        self.cut()
        self.judge.thaw()

    def cut(self) -> None:
        """The power goes and comes."""
        self.board.cut()
        self.board.power_on()

    def _wait(self, asked: str, awaited: dict[str, Any]) -> None:
        deadline = Deadline(PLANT_S)
        while not all((found := self.board.link.do(asked)).get(name) == value for name, value in awaited.items()):
            assert not deadline.passed, f"{asked} is never {awaited}, but {found}"

    def close(self) -> None:
        """End both."""
        self.judge.close()
        self.board.close()

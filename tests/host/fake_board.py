"""A board with a MicroPython prompt: the real interpreter on a pty, which runs boot.py and main.py as a board does.

Its flash is a folder. Without both files, or with the mark that asks for it, it starts at the prompt; `machine.reset()`
restarts it. What a serial port of a board does beyond that (its interrupt character, its rings) is not modelled here.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pico_facts import PICO
from pitbench.virtual import VirtualBoard, find_interpreter
from pitbench.virtual.interpreter import HEAP, Interpreter

PROMPT = Path(__file__).with_name("fake_prompt.py")
# MicroPython's stdin must block at the prompt, and must not while firmware runs.
BLOCKING = "import os; os.set_blocking(0, {blocking}); os.execv({program!r}, {argv!r} + os.sys.argv[1:])"


@dataclass(frozen=True)
class BoardWithPrompt(Interpreter):
    """An interpreter that starts at the prompt unless the flash holds a program; `place` is where that is mounted."""

    place: str = "/"

    def command(self, root: Path, cause: str) -> list[str]:
        mark = root / "data" / "boot"
        asked = mark.exists() and mark.read_text() == "repl"
        if asked:
            mark.unlink()
        if not asked and all((root / name).exists() for name in ("boot.py", "main.py")):
            return [*self._with(blocking=False), *super().command(root, cause)[len(self.bare) :]]
        return [*self._with(blocking=True), "-X", f"heapsize={HEAP}", "-i", str(PROMPT), str(root), self.place]

    def _with(self, *, blocking: bool) -> list[str]:
        code = BLOCKING.format(blocking=blocking, program=self.bare[0], argv=list(self.bare))
        return [sys.executable, "-I", "-S", "-c", code]


class FakeBoard(VirtualBoard):
    """A virtual board whose port blocks at the prompt, and so must be freed before it can be drained."""

    def cut(self) -> None:
        os.set_blocking(self._link.master, False)
        super().cut()


def fake_board(root: Path, place: str = "/") -> FakeBoard:
    """A board whose flash is `root`, not started yet; its link path is its USB port."""
    (root / "data").mkdir(parents=True, exist_ok=True)
    found = find_interpreter("unix")
    return FakeBoard(root, BoardWithPrompt(found.kind, found.source, found.bare, found.file, place=place))


def fake_facts(machine: str) -> dict[str, Any]:
    """Facts of the fake board: a Pico's, but for what its interpreter says of itself."""
    return PICO | {"name": "unix", "machine": machine}

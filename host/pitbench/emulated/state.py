"""What an emulated board tells of itself while it runs, in a file that both processes hold: its clock, its wear."""

from __future__ import annotations

import mmap
import os
import struct
from dataclasses import astuple, dataclass
from pathlib import Path

# Device time in ns, flash erases, page programs, bytes lost by full receive FIFOs, resets by itself, cycles executed.
LAYOUT = struct.Struct("<dQQQQQ")
FILE = "emulated.state"


@dataclass(frozen=True)
class State:
    """Readings since the board's power came, but for `nanos`, which goes on counting from one start to the next."""

    nanos: float = 0.0
    erases: int = 0
    programs: int = 0
    overruns: int = 0
    resets: int = 0
    cycles: int = 0


class StateFile:
    """One file of readings, made when it isn't there."""

    def __init__(self, path: Path) -> None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            os.ftruncate(descriptor, LAYOUT.size)
            self._map = mmap.mmap(descriptor, LAYOUT.size)
        finally:
            os.close(descriptor)

    def read(self) -> State:
        """The readings now."""
        return State(*LAYOUT.unpack(self._map[:]))

    def write(self, state: State) -> None:
        """Put readings in place."""
        self._map[:] = LAYOUT.pack(*astuple(state))

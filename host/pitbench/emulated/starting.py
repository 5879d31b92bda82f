"""Starts emulated boards: from cold, or as forks of one that has just booted the same flash."""

from __future__ import annotations

import hashlib
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from pitbench.virtual.flash import FLASH_FILE
from pitbench.virtual.fork_server import ForkServer

# A cold start takes ten seconds on a PC that has nothing else to do.
PATIENCE_S = 300.0
# The forks are the bench's own children by a call of this system alone.
CAN_FORK = sys.platform == "linux" and platform.machine() == "x86_64"
RUNNER, NURSERY = "pitbench.emulated.runner", "pitbench.emulated.nursery"


def program(module: str, folder: Path | None) -> tuple[str, ...]:
    """argv of one of the two processes; `folder` is where to import the emulator from, None: as it is installed."""
    folders = [str(folder)] if folder else []
    return sys.executable, "-c", f"import sys; sys.path[:0] = {folders!r}; from {module} import main; main()"


class Nurseries:
    """The fork servers of this process, one for each flash that boards were made from."""

    def __init__(self) -> None:
        self._servers: dict[str, ForkServer] = {}
        self._folders: list[tempfile.TemporaryDirectory[str]] = []

    def of(self, root: Path, folder: Path | None) -> ForkServer:
        """The one for the flash in `root`; it boots at the first request."""
        key = hashlib.sha256((root / FLASH_FILE).read_bytes()).hexdigest()
        if key not in self._servers:
            self._folders.append(tempfile.TemporaryDirectory(prefix="pitbench-nursery-"))
            own = Path(self._folders[-1].name) / "board"
            own.mkdir()
            shutil.copyfile(root / FLASH_FILE, own / FLASH_FILE)
            server = (*program(NURSERY, folder), str(own))
            self._servers[key] = ForkServer(program(RUNNER, folder), server, PATIENCE_S)
        return self._servers[key]


NURSERIES = Nurseries()

"""A run's folder while it is being written: the writer holds a lock on a file in it, and nobody reports on it yet.

The system gives the lock back when the writer ends, whatever ended it: a file that nobody locks is a stale one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pitbench_hil.durable import EvidenceError, unwritable

if sys.platform != "win32":
    import fcntl

NAME = "running"


class RunLock:
    """Held by the process that writes a run, from its start until `release`.

    Args:
        folder: the run's folder, which must exist.

    Raises EvidenceError when another process writes there.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            self._file = self.path.open("a+", encoding="utf-8")
        except OSError as error:
            raise unwritable(self.path, error) from error
        if not _lock(self._file.fileno()):
            raise _still_written(folder)
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        """Give the folder free; harmless when done twice."""
        if not self._file.closed:
            self.path.unlink(missing_ok=True)
            self._file.close()


def refuse_while_written(folder: Path) -> None:
    """Raises EvidenceError while a process writes the run in this folder."""
    path = folder / NAME
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as file:
        if not _lock(file.fileno()):
            raise _still_written(folder)


def _lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _still_written(folder: Path) -> EvidenceError:
    pid = (folder / NAME).read_text(encoding="utf-8").strip() or "another"
    return EvidenceError(f"The run in {folder} is still being written (process {pid}).", "Ask again when it has ended.")

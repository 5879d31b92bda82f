"""A folder that one process uses alone, by a lock on a file in it.

The system gives the lock back when that process ends, whatever ended it: a file that nobody locks is a stale one.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform != "win32":
    import fcntl

ANOTHER = "another"


class FolderLock:
    """Held from its making until `release`, by its file `path`.

    Raises OSError where the file can't be written, HeldByAnother when another process holds it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a+", encoding="utf-8")
        if not _locked(self._file.fileno()):
            self._file.close()
            raise HeldByAnother(path)
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def release(self) -> None:
        """Give the folder free; harmless when done twice."""
        if not self._file.closed:
            self.path.unlink(missing_ok=True)
            self._file.close()

    def __enter__(self) -> FolderLock:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


class HeldByAnother(Exception):
    """Another process holds the lock; `process` is its number, or "another"."""

    def __init__(self, path: Path) -> None:
        self.process = path.read_text(encoding="utf-8").strip() or ANOTHER
        super().__init__(f"process {self.process} holds {path}")


def refuse_while_held(path: Path) -> None:
    """Raise HeldByAnother while a process holds the lock of this file."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as file:
        if not _locked(file.fileno()):
            raise HeldByAnother(path)


def _locked(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

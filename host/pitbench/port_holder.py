"""Who holds a busy port: a name for the error sentence, where the system tells it."""

from __future__ import annotations

import os
from pathlib import Path

LOCKS = Path("/proc/locks")
ANOTHER = "another bench"


def holder_of(path: str, locks: Path = LOCKS) -> str:
    """Words for the process that locked `path`: "another bench (process 123, python)"."""
    try:
        pid = _locking_process(os.stat(path), locks.read_text())
        name = Path(f"/proc/{pid}/comm").read_text().strip() if pid else ""
    except OSError:
        return ANOTHER
    return f"{ANOTHER} (process {pid}, {name})" if pid else ANOTHER


def _locking_process(port: os.stat_result, locks: str) -> int:
    # "1: FLOCK  ADVISORY  WRITE 1234 00:18:5 0 EOF", device numbers in hex
    place = f"{os.major(port.st_dev):02x}:{os.minor(port.st_dev):02x}:{port.st_ino}"
    rows = (line.split() for line in locks.splitlines())
    return next((int(row[4]) for row in rows if row[1] == "FLOCK" and row[5] == place), 0)

"""Who holds a busy port: a name for the error sentence, where the system tells it."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")
ANOTHER = "another bench"
# It opens every new modem-like port for some seconds, without a lock that others see.
MODEM_MANAGER = "ModemManager"
LET_GO = f"most likely {MODEM_MANAGER}, which lets go after some 20 s (`systemctl stop {MODEM_MANAGER}` keeps it away)"


def holder_of(path: str, proc: Path = PROC) -> str:
    """Words for the process that holds `path`: "another bench (process 123, python)", or ModemManager."""
    try:
        pid = _locking_process(os.stat(path), (proc / "locks").read_text())
        if pid:
            return f"{ANOTHER} (process {pid}, {_name(proc / str(pid))})"
    except OSError:
        pass
    return LET_GO if MODEM_MANAGER in map(_name, proc.glob("[0-9]*")) else ANOTHER


def _locking_process(port: os.stat_result, locks: str) -> int:
    # "1: FLOCK  ADVISORY  WRITE 1234 00:18:5 0 EOF", device numbers in hex
    place = f"{os.major(port.st_dev):02x}:{os.minor(port.st_dev):02x}:{port.st_ino}"
    rows = (line.split() for line in locks.splitlines())
    return next((int(row[4]) for row in rows if row[1] == "FLOCK" and row[5] == place), 0)


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return ""

"""The kiosk's journal: JSON lines, each with a number and a CRC, on the disk before `append` returns.

A line is `JSON <tab> CRC-32 in hex <newline>`. A crash can tear the last line only: what can't be read there is cut off
at the next opening, and reported. A line that can't be read with good ones behind it, or a good one out of its place,
was damaged some other way, and the journal is refused.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pitbench.errors import PitbenchError

if sys.platform != "win32":
    import fcntl

Record = dict[str, Any]
# How every line begins, and no field's text can (its quotes are escaped).
LINE_START = b'{"n":'


class JournalError(PitbenchError):
    """The journal can't be read, or an entry can't be made durable; nothing may be acted on that isn't in it."""


class Journal:
    """An open journal, held by one kiosk at a time.

    Args:
        path: the file; made, with its folder, if it isn't there.
        wall: seconds since the epoch, stamped on every entry.

    Attributes: `records` (all entries, oldest first), `torn` (bytes that were cut off at opening, b"" if none).

    Raises JournalError if the file can't be used, is damaged, or is held by another kiosk.
    """

    def __init__(self, path: Path | str, *, wall: Callable[[], float] = time.time) -> None:
        self.path = Path(path)
        self._wall = wall
        self._broken = ""
        self._fd = _open(self.path)
        try:
            self._load()
        except BaseException:
            self.close()
            raise

    def append(self, what: str, **fields: Any) -> Record:
        """Add an entry and return it.

        Args:
            what: its kind.
            fields: JSON values.

        Raises JournalError if it isn't durable; the journal then is as if it had never been appended.
        """
        if self._broken:
            raise JournalError(f"Journal {self.path} is out of use: {self._broken}.", "Restart the kiosk.")
        record = {"n": len(self.records) + 1, "at": round(self._wall(), 3), "what": what, **fields}
        line = _line(record)
        try:
            self._put(line)
            self._sync()
        except OSError as error:
            self._undo(error)
        except BaseException:
            self._broken = "an entry was interrupted"
            raise
        self.records.append(record)
        self._size += len(line)
        return record

    def close(self) -> None:
        """Give the file back; harmless when done twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._broken = "it is closed"

    def _put(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def _sync(self) -> None:
        try:
            os.fsync(self._fd)
        except OSError as error:
            # The kernel may now call pages clean that never reached the disk: only reading again can tell.
            self._broken = f"the disk refused an entry ({error.strerror})"
            raise

    def _undo(self, error: OSError) -> None:
        try:
            os.ftruncate(self._fd, self._size)
        except OSError:
            self._broken = self._broken or f"an unfinished entry stands at its end ({error.strerror})"
        raise JournalError(
            f"Journal {self.path} can't take an entry: {error.strerror}.", "Make room on the disk, or replace it."
        ) from error

    def _load(self) -> None:
        content = self.path.read_bytes()
        self.records, self._size = _read(content, self.path)
        self.torn = content[self._size :]
        if self.torn:
            os.ftruncate(self._fd, self._size)
            os.fsync(self._fd)


def _open(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
    except OSError as error:
        raise JournalError(
            f"Journal {path} can't be opened: {error.strerror}.", "Choose another path, or mend its rights."
        ) from error
    _hold(path, descriptor)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise JournalError(f"{path} is no file, and can't be a journal.", "Choose another path.")
    _sync_folder(path.parent)
    return descriptor


def _hold(path: Path, descriptor: int) -> None:
    """Two kiosks on one journal would credit a note twice. Windows has no flock; there the wire's port is the guard."""
    if sys.platform != "win32":
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise JournalError(f"Journal {path} is held by another kiosk.", "Stop that one first.") from error


def _sync_folder(folder: Path) -> None:
    """Make the file's name durable too, where folders can be synced."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _line(record: Record) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode("ascii")
    return b"%s\t%08x\n" % (text, zlib.crc32(text))


def _read(content: bytes, path: Path) -> tuple[list[Record], int]:
    """Return the entries, and how many bytes of the file they take. Raises JournalError."""
    records: list[Record] = []
    size = 0
    for line in content.splitlines(keepends=True):
        record = _parse(line)
        if record is None or record["n"] != len(records) + 1:
            _refuse_damage(content[size:], path, len(records) + 1)
            break
        records.append(record)
        size += len(line)
    if not records and content and not content.startswith(LINE_START[: len(content)]):
        raise JournalError(f"{path} holds something else than a journal.", "Choose another path.")
    return records, size


def _parse(line: bytes) -> Record | None:
    """Return the entry, None if the line is torn or damaged."""
    text, _, crc = line.partition(b"\t")
    if crc != b"%08x\n" % zlib.crc32(text):
        return None
    record: Record = json.loads(text)
    return record


def _refuse_damage(rest: bytes, path: Path, number: int) -> None:
    """Raise JournalError if a good line begins anywhere in what can't be read, even behind a damaged newline."""
    starts = [at.start() for at in re.finditer(re.escape(LINE_START), rest)]
    if any(_parse(rest[at : rest.find(b"\n", at) + 1]) for at in starts):
        raise JournalError(
            f"Journal {path} is damaged at line {number}, with good lines behind it.",
            "Keep the file for the auditor, and start a new journal under supervision.",
        )

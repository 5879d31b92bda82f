"""Files that survive a crash: appended line by line, or put in place whole. A full disk is one clear sentence."""

from __future__ import annotations

import errno
import json
import os
import re
from pathlib import Path
from typing import Any

from pitbench.errors import PitbenchError


class EvidenceError(PitbenchError):
    """Evidence can't be written or read."""


def unwritable(path: Path, error: OSError) -> EvidenceError:
    """The sentence for a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return EvidenceError(
            f"The disk is full: {path} could not be written.",
            "Free some space and run again; what was recorded is kept.",
        )
    return EvidenceError(f"{path} could not be written ({error.strerror}).", "Name a folder that you can write to.")


def write_whole(path: Path, text: str, sync: bool = True) -> None:
    """Put a file in place whole: a reader sees the old text or the new one.

    `sync` waits for the disk; what can be made again needn't. Raises EvidenceError.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise unwritable(path, error) from error


def slug(name: str) -> str:
    """A name that is a file name everywhere."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", name).strip("_.") or "run"


def to_json(value: Any, indent: int | None = None) -> str:
    """JSON of anything; what JSON doesn't know stands as its repr, bytes as hex."""
    if indent is None:
        return _one_line(value)
    return json.dumps(value, ensure_ascii=False, indent=indent, default=_plain)


def to_json_lines(values: dict[str, Any]) -> str:
    """A JSON object with each value, and each item of a list, on a line of its own: readable, and fast to make."""
    return "{\n" + ",\n".join(f"{to_json(key)}: {_by_line(value)}" for key, value in values.items()) + "\n}\n"


def _by_line(value: Any) -> str:
    return "[\n" + ",\n".join(map(to_json, value)) + "\n]" if value and isinstance(value, list) else to_json(value)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray):
        return value.hex(" ")
    return list(value) if isinstance(value, set | frozenset | tuple) else repr(value)


# Made once: json.dumps() makes an encoder a call, and a run writes a quarter of a million rows.
_one_line = json.JSONEncoder(ensure_ascii=False, default=_plain).encode


class Lines:
    """A file of JSON lines, each handed to the operating system as soon as it is added; `sync` reaches the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise unwritable(path, error) from error

    def add(self, row: dict[str, Any]) -> None:
        """Append one row. Raises EvidenceError."""
        try:
            self._file.write(to_json(row) + "\n")
            self._file.flush()
        except OSError as error:
            raise unwritable(self.path, error) from error

    def sync(self) -> None:
        """Wait until every row is on the disk. Raises EvidenceError."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from error

    def close(self) -> None:
        """Close the file; rows stay. Raises EvidenceError."""
        try:
            self._file.close()
        except OSError as error:
            raise unwritable(self.path, error) from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Rows of such a file; a last row that was cut off is left out. Raises EvidenceError for another damaged one."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = _rows(lines)
    if len(rows) < len(lines) - 1:
        raise EvidenceError(f"{path}, line {len(rows) + 1} is damaged.", "Take the folder as the run left it.")
    return rows


def _rows(lines: list[str]) -> list[Any]:
    rows = []
    for line in lines:
        try:
            rows.append(json.loads(line))
        except ValueError:
            break
    return rows


def read_ends(path: Path, first: int, last: int) -> tuple[list[Any], int, list[Any]]:
    """The first and the last rows of such a file, and how many lie between; only these are decoded."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if len(lines) <= first + last:
        return _rows(lines), 0, []
    return _rows(lines[:first]), len(lines) - first - last, _rows(lines[-last:])


def read_json(path: Path) -> Any:
    """A JSON file. Raises EvidenceError when it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise EvidenceError(f"{path} can't be read as a run's record ({why}).", "Name the folder of a run.") from error

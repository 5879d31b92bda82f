"""The shapes of what a run's folder holds: evidence that was damaged or written by hand is named, not tripped over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pitbench_hil.catalogue import Limit
from pitbench_hil.durable import EvidenceError, read_json

Shape = Mapping[str, Any]

_NUMBER = (int, float)
_ANY = object
_RUN: Shape = {"device": str, "target": str, "profiles": list, "started": str, "status": str}
_COLLECTION: Shape = {"tests": dict, "problems": list, "narrowed": bool}
_JUDGED: Shape = {"rule": dict, "verdict": str, "label": str, "counts": bool, "records": list}
_TRACE: Shape = {"t": _NUMBER, "port": str, "dir": str}
# Kinds of line of a record, and what each must have.
_ROWS: Mapping[str, Shape] = {
    "start": {"test": str, "rules": list, "image": str, "trace": str},
    "identity": {"identity": dict, "rung": str, "pc": dict},
    "stimulus": {"text": str},
    "note": {"text": str},
    "picture": {"text": str, "file": str},
    "measure": {"name": str, "value": _ANY, "unit": str, "uncertainty": _NUMBER},
    "expect": {"name": str, "observed": _ANY, "expected": _ANY, "met": bool},
    "untold": {"name": str, "why": str},
    "skipped": {"why": str},
    "broken": {"why": str},
    "end": {},
}


def run_head(folder: Path) -> dict[str, Any]:
    """What run.json says. Raises EvidenceError."""
    return _file(folder / "run.json", _RUN)


def collected(path: Path) -> dict[str, Any]:
    """What collection.json says. Raises EvidenceError."""
    found = _file(path, _COLLECTION)
    if not all(isinstance(rules, list) for rules in found["tests"].values()):
        raise _malformed(str(path), "'tests' is no list of rules for each test")
    return found


def judged(path: Path) -> dict[str, Any]:
    """What a file of rules/ says. Raises EvidenceError."""
    found = _file(path, _JUDGED)
    _refuse(str(path), found["rule"], {"id": str, "citation": str, "basis": str, "limits": dict})
    return found


def checked_rows(path: Path, rows: list[Any]) -> list[dict[str, Any]]:
    """The rows of a record, each of a known shape. Raises EvidenceError, with the line."""
    for number, row in enumerate(rows, 1):
        place = f"{path}, line {number}"
        _refuse(place, row, {"kind": str, "t": _NUMBER})
        if row["kind"] not in _ROWS or (row["kind"] == "start") != (number == 1):
            raise _malformed(place, f"a line of kind '{row['kind']}' can't stand there")
        _refuse(place, row, _ROWS[row["kind"]])
        if row["kind"] == "measure":
            _refuse_limit(place, row.get("limit"))
    return rows


def checked_trace(path: Path, rows: list[Any]) -> list[dict[str, Any]]:
    """The rows of a trace, each of its shape. Raises EvidenceError."""
    for row in rows:
        _refuse(str(path), row, _TRACE)
        if not isinstance(row.get("text"), str) and not _is_hex(row.get("hex")):
            raise _malformed(str(path), "a line has neither text nor hex")
    return rows


def _file(path: Path, shape: Shape) -> dict[str, Any]:
    found: dict[str, Any] = read_json(path)
    _refuse(str(path), found, shape)
    return found


def _refuse(place: str, value: Any, shape: Shape) -> None:
    if not isinstance(value, dict):
        raise _malformed(place, "it is no JSON object")
    for name, kind in shape.items():
        if name not in value:
            raise _malformed(place, f"'{name}' is missing")
        if not isinstance(value[name], kind):
            raise _malformed(place, f"'{name}' is {value[name]!r}")


def _refuse_limit(place: str, limit: Any) -> None:
    if limit is None:
        return
    _refuse(place, limit, {})
    numbers = [limit.get("min") or 0, limit.get("max") or 0]
    if not limit.keys() <= Limit.__dataclass_fields__.keys() or not all(isinstance(n, _NUMBER) for n in numbers):
        raise _malformed(place, f"'limit' is {limit!r}")


def _is_hex(text: Any) -> bool:
    try:
        return isinstance(text, str) and bytes.fromhex(text) is not None
    except ValueError:
        return False


def _malformed(place: str, why: str) -> EvidenceError:
    return EvidenceError(f"{place} is malformed: {why}.", "Take the folder as the run left it.")

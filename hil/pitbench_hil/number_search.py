"""Looks for a voucher's number where it may not stand in full (N.J.A.C. 13:69E-1.40(l))."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

# Shorter runs of digits stand anywhere by chance.
LEAST = 4


def shown_digits(text: str, number: str) -> int:
    """How many digits of the number stand in a row somewhere in the text; LEAST for LEAST or fewer."""
    for length in range(len(number), LEAST, -1):
        if any(number[at : at + length] in text for at in range(len(number) - length + 1)):
            return length
    return LEAST


def holds(content: bytes, numbers: Iterable[str]) -> bool:
    """Whether one of the numbers stands in the content: as text, as hex, as spaced hex."""
    return any(form in content for number in numbers for form in _forms(number.encode()))


def files_below(root: Path) -> list[Path]:
    """The file itself, or every file below a folder."""
    return [path for path in root.rglob("*") if path.is_file()] if root.is_dir() else [root]


def content(path: Path) -> bytes:
    """Its bytes; nothing of a draft that another process has put in place meanwhile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _forms(number: bytes) -> tuple[bytes, bytes, bytes]:
    return number, number.hex().encode(), number.hex(" ").encode()

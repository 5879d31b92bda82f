"""Sets of files compared, and sequences."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

Content = TypeVar("Content")


def different_files(one: Mapping[str, Content], other: Mapping[str, Content]) -> list[str]:
    """Paths that only one has, or that hold something else in each."""
    return sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))


def differing(one: Sequence[object], other: Sequence[object]) -> int:
    """Places at which two sequences differ; what one has more is different too."""
    return sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))


def sha256(data: bytes) -> str:
    """Digest in hex, as the board gives it."""
    return hashlib.sha256(data).hexdigest()

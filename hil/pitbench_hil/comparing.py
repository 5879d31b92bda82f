"""Sets of files compared."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TypeVar

Content = TypeVar("Content")


def different_files(one: Mapping[str, Content], other: Mapping[str, Content]) -> list[str]:
    """Paths that only one has, or that hold something else in each."""
    return sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))


def sha256(data: bytes) -> str:
    """Digest in hex, as the board gives it."""
    return hashlib.sha256(data).hexdigest()

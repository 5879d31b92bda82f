"""TOML files, read the same way on every Python."""

from __future__ import annotations

import sys
from pathlib import Path

from pitbench.image_error import ImageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def read_toml(path: Path) -> dict[str, object]:
    """Return the tables of a TOML file.

    Raises ImageError naming file and line if it isn't TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as e:
        raise ImageError(f"{path} isn't valid TOML ({e}).", "Correct it.") from e

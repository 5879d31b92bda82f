"""The devices that a board can be, by the names used on the command line, and what a person may try with each.

NAME.toml beside this file holds a device's examples: words for `pitbench do`, by kind of image.
"""

from __future__ import annotations

from pathlib import Path

from pitbench.errors import UnknownName
from pitbench.sources import DEVICES as BUILT
from pitbench.sources import product_name
from pitbench.tables import read_toml

_HERE = Path(__file__).parent


def device_named(text: str) -> str:
    """The device's own name for what a person typed. Raises UnknownName."""
    name = product_name(text.lower())
    if name not in BUILT:
        raise UnknownName("device", text, list(BUILT))
    return name


def examples(device: str, kind: str) -> list[str]:
    """What to try by the link of an image of this kind; nothing where the device has no such file."""
    path = _HERE / f"{device}.toml"
    tried = read_toml(path).get("try") if path.exists() else None
    return list(tried.get(kind, ())) if isinstance(tried, dict) else []

"""The devices that a board can be, by the names used on the command line."""

from __future__ import annotations

from pitbench.errors import NotBuilt, UnknownName
from pitbench.sources import DEVICES as BUILT

FORESEEN = ("dice-shaker",)


def device_named(text: str) -> str:
    """The device's own name for what a person typed. Raises UnknownName, NotBuilt."""
    name = text.lower().replace("_", "-")
    if name in FORESEEN:
        raise NotBuilt(f"The device '{name}'", f"Choose from: {', '.join(BUILT)}.")
    if name not in BUILT:
        raise UnknownName("device", text, list(BUILT))
    return name

"""The host's side of each wire protocol, written apart from the firmware; no port is opened here.

A protocol is the module NAME.py, by the name that a product gives its wire; `Protocol` is what the bench asks of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from typing import Protocol as Shape

from pitbench.errors import UnknownName
from pitbench.framing import Framing


class Decoder(Shape):
    """Finds a protocol's frames in a stream of bytes."""

    def feed(self, data: bytes) -> Sequence[Any]:
        """Take received bytes; return the frames that they complete."""


class Protocol(Shape):
    """What a protocol's module has, beside its codes and frames."""

    @property
    def TITLE(self) -> str:
        """Its name for people."""

    @property
    def FRAMING(self) -> Framing:
        """How it sets its port."""

    @property
    def HINT(self) -> str:
        """What a person may point at the wire; `{wire}` is its path."""

    @property
    def WHO(self) -> bytes:
        """One frame that any device answers: the bench proves with it that link and wire are one board.

        Where a device may take it for its last one again, `BEFORE_WHO` is sent first.
        """

    @property
    def TELLS_SIGNATURE(self) -> bool:
        """Whether that answer carries the image's CRC."""

    def Decoder(self) -> Decoder:
        """A decoder of what devices send."""

    def who_text(self, frame: Any) -> str | None:
        """What the answer to WHO says, in words; None for any other frame."""

    def frame_names(self, data: bytes, to_board: bool) -> list[str]:
        """Names of the frames in these bytes, of one direction, for a trace's reader."""


@cache
def names() -> tuple[str, ...]:
    """The protocols that there are, by the names of their wires."""
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return tuple(sorted(stem for stem in stems if "_" not in stem))


def protocol_named(name: str) -> Protocol:
    """The protocol of a wire, by the name that a product or an identity gives it. Raises UnknownName."""
    if name not in names():
        raise UnknownName("protocol", name, list(names()))
    return import_module(f"{__name__}.{name}")  # type: ignore[return-value]

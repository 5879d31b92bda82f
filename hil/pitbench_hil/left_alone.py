"""A board whose link nobody ever opened, beside one that a bench attends to (13:69E-1.28(c))."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pitbench.image import Image
from pitbench.protocols import protocol_named
from pitbench.targets import Board, make_board
from pitbench.transport import TraceSink, open_transport


class NoLink:
    """Stands where a link would be: whoever asks it has a fault."""

    def __init__(self, wire: str) -> None:
        self.identity: dict[str, Any] = {"wire": wire}

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the link of an unattended board was used: {name}")


@contextmanager
def left_alone(attended: Board, image: Image, root: Path, trace: TraceSink) -> Iterator[Board]:
    """A second board of the same make, nothing but its wire open.

    Args:
        image: what it runs.
        root: folder that becomes its flash.
        trace: sink for its wire.

    Raises BeyondRig where boards aren't virtual.
    """
    _ = attended.supervisor  # a second board of the same make is there where boards are virtual
    spoken = str(attended.identity["wire"])
    framing = protocol_named(spoken).FRAMING
    with (
        make_board(attended.target, root, image) as virtual,
        open_transport(virtual.wire_path, name="wire-unattended", framing=framing, trace=trace) as wire,
    ):
        yield Board(attended.target, attended.rung, NoLink(spoken), wire, virtual)  # type: ignore[arg-type]

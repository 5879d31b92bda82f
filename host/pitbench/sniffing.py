"""What crosses a wire, frame by frame in words, from rows of bytes however they were cut."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from pitbench.errors import PitbenchError
from pitbench.masking import mask_wire
from pitbench.protocols import Protocol
from pitbench.transport import FROM_BOARD, TO_BOARD

# Of a line where nobody can tell who speaks: a tap on a single wire.
EITHER = "either"
# Bytes of one side that follow each other within this time are one piece, in seconds.
GAP_S = 0.03
# Frames of a masked trace have no right checksum any more.
MASKED = b"***"
# No monotonic clock has come that far.
_WALL_CLOCK = 1e9
_ARROWS = {TO_BOARD: ">", FROM_BOARD: "<", EITHER: "-"}


@dataclass(frozen=True)
class Row:
    """Bytes of one direction (TO_BOARD, FROM_BOARD or EITHER), and when they came, in seconds of any clock."""

    time: float
    direction: str
    data: bytes

    def json(self) -> str:
        """One line of a trace."""
        row = {"t": round(self.time, 6), "port": "wire", "dir": self.direction, "hex": mask_wire(self.data).hex(" ")}
        return json.dumps(row)


def rows_of(lines: Iterable[str], name: str) -> Iterator[Row]:
    """The wire's rows of a trace; those of a link are passed over.

    Args:
        lines: JSON objects with `t` (seconds), `port`, `dir` and `hex`, one a line.
        name: of the trace, for messages.

    Raises PitbenchError, with the line.
    """
    for number, line in enumerate(lines, 1):
        if line.strip():
            row = _row(line, f"{name}, line {number}")
            if row is not None:
                yield row


def _row(line: str, place: str) -> Row | None:
    try:
        row: Any = json.loads(line)
        if "text" in row:
            return None
        if row["dir"] not in _ARROWS:
            _no_row(place)
        if not math.isfinite(row["t"]):
            _no_row(place)
        return Row(float(row["t"]), row["dir"], bytes.fromhex(row["hex"].replace("*", "2a")))
    except (ValueError, TypeError, KeyError, AttributeError):
        _no_row(place)


def _no_row(place: str) -> NoReturn:
    raise PitbenchError(
        f"{place} is no row of a trace.", 'A row is {"t": seconds, "port": "wire", "dir": "to_board", "hex": "fc 05"}.'
    )


class Sniffer:
    """Says rows in words, frames that came in pieces joined: give it rows as they come; `flush` when all is silent.

    Args:
        protocol: the wire's.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._piece: Row | None = None
        self._last = 0.0

    def take(self, row: Row) -> list[str]:
        """Lines for the piece that this row ends, none while it goes on."""
        piece, lines, came = self._piece, list[str](), row.time
        if piece and piece.direction == row.direction and row.time - self._last <= GAP_S:
            row = Row(piece.time, piece.direction, piece.data + row.data)
        else:
            lines = self.flush()
        self._piece, self._last = row, came
        return lines + self._whole(row)

    def _whole(self, piece: Row) -> list[str]:
        """A line for the frames that are whole already; what comes behind them is the next piece."""
        if piece.direction == EITHER:
            return []
        to_board = piece.direction == TO_BOARD
        every = self._frames(piece.data, to_board)
        ends = (end for end in range(1, len(piece.data) + 1) if self._frames(piece.data[:end], to_board) == every)
        if not every or (end := next(ends, 0)) == 0:
            return []
        rest = piece.data[end:]
        self._piece = Row(piece.time, piece.direction, rest) if rest else None
        return [self._line(Row(piece.time, piece.direction, piece.data[:end]))]

    def _frames(self, data: bytes, to_board: bool) -> int:
        return len(self._protocol.frame_names(data, to_board))

    def due(self, now: float) -> bool:
        """Whether the line was silent long enough for the piece in hand to be whole; `now` on the rows' clock."""
        return self._piece is not None and now - self._last > GAP_S

    def flush(self) -> list[str]:
        """Lines for what is in hand."""
        piece, self._piece = self._piece, None
        return [] if piece is None else [self._line(piece)]

    def _line(self, piece: Row) -> str:
        shown = mask_wire(piece.data).hex(" ")
        return f"{_when(piece.time)} {_ARROWS[piece.direction]} {shown}   {self._words(piece)}"

    def _words(self, piece: Row) -> str:
        host, device = (
            ", ".join(self._protocol.frame_names(piece.data, to_board)) if piece.direction in (side, EITHER) else ""
            for side, to_board in ((TO_BOARD, True), (FROM_BOARD, False))
        )
        if host and device and host != device:
            return f"host: {host}; device: {device}"
        return host or device or ("a masked number" if MASKED in piece.data else "damaged")


def _when(seconds: float) -> str:
    """Time of day, where the clock is one that has it."""
    if seconds < _WALL_CLOCK:
        return f"{seconds:12.3f}"
    return datetime.fromtimestamp(seconds).strftime("%H:%M:%S.%f")[:-3]

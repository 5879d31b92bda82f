"""The mirrored record of a virtual board, read and written from outside while the board is off.

A copy is the header `<4sIII` (magic, sequence, length, CRC-32 of the text begun with the sequence) and JSON text.
Written here on its own, so that a board that misreads its own format is found.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any

from pitbench.virtual.flash import BoardFlash

MAGIC = b"PIT1"
HEADER = struct.Struct("<4sIII")
COPIES = ("/data/a", "/data/b")


def pack(record: dict[str, Any], sequence: int) -> bytes:
    """Return one copy of a record."""
    text = json.dumps(record).encode()
    return HEADER.pack(MAGIC, sequence, len(text), zlib.crc32(text, sequence)) + text


def unpack(data: bytes) -> tuple[int, dict[str, Any]]:
    """Return (sequence, record) of a copy. Raises ValueError when it is damaged."""
    magic, sequence, size, crc = HEADER.unpack(data[: HEADER.size])
    text = data[HEADER.size :]
    if magic != MAGIC or size != len(text) or crc != zlib.crc32(text, sequence):
        raise ValueError("damaged copy of the record")
    return sequence, json.loads(text)


def read(flash: BoardFlash) -> dict[str, Any]:
    """Return the record that a board with this flash would start with."""
    files = flash.read()
    return max((unpack(files[path]) for path in COPIES), key=lambda found: found[0])[1]


def write(flash: BoardFlash, record: dict[str, Any]) -> None:
    """Replace both copies, the board being off."""
    files = flash.read()
    sequence = 1 + max(unpack(files[path])[0] for path in COPIES)
    flash.change(dict.fromkeys(COPIES, pack(record, sequence)))


def forget_data(flash: BoardFlash) -> None:
    """Take away all that the device keeps, the board being off: it starts as new."""
    flash.change({}, [path for path in flash.read() if path.startswith("/data/")])

"""The acceptor's wire on a device that is stepped by hand, with frames of public vectors."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from kermit import crc16
from line import HandLine
from test_acceptor_table import idle
from wire.id003 import Wire

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "id003.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
HOST = [data for (sender, _), data in FRAMES.items() if sender in ("host", "either")]
POLL, ACK = FRAMES["host", "status request"], FRAMES["either", "ack"]
STACK, INHIBIT_OFF = FRAMES["host", "stack 1"], FRAMES["host", "inhibit off"]


class Line(HandLine):
    """ID-003 on a device that is stepped by hand."""

    def __init__(self, hand=None) -> None:
        boot = SimpleNamespace(image_crc=0xBEEF, checksum=lambda seed, width: self.checksum)
        super().__init__(Wire, hand or idle(), boot)


def frame(command: int, data: bytes = b"") -> bytes:
    body = bytes((0xFC, len(data) + 5, command)) + data
    return body + crc16(body).to_bytes(2, "little")


def bodies(stream: bytes) -> list[bytes]:
    """Command and data of each frame of a clean stream."""
    found = []
    while stream:
        assert stream[0] == 0xFC
        assert crc16(stream[: stream[1]]) == 0
        found.append(stream[2 : stream[1] - 2])
        stream = stream[stream[1] :]
    return found

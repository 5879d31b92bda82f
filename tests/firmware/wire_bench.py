"""The acceptor's wire on a device that is stepped by hand, with frames of public vectors."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from fake_port import Port
from kermit import crc16
from test_acceptor_table import idle
from wire.id003 import Wire

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "id003.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
HOST = [data for (sender, _), data in FRAMES.items() if sender in ("host", "either")]
POLL, ACK = FRAMES["host", "status request"], FRAMES["either", "ack"]
STACK, INHIBIT_OFF = FRAMES["host", "stack 1"], FRAMES["host", "inhibit off"]


class Line:
    """A wire on a device that was stepped by hand; every event that the wire gives it is noted."""

    def __init__(self, hand=None) -> None:
        self.hand, self.port, self.events, self.now = hand or idle(), Port(), [], 0
        boot = SimpleNamespace(image_crc=0xBEEF, checksum=lambda seed, width: self.checksum)
        self.wire = Wire(self.hand.device, self.port, crc16, self.step, boot, 0)

    def step(self, event) -> None:
        self.events.append(event)
        self.hand.step(*event)

    def send(self, data: bytes, after_ms: int = 1) -> bytes:
        patience = self.wire.patience(self.now)
        self.now += after_ms
        self.hand.now = self.now
        if patience <= after_ms:
            self.wire.poll(self.now)
        self.port.sent, self.port.incoming = b"", data
        self.wire.poll(self.now)
        return self.port.sent

    def wait(self, ms: int) -> bytes:
        self.port.sent = b""
        end = self.now + ms
        while self.now < end:
            self.now += 10
            self.wire.tick(self.now)
        return self.port.sent


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

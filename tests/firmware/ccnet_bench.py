"""The acceptor's CCNET wire on a device that is stepped by hand, or with the plant as its world."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

from acceptor_bench import Desk
from fake_port import Port
from kermit import crc16
from line import HandLine
from test_acceptor_table import idle
from wire.ccnet import Wire

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ccnet.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
HOST = [data for (sender, _), data in FRAMES.items() if sender in ("host", "either")]
POLL, ACK, RESET = FRAMES["host", "poll"], FRAMES["either", "ack"], FRAMES["host", "reset"]
STACK, RETURN, HOLD = FRAMES["host", "stack"], FRAMES["host", "return"], FRAMES["host", "hold"]
ESCROW, NO_ESCROW = FRAMES["host", "enable all, escrow"], FRAMES["host", "enable all, no escrow"]
DISABLE = FRAMES["host", "disable all"]
ILLEGAL, NO = b"\x30", b"\xff"
UNIQUE = "e6614c311b8c6f2a"


def frame(command: int, data: bytes = b"", address: int = 3) -> bytes:
    body = bytes((2, address, len(data) + 6, command)) + data
    return body + crc16(body).to_bytes(2, "little")


NAK = frame(0xFF)


def bodies(stream: bytes) -> list[bytes]:
    """What each frame of a clean stream says."""
    found = []
    while stream:
        assert stream[:2] == b"\x02\x03"
        assert crc16(stream[: stream[2]]) == 0
        found.append(stream[3 : stream[2] - 2])
        stream = stream[stream[2] :]
    return found


class Line(HandLine):
    """CCNET on a device that is stepped by hand."""

    def __init__(self, hand=None) -> None:
        self.device = (hand := hand or idle()).device
        self.device.settings.set("bill_types", b"\xff" * 6)
        super().__init__(Wire, hand, self.boot())

    def boot(self) -> SimpleNamespace:
        port = SimpleNamespace(unique_id=lambda: UNIQUE)
        return SimpleNamespace(image_crc=0xBEEF, checksum=lambda seed, width: self.checksum(seed, width), port=port)

    def ask(self, data: bytes) -> bytes:
        """The one answer to a frame, acknowledged by nobody; empty for silence."""
        said = bodies(self.send(data))
        assert len(said) < 2
        return said[0] if said else b""

    def poll(self) -> bytes:
        """What a host hears that acknowledges it."""
        told = self.ask(POLL)
        assert self.ask(ACK) == b""
        return told


class Till(Line):
    """A host, the wire, a device and its plant: time runs from one frame to the next."""

    def __init__(self, desk: Desk | None = None) -> None:
        self.desk, self.port, self.events = desk or Desk(), Port(), []
        self.device = self.desk.device
        self.wire = Wire(self.device, self.port, crc16, self.step, self.boot(), self.desk.now)

    def step(self, event) -> None:
        self.events.append(event)
        self.desk.step(*event)

    def send(self, data: bytes, after_ms: int = 50) -> bytes:
        self.desk.run(after_ms)
        self.port.sent, self.port.incoming = b"", data
        self.wire.poll(self.desk.now)
        self.wire.tick(self.desk.now)
        return self.port.sent

    def polls(self, count: int) -> list[bytes]:
        """What so many polls hear, without repetitions."""
        heard = []
        for _ in range(count):
            told = self.poll()
            if heard[-1:] != [told]:
                heard.append(told)
        return heard

    def until(self, told: bytes, polls: int = 200) -> list[bytes]:
        """What is heard until `told` is, which isn't acknowledged."""
        heard = []
        for _ in range(polls):
            heard.append(self.ask(POLL))
            if heard[-1] == told:
                return heard
            self.ask(ACK)
        raise AssertionError(f"{told!r} isn't among {heard}")

    def open(self, how: bytes = ESCROW) -> Till:
        """As hosts begin: poll, reset, enable."""
        self.poll()
        assert self.ask(RESET) == b"\0"
        self.until(b"\x19")
        self.ask(ACK)
        assert self.ask(how) == b"\0"
        assert self.poll() == b"\x14"
        return self

"""The acceptor's ccTalk wire on a device that is stepped by hand, or with the plant as its world."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import crcmod.predefined
from acceptor_bench import Desk
from bench.plant.bill_acceptor import Plant
from fake_port import Port
from kermit import crc16
from line import HandLine
from test_acceptor_table import idle
from wire.cctalk import Wire

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "cctalk.json").read_text())
FRAMES = {(row["protocol"][7:], row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
HOST = [data for (_, sender, _), data in FRAMES.items() if sender == "host"]
XMODEM = crcmod.predefined.mkCrcFun("xmodem")
KINDS = ("sum", "crc")
UNIQUE = "e6614c311b8c6f2a"

POLL, SIMPLE_POLL, RESET, ROUTE = 159, 254, 1, 154
MASK, MASTER, MODE, SELF_CHECK, BARCODE = 231, 228, 153, 232, 129
ALL_ON, ON, OFF = b"\xff\xff", b"\1", b"\0"
RETURN, STACK, EXTEND = b"\0", b"\1", b"\xff"
ACK, NAK, BUSY = (0, b""), (5, b""), (6, b"")


def frame(header: int, data: bytes = b"", kind: str = "crc", to: int = 40, source: int = 1) -> bytes:
    """A frame to `to`; a checksum frame names its sender."""
    head = bytes((to, len(data)))
    if kind == "sum":
        body = head + bytes((source, header)) + data
        return body + bytes((-sum(body) % 256,))
    crc = XMODEM(head + bytes((header,)) + data)
    return head + bytes((crc & 255, header)) + data + bytes((crc >> 8,))


def bodies(stream: bytes, kind: str = "crc") -> list[tuple[int, bytes]]:
    """Header and data of each frame of a clean stream to the host."""
    found = []
    while stream:
        size = stream[1] + 5
        header, data = stream[3], stream[4 : size - 1]
        assert stream[:size] == frame(header, data, kind, to=1, source=40)
        found.append((header, data))
        stream = stream[size:]
    return found


class Line(HandLine):
    """ccTalk on a device that is stepped by hand."""

    def __init__(self, hand=None, kind: str = "crc") -> None:
        super().__init__(Wire, hand or idle(), self.boot())
        self.device, self.counter, self.kind = self.hand.device, 0, kind

    def boot(self) -> SimpleNamespace:
        port = SimpleNamespace(unique_id=lambda: UNIQUE)
        return SimpleNamespace(image_crc=0xBEEF, checksum=lambda seed, width: self.checksum(seed, width), port=port)

    def send(self, data: bytes, after_ms: int = 1) -> bytes:
        super().send(data, after_ms)
        self.wire.tick(self.now)
        return self.port.sent

    def ask(self, header: int, data: bytes = b"") -> tuple[int, bytes] | None:
        """The one answer to a request; None for silence."""
        said = bodies(self.send(frame(header, data, self.kind)), self.kind)
        assert len(said) < 2
        return said[0] if said else None

    def poll(self) -> tuple[int, list[tuple[int, int]]]:
        """The counter and its five events, newest first."""
        answer = told(self.ask(POLL))
        self.counter = answer[0]
        return answer

    def news(self) -> list[tuple[int, int]]:
        """What polls bring, one after another, until two in a row bring nothing new."""
        found, still = [], 0
        while still < 2:
            before = self.counter
            counter, events = self.poll()
            still = still + 1 if counter == before else 0
            if counter != before:
                assert counter == before % 255 + 1
                found.append(events[0])
        return found


def told(answer: tuple[int, bytes] | None) -> tuple[int, list[tuple[int, int]]]:
    assert answer is not None
    assert answer[0] == 0
    counter, pairs = answer[1][0], answer[1][1:]
    assert len(pairs) == 10
    return counter, [(pairs[n], pairs[n + 1]) for n in range(0, 10, 2)]


class Till(Line):
    """A host, the wire, a device and its plant: time runs from one frame to the next."""

    def __init__(self, desk: Desk | None = None, kind: str = "crc") -> None:
        self.desk, self.port, self.events, self.kind = desk or Desk(), Port(), [], kind
        self.device = self.desk.device
        self.wire = Wire(self.device, self.port, crc16, self.step, self.boot(), self.desk.now)
        self.desk.before_commit = lambda: self.wire.stand(self.desk.now)
        self.counter = 0
        self.heard: list[tuple[int, int]] = []

    @property
    def now(self) -> int:
        return self.desk.now

    def step(self, event) -> None:
        self.events.append(event)
        self.desk.step(*event)

    def send(self, data: bytes, after_ms: int = 50) -> bytes:
        self.run(after_ms)
        self.port.sent, self.port.incoming = b"", data
        self.wire.poll(self.desk.now)
        self.wire.tick(self.desk.now)
        return self.port.sent

    def run(self, ms: int) -> None:
        """Time passes with nobody on the line."""
        end = self.desk.now + ms
        while self.desk.now < end:
            self.desk.run(min(10, end - self.desk.now))
            self.wire.tick(self.desk.now)

    def poll(self) -> tuple[int, list[tuple[int, int]]]:
        """As a host does: what is new since the last poll joins `heard`; after counter 0 it begins anew."""
        before = self.counter
        counter, events = super().poll()
        if counter:
            new = (counter - before) % 255
            assert new <= 5, "events were lost"
            self.heard += reversed(events[:new])
        return counter, events

    def polls(self, count: int) -> list[tuple[int, int]]:
        """The events that so many polls bring."""
        self.heard = []
        for _ in range(count):
            self.poll()
        return self.heard

    def open_for_business(self) -> Till:
        assert self.poll() == (0, [(0, 0)] * 5)
        assert self.ask(MASK, ALL_ON) == ACK
        assert self.ask(MASTER, ON) == ACK
        self.polls(60)
        assert self.device.state == "idle", (self.device.state, self.device.post.steps)
        return self

    def cut(self) -> Till:
        """The power is cut, and comes back a second later."""
        plant = Plant()
        plant.restore(json.loads(json.dumps(self.desk.plant.world())))
        return Till(Desk(self.desk.commits[-1], plant, self.desk.now + 1000), self.kind)

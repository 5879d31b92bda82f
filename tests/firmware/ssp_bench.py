"""SSP's wire on an acceptor that is stepped by hand; CRC by crcmod and AES by cryptography, neither the firmware's."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import crcmod
from acceptor_bench import Hand, note
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from desk import Source
from line import HandLine
from wire.ssp import Wire

crc16 = crcmod.mkCrcFun(0x18005, initCrc=0xFFFF, rev=False)
VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ssp.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
HOST = [data for (sender, _), data in FRAMES.items() if sender == "host"]
POLL, POLL_ACK, EVENT_ACK, SYNC = b"\x07", b"\x56", b"\x57", b"\x11"
HOLD, REJECT, RESET, ENABLE, DISABLE = b"\x18", b"\x08", b"\x01", b"\x0a", b"\x09"
OK, UNKNOWN, WRONG_NUMBER, RANGE, CANT, FAIL, NO_KEY = (bytes((n,)) for n in (0xF0, 0xF2, 0xF3, 0xF4, 0xF5, 0xF8, 0xFA))
TWENTY = 5  # its channel
GENERATOR, MODULUS = 982451653, 1287821


def frame(first: int, data: bytes) -> bytes:
    body = bytes((first, len(data))) + data
    return b"\x7f" + (body + crc16(body).to_bytes(2, "little")).replace(b"\x7f", b"\x7f\x7f")


def answers(stream: bytes) -> list[tuple[int, bytes]]:
    """Sequence and address, and data, of each frame of a clean stream."""
    found = []
    while stream:
        assert stream[0] == 0x7F
        body, at = bytearray(), 1
        while len(body) < 2 or len(body) < body[1] + 4:
            assert stream[at] != 0x7F or stream[at + 1] == 0x7F
            body.append(stream[at])
            at += 2 if stream[at] == 0x7F else 1
        assert crc16(bytes(body[:-2])) == int.from_bytes(body[-2:], "little")
        found.append((body[0], bytes(body[2:-2])))
        stream = stream[at:]
    return found


class Line(HandLine):
    """A host at an acceptor; every event that the wire gives the device is noted.

    Args:
        hand: the device, None for a new one.
        unique: the board's own number.
    """

    def __init__(self, hand: Hand | None = None, unique: str = "00112233f01c962c") -> None:
        boot = SimpleNamespace(image_crc=0xBEEF, identity=lambda: {"uid": unique})
        super().__init__(Wire, hand or Hand(), boot)
        self.bit = 0
        self.source = SimpleNamespace(read=Source().read, healthy=True)
        self.wire.entropy = lambda: self.source
        self.key: bytes | None = None
        self.count = 0

    def next_frame(self, data: bytes) -> bytes:
        made = frame(self.bit, data)
        self.bit ^= 0x80
        return made

    def ask(self, data: bytes) -> bytes:
        """A command with the next sequence bit, and its answer."""
        self.last = self.next_frame(data)
        [(first, answer)] = answers(self.send(self.last))
        assert first == self.bit ^ 0x80
        return answer

    def again(self) -> bytes:
        """The last command with its own bit: its answer was lost."""
        [(_, answer)] = answers(self.send(self.last))
        return answer

    def sync(self) -> None:
        assert self.ask(SYNC) == OK
        self.bit = 0

    def poll(self) -> bytes:
        """What a poll hears behind OK."""
        return said(self.ask(POLL))

    def given(self, name: str) -> list[tuple]:
        return [event for event in self.events if event[:2] == ("host", name)]

    # -- eSSP, as a host does it

    def agree(self, secret: int = 123457) -> None:
        assert self.ask(b"\x4a" + GENERATOR.to_bytes(8, "little")) == OK
        assert self.ask(b"\x4b" + MODULUS.to_bytes(8, "little")) == OK
        answer = self.ask(b"\x4c" + pow(GENERATOR, secret, MODULUS).to_bytes(8, "little"))
        assert answer[:1] == OK
        shared = pow(int.from_bytes(answer[1:], "little"), secret, MODULUS)
        self.key = 0x0123456701234567.to_bytes(8, "little") + shared.to_bytes(8, "little")
        self.count = 0

    def cipher(self) -> Cipher:
        return Cipher(algorithms.AES(self.key), modes.ECB())

    def packet(self, data: bytes, count: int | None = None) -> bytes:
        plain = bytes((len(data),)) + (self.count if count is None else count).to_bytes(4, "little") + data
        plain += b"\xaa" * (-(len(plain) + 2) % 16)
        made = self.cipher().encryptor()
        return b"\x7e" + made.update(plain + crc16(plain).to_bytes(2, "little")) + made.finalize()

    def open(self, packet: bytes) -> tuple[int, bytes]:
        """Count and data of a packet of the device."""
        assert packet[0] == 0x7E
        made = self.cipher().decryptor()
        plain = made.update(packet[1:]) + made.finalize()
        assert crc16(plain[:-2]) == int.from_bytes(plain[-2:], "little")
        return int.from_bytes(plain[1:5], "little"), plain[5 : 5 + plain[0]]

    def ask_sealed(self, data: bytes) -> bytes:
        count, answer = self.open(self.ask(self.packet(data)))
        self.count += 1
        assert count == self.count
        return answer


def said(answer: bytes) -> bytes:
    assert answer[:1] == OK
    return answer[1:]


def opened(version: int = 6) -> Line:
    """A host that has told it to accept everything; it is idle."""
    line = Line()
    assert line.poll() == b"\xf1"
    line.ask(bytes((0x06, version)))
    line.ask(b"\x02\xff\xff")
    assert line.ask(ENABLE) == OK
    line.hand.pass_post()
    assert line.poll() == b""
    line.events.clear()
    return line


def drawn_in(line: Line) -> Line:
    line.hand.sensors(entry=1)
    return line


def read(line: Line, reading: dict | None = None) -> Line:
    """The scan head has measured an item, a good note unless given."""
    drawn_in(line)
    line.hand.sensors(centre=1)
    line.hand.sensors(reading or note(), entry=0, exit=1, centre=0)
    return line


def offered(reading: dict | None = None, version: int = 6) -> Line:
    """A note in escrow, of which the host was told."""
    line = read(opened(version), reading)
    line.poll()
    line.events.clear()
    return line


def past_lever(line: Line) -> Line:
    line.hand.sensors(lever=1)
    line.hand.sensors(exit=0)
    line.hand.sensors(lever=0, chute=1)
    return line


def stacked(line: Line) -> Line:
    line.hand.sensors(home=0)
    line.hand.sensors(home=1, chute=0)
    return line


def credited(reading: dict | None = None, version: int = 6) -> Line:
    """A note past the lever, of which the host wasn't told."""
    line = offered(reading, version)
    line.poll()
    line.events.clear()
    return past_lever(line)

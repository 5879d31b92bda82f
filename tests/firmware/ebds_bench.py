"""EBDS on a device that is stepped by hand, with frames of public sources."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from types import SimpleNamespace

from line import HandLine
from test_acceptor_table import idle
from wire.ebds import Wire

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ebds.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
HOST = [data for (sender, _), data in FRAMES.items() if sender == "host"]
SOFT_RESET = FRAMES["host", "soft reset"]
# Notes, modes and options of the usual poll: all notes, four ways, escrow.
ALL, FOUR_WAYS, ESCROW, STACK, RETURN = 0x7F, 0x0C, 0x10, 0x20, 0x40
BARCODES, POLICY_B, EXTENDED_NOTES, COUPONS = 0x02, 0x04, 0x10, 0x20
UNIQUE = "0123456789abcdef"


def frame(control: int, data: bytes) -> bytes:
    """A frame by the definition: XOR of all but STX and ETX."""
    body = bytes((len(data) + 5, control)) + data
    return b"\x02" + body + bytes((3, reduce(lambda a, b: a ^ b, body)))


class Line(HandLine):
    """A wire on a device that is stepped by hand, and a host that keeps its ACK bit as EBDS asks."""

    def __init__(self, hand=None) -> None:
        port = SimpleNamespace(unique_id=lambda: UNIQUE)
        super().__init__(Wire, hand or idle(), SimpleNamespace(image_crc=0xBEE5, port=port))
        self.bit = 1

    def ask(self, control: int, data: bytes) -> bytes:
        """The next request, its bit moved on: type and data of the reply, whose bit must be the same."""
        self.bit ^= 1
        self.asked = frame(control | self.bit, data)
        return self.body(self.send(self.asked))

    def again(self) -> bytes:
        """The same poll once more, as after a lost reply."""
        return told(self.body(self.send(self.asked)))

    def body(self, reply: bytes) -> bytes:
        assert reply == frame(reply[2], reply[3:-2])
        assert max(reply) < 0x80
        assert reply[2] & 1 == self.bit
        return bytes((reply[2] & 0xF0,)) + reply[3:-2]

    def poll(self, modes: int = FOUR_WAYS | ESCROW, options: int = 0, notes: int = ALL) -> bytes:
        """The four status bytes of a plain reply, or type and data of an extended one."""
        return told(self.ask(0x10, bytes((notes, modes, options))))

    def decide(self, decision: int) -> bytes:
        return self.poll(FOUR_WAYS | ESCROW | decision)

    def auxiliary(self, command: int) -> bytes:
        reply = self.ask(0x60, bytes((0, 0, command)))
        assert reply[0] == 0x60
        return reply[1:]

    def asked_of_the_device(self) -> list:
        """What the wire asked of the device since the last time, beside hearing, telling and settings."""
        events, self.events[:] = [e for e in self.events if e[0] == "host"], []
        return events


def told(reply: bytes) -> bytes:
    if reply[0] != 0x20:
        return reply
    assert reply[5:] == b"\x54\x01"
    return reply[1:5]


def settled(hand) -> Line:
    """A line on which the settings of its polls stand already, and nothing is pending."""
    line = Line(hand)
    line.poll()
    line.events.clear()
    return line

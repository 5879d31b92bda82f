"""An SSP note validator as the protocol's text describes it, for testing the host: mechanics, memory, and the truth.

`stacked` and `returned` are what really happened to the paper; no test may look at the validator's own idea of it.
Written from the protocol, with frames and CRC of its own, and not from any firmware.
"""

import random
from dataclasses import dataclass, field

from acceptor_model import Paper, Times
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from kiosk_bench import Bench
from pitbench.kiosk.kiosk import Kiosk
from pitbench.protocols.ssp_host import SspHost

# Value of channel 1, 2 …; channel 2 is not in use.
UNITS = (1, 0, 5, 10, 20, 50, 100)
FIXED = bytes.fromhex("6745230167452301")
ACKNOWLEDGED = {0xEE, 0xE1, 0xE2, 0xD1}


def crc(data: bytes) -> int:
    value = 0xFFFF
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ (0x8005 if value & 0x8000 else 0)) & 0xFFFF
    return value


def stuffed(data: bytes) -> bytes:
    return b"".join(b"\x7f\x7f" if byte == 0x7F else bytes([byte]) for byte in data)


def frame(seq: int, data: bytes) -> bytes:
    body = bytes([seq, len(data)]) + data
    return b"\x7f" + stuffed(body + crc(body).to_bytes(2, "little"))


def unframed(stream: bytes) -> tuple | None:
    """(SEQ and address, data), or None if these aren't the bytes of one frame."""
    body = stream[1:].replace(b"\x7f\x7f", b"\x7f")
    whole = stream[:1] == b"\x7f" and len(body) >= 5 and len(body) == body[1] + 4
    if not whole or stuffed(body) != stream[1:] or crc(body[:-2]).to_bytes(2, "little") != body[-2:]:
        return None
    return body[0], body[2:-2]


class Keys:
    """The device's half of eSSP."""

    def __init__(self, seed: int = 1):
        self._random = random.Random(seed)
        self.generator = self.modulus = 0
        self.cipher = None
        self.count = 0

    def exchange(self, number: int) -> bytes:
        exponent = self._random.randrange(2, self.modulus)
        key = FIXED + pow(number, exponent, self.modulus).to_bytes(8, "little")
        self.cipher, self.count = Cipher(algorithms.AES(key), modes.ECB()), 0
        return b"\xf0" + pow(self.generator, exponent, self.modulus).to_bytes(8, "little")

    def opened(self, data: bytes) -> bytes | None:
        if self.cipher is None or len(data) % 16 != 1:
            return None
        decryptor = self.cipher.decryptor()
        packet = decryptor.update(data[1:])
        sound = crc(packet[:-2]).to_bytes(2, "little") == packet[-2:]
        if not sound or int.from_bytes(packet[1:5], "little") != self.count:
            return None
        self.count += 1
        return packet[5 : 5 + packet[0]]

    def sealed(self, data: bytes) -> bytes:
        packet = bytes([len(data)]) + self.count.to_bytes(4, "little") + data
        packet += self._random.randbytes(-(len(packet) + 2) % 16)
        encryptor = self.cipher.encryptor()
        return b"\x7e" + encryptor.update(packet + crc(packet).to_bytes(2, "little"))


@dataclass
class Validator:
    """One note validator.

    Args:
        knows_ack: poll with ack and event ack. Without, events of money are told once, in one reply.
        keeps: without poll with ack, events of money are kept until the next SEQ, over a power cut too.
        knows_keys: exchanges keys; `demands_key`: takes nothing without.
        reads_tickets: has a barcode reader.
        protocol: highest version that it knows.
        refuses: commands answered with this code.
    """

    times: Times = field(default_factory=Times)
    knows_ack: bool = True
    keeps: bool = True
    knows_keys: bool = True
    demands_key: bool = False
    reads_tickets: bool = True
    protocol: int = 8
    refuses: dict = field(default_factory=dict)
    on: bool = True
    place: str = "rest"
    paper: Paper | None = None
    pending: list = field(default_factory=list)  # events of money, durable
    told_money: list = field(default_factory=list)
    queue: list = field(default_factory=list)
    stacked: list = field(default_factory=list)
    returned: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    trail: list = field(default_factory=list)
    error: int = 0
    reason: int = 0
    enabled: bool = False
    channels: int = 0
    tickets: bool = False
    version: int = 0
    offered: bool = False  # the note in escrow was told
    ticket: tuple = (0, "")
    due: int | None = None
    escrow_until: int = 0
    now: int = 0

    def __post_init__(self):
        self.power_on()

    @property
    def state(self) -> str:
        if self.place == "rest":
            return "idle" if self.enabled and not self.error else "disabled"
        return self.place

    # The world

    def insert(self, paper: Paper) -> bool:
        if not self.on or self.state != "idle" or (self.pending and self.knows_ack):
            return False
        self.paper = paper
        self._go("accepting", self.times.accept)
        return True

    def cut(self) -> None:
        self.on = False

    def power_on(self) -> None:
        self.on, self.error, self.enabled, self.channels, self.tickets = True, 0, False, 0, False
        self.last_seq: int | None = None
        self.last_reply = b""
        self.keys = Keys()
        self.queue = [b"\xf1"]
        kept = [event for event in self.pending + self.told_money if self.knows_ack or self.keeps]
        self.told_money = []
        # What was stacked and isn't known to the host is told as such, once more.
        self.pending = [b"\xe2" + event[1:] if event[0] == 0xEE else event for event in kept]
        if self.paper:
            self.pending.append(bytes([0xE1, 0 if self.paper.digits else self.paper.code - 0x60]))
            self._go("clearing", self.times.give_back)
        else:
            self._go("rest")

    def fail(self, event: int) -> None:
        self.error = event

    # Time

    def step(self, now: int) -> bytes:
        self.now = now
        if self.on and self.due is not None and now >= self.due:
            self.due = None
            getattr(self, "_after_" + self.place)()
        if self.on and self.place == "escrow" and now > self.escrow_until:
            self._reject(0x13)
        return b""

    def _go(self, place: str, ms: int | None = None) -> None:
        self.place = place
        self.trail.append(place)
        self.due = None if ms is None else self.now + ms

    def _after_accepting(self) -> None:
        taken = self.tickets if self.paper.digits else self.channels >> (self.paper.code - 0x61) & 1
        if not taken or not self.enabled:
            return self._reject(0x0C)
        self.offered, self.escrow_until = False, self.now + 10_000
        self.ticket = (1, self.paper.digits)
        return self._go("escrow")

    def _reject(self, reason: int) -> None:
        self.reason = reason
        self.ticket = (3, self.ticket[1])
        self._go("rejecting", self.times.give_back)

    def _after_rejecting(self) -> None:
        self._give_back()
        self.queue.append(b"\xec")

    def _after_clearing(self) -> None:
        self._give_back()

    def _give_back(self) -> None:
        self.returned.append(self.paper)
        self.paper = None
        self._go("rest")

    def _after_stacking(self) -> None:
        # Past the lever: irretrievable, and in the durable memory at the same moment.
        self.stacked.append(self.paper)
        self.pending.append(b"\xd1" if self.paper.digits else bytes([0xEE, self.paper.code - 0x60]))
        self.ticket = (2, self.ticket[1])
        self.paper = None
        self._go("storing", self.times.to_store)

    def _after_storing(self) -> None:
        self.queue.append(b"\xeb")
        self._go("rest")

    # The wire

    def answer(self, stream: bytes, now: int) -> bytes:
        """Answer one frame of the host; damaged ones, and those of others, in silence."""
        self.now = now
        found = unframed(stream) if self.on else None
        if found is None or found[0] & 0x7F:
            return b""
        seq, data = found
        if data == b"\x11":
            self.last_seq = None
            return frame(seq, b"\xf0")
        if seq != self.last_seq:
            reply = self._replied(data)
            if reply is None:
                return b""
            self.last_seq, self.last_reply = seq, frame(seq, reply)
        return self.last_reply

    def _replied(self, data: bytes) -> bytes | None:
        sealed = data[0] == 0x7E
        if sealed:
            opened = self.keys.opened(data)
            return None if opened is None else self.keys.sealed(self._executed(opened))
        free = data[0] in (0x4A, 0x4B, 0x4C)
        return b"\xfa" if self.demands_key and not free else self._executed(data)

    def _executed(self, data: bytes) -> bytes:
        self.told_money = []
        self.commands.append(data)
        if data[0] in self.refuses:
            return bytes([self.refuses[data[0]]])
        act = getattr(self, f"_do_{data[0]:02x}", None)
        return act(data[1:]) if act else b"\xf2"

    def _do_01(self, body):
        if self.place == "rest":
            self.power_on()
        return b"\xf0"

    def _do_02(self, body):
        self.channels = int.from_bytes(body, "little")
        return b"\xf0"

    def _do_05(self, body):
        head = b"\x00" + b"0100" + b"USD" + b"\0\0\1" + bytes([len(UNITS), *UNITS]) + b"\2" * len(UNITS) + b"\0\0\x64"
        expanded = b"USD" * len(UNITS) + b"".join(unit.to_bytes(4, "little") for unit in UNITS)
        return b"\xf0" + head + bytes([self.version]) + (expanded if self.version >= 6 else b"")

    def _do_06(self, body):
        if body[0] > self.protocol:
            return b"\xf8"
        self.version = body[0]
        return b"\xf0"

    def _do_07(self, body):
        events = self._happened() + b"".join(self.pending)
        self.told_money, self.pending = self.pending, []
        return b"\xf0" + events + self._standing()

    def _do_08(self, body):
        if self.place != "escrow":
            return b"\xf5"
        self._reject(0x08)
        return b"\xf0"

    def _do_09(self, body):
        self.enabled = False
        return b"\xf0"

    def _do_0a(self, body):
        self.enabled = True
        return b"\xf0"

    def _do_0c(self, body):
        return b"\xf0" + (4880564).to_bytes(4, "big")

    def _do_17(self, body):
        return bytes([0xF0, self.reason])

    def _do_18(self, body):
        if self.place != "escrow":
            return b"\xf5"
        self.escrow_until = self.now + 10_000
        return b"\xf0"

    def _do_20(self, body):
        return b"\xf0TEST0100"

    def _do_21(self, body):
        return b"\xf0USD01001"

    def _do_24(self, body):
        return b"\xf0" if self.reads_tickets else b"\xf2"

    def _do_26(self, body):
        self.tickets = not body[0] & 2
        return b"\xf0" if self.reads_tickets else b"\xf2"

    def _do_27(self, body):
        state, digits = self.ticket
        return bytes([0xF0, state, len(digits)]) + digits.encode()

    def _do_4a(self, body):
        self.keys.generator = int.from_bytes(body, "little")
        return b"\xf0" if self.knows_keys else b"\xf2"

    def _do_4b(self, body):
        self.keys.modulus = int.from_bytes(body, "little")
        return b"\xf0" if self.knows_keys else b"\xf2"

    def _do_4c(self, body):
        if not self.knows_keys:
            return b"\xf2"
        return self.keys.exchange(int.from_bytes(body, "little")) if self.keys.modulus else b"\xf8"

    def _do_56(self, body):
        if not self.knows_ack:
            return b"\xf2"
        return b"\xf0" + self._happened() + b"".join(self.pending) + self._standing()

    def _do_57(self, body):
        if not self.knows_ack:
            return b"\xf2"
        had, self.pending = self.pending, []
        return b"\xf0" if had else b"\xf5"

    def _happened(self) -> bytes:
        """What a poll tells once, and what it does: it takes what is in escrow and was told before."""
        events, self.queue = b"".join(self.queue), []
        if self.place == "escrow" and self.offered:
            self._go("stacking", self.times.to_lever)
        if self.place == "escrow":
            self.offered = True
            return events + (b"\xe5" if self.paper.digits else bytes([0xEF, self.paper.code - 0x60]))
        moving = {"accepting": b"\xef\x00", "stacking": b"\xcc", "storing": b"\xcc", "rejecting": b"\xed"}
        return events + moving.get(self.place, b"")

    def _standing(self) -> bytes:
        error = bytes([self.error]) if self.error else b""
        return error + (b"" if self.enabled and not self.error else b"\xe8")


class SspBench(Bench):
    """A kiosk with an SSP host, and a model validator."""

    def __init__(self, path, policy=None, settings=None, validator=None, **others):
        super().__init__(path, policy, settings, validator or Validator(), **others)

    def _new_kiosk(self) -> Kiosk:
        return Kiosk(self.journal(self.path, wall=lambda: 0.0), self.policy, SspHost(self.settings))

"""A ccTalk bill validator as the specification describes it, for testing the host: mechanics, memory, and the truth.

`stacked` and `returned` are what really happened to the paper; no test may look at the validator's own idea of it.
Written from the protocol, with checksums of its own, and not from any firmware.
"""

from dataclasses import dataclass, field

from acceptor_model import Paper, Times

TABLE = {1: 1, 3: 5, 4: 10, 5: 20, 6: 50, 7: 100}
BARCODE_TYPE = 15
TEXTS = {246: b"TST", 244: b"MODEL", 241: b"M-1.00"}


def crc(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = (value << 1 ^ (0x1021 if value & 0x8000 else 0)) & 0xFFFF
    return value


def reply(header: int, data: bytes, with_crc: bool) -> bytes:
    if with_crc:
        check = crc(bytes([1, len(data), header]) + data)
        return bytes([1, len(data), check & 255, header]) + data + bytes([check >> 8])
    body = bytes([1, len(data), 40, header]) + data
    return body + bytes([(256 - sum(body) % 256) % 256])


@dataclass
class Validator:
    """`remembers`: a bill past the lever is told again after a power cut, until a poll followed the one that told it;
    so is one that was given back at the start. The specification asks for neither. `lazy`: it gives that one back only
    once it is open for business."""

    times: Times = field(default_factory=Times)
    with_crc: bool = False
    remembers: bool = True
    lazy: bool = False
    refuses: frozenset = frozenset()  # commands answered with NAK
    deaf: frozenset = frozenset()  # commands never answered
    busy: int = 0  # that many commands are answered with BUSY
    barcode_credit: tuple = (BARCODE_TYPE, 0)
    blind_fault: bool = False  # self-checks see nothing
    on: bool = True
    state: str = "disabled"
    paper: Paper | None = None
    pending: Paper | None = None
    stacked: list = field(default_factory=list)
    returned: list = field(default_factory=list)
    trail: list = field(default_factory=list)
    counter: int = 0
    events: list = field(default_factory=lambda: [(0, 0)] * 5)
    to_tell: list = field(default_factory=list)  # events that wait for the answer to the first poll after a start
    told_pending: bool = False
    mask: int = 0
    accepts: bool = False
    fault: int = 0
    mode: int = 0
    digits: bytes = b""
    due: int | None = None
    escrow_until: int = 0
    polled: int = 0
    resets: int = 0
    now: int = 0

    # The world

    def insert(self, paper: Paper) -> bool:
        if not self.on or self.state != "idle":
            return False
        self.paper = paper
        self._go("accepting", self.times.accept)
        return True

    def cut(self) -> None:
        self.on = False

    def power_on(self) -> None:
        self.on, self.counter, self.events, self.to_tell = True, 0, [(0, 0)] * 5, []
        self.accepts, self.mask, self.mode, self.digits, self.told_pending = False, 0, 0, b"", False
        self.polled = self.now
        if self.pending and self.remembers:
            self.to_tell.append(self._credit(self.pending))
        if self.paper and not self.lazy:
            self.returned.append(self.paper)
            self.paper = None
            self.to_tell += [(0, 1)] if self.remembers and not self.pending else []
        self._go("disabled")

    def jam(self, code: int, fault: int) -> None:
        self.event(0, code)
        self.fault = fault

    def event(self, a: int, b: int) -> None:
        self.counter = 1 if self.counter == 255 else self.counter + 1
        self.events = [(a, b), *self.events[:4]]

    # Time

    def step(self, now: int) -> bytes:
        self.now = now
        if not self.on:
            return b""
        if self.due is not None and now >= self.due:
            self.due = None
            getattr(self, "_after_" + self.state)()
        if self.state == "escrow" and now > self.escrow_until:
            self._go("returning", self.times.give_back)
        if now - self.polled > 5000:
            self.accepts = False
        self._rest_or_stay()
        return b""

    def _go(self, state: str, ms: int | None = None) -> None:
        self.state = state
        self.trail.append(state)
        self.due = None if ms is None else self.now + ms

    def _rest_or_stay(self) -> None:
        if self.state in ("idle", "disabled"):
            state = "idle" if self.accepts and not self.fault else "disabled"
            if state != self.state:
                self._go(state)
            if self.paper and self.accepts:
                self._go("returning", 2 * self.times.give_back)

    def _after_accepting(self) -> None:
        paper = self.paper
        if paper.code != 0x6F and not self.mask >> (paper.code - 0x61) & 1:
            self.event(0, 4)
            return self._go("rejecting", self.times.give_back)
        self.escrow_until = self.now + 10_000
        if paper.code == 0x6F:
            self.digits = paper.digits.encode()
            self.event(0, 20)
        else:
            self.event(paper.code - 0x60, 1)
        return self._go("escrow")

    def _after_stacking(self) -> None:
        # Past the lever: irretrievable, and in the durable memory at the same moment.
        self.pending, self.paper, self.told_pending = self.paper, None, False
        self.stacked.append(self.pending)
        self.event(*self._credit(self.pending))
        self._go("storing", self.times.to_store)

    def _credit(self, paper: Paper) -> tuple:
        return self.barcode_credit if paper.code == 0x6F else (paper.code - 0x60, 0)

    def _after_storing(self) -> None:
        self._go("disabled")

    def _after_returning(self) -> None:
        self.event(0, 1)
        self._after_rejecting()

    def _after_rejecting(self) -> None:
        self.returned.append(self.paper)
        self.paper = None
        self._go("disabled")

    def _after_restarting(self) -> None:
        self.power_on()

    # The wire

    def answer(self, data: bytes, now: int) -> bytes:
        """Answer one frame of the host; damaged ones, and those of the other mode, in silence."""
        self.now = now
        if not self.on or self.state == "restarting" or not self._sound(data):
            return b""
        header, body = data[3], data[4:-1]
        if header in self.deaf:
            return b""
        if header != 159 and self.busy:
            self.busy -= 1
            return reply(6, b"", self.with_crc)
        said = None if header in self.refuses else self._said(header, body)
        return reply(5, b"", self.with_crc) if said is None else reply(0, said, self.with_crc)

    def _sound(self, data: bytes) -> bool:
        if len(data) < 5 or data[0] != 40 or len(data) != data[1] + 5:
            return False
        if self.with_crc:
            return crc(data[:2] + data[3:-1]) == data[2] + 256 * data[-1]
        return data[2] == 1 and sum(data) % 256 == 0

    def _said(self, header: int, body: bytes) -> bytes | None:
        if header in TEXTS:
            return TEXTS[header]
        if header == 157:
            value = TABLE.get(body[0])
            return b"US%04dA" % value if value else b"......."
        name = f"_said_{header}"
        return getattr(self, name)(body) if hasattr(self, name) else None

    def _said_159(self, body: bytes) -> bytes:
        self.polled = self.now
        if self.told_pending:
            self.pending, self.told_pending = None, False
        said = bytes([self.counter, *(byte for event in self.events for byte in event)])
        self.told_pending = self.pending is not None and self._credit(self.pending) in self.events[: self.counter]
        for event in self.to_tell:
            self.event(*event)
        self.to_tell = []
        return said

    def _said_154(self, body: bytes) -> bytes:
        if self.state != "escrow":
            return b"\xfe"
        if body[0] == 255:
            self.escrow_until = self.now + 10_000
        else:
            self._go("stacking" if body[0] else "returning", self.times.to_lever if body[0] else self.times.give_back)
        return b""

    def _said_156(self, body: bytes) -> bytes:
        return b"\x64\x00\x02" if body == b"US" else bytes(3)

    def _said_129(self, body: bytes) -> bytes:
        return self.digits

    def _said_153(self, body: bytes) -> bytes:
        self.mode = body[0]
        return b""

    def _said_231(self, body: bytes) -> bytes:
        self.mask = int.from_bytes(body, "little")
        return b""

    def _said_228(self, body: bytes) -> bytes:
        self.accepts = bool(body[0] & 1)
        self._rest_or_stay()
        return b""

    def _said_232(self, body: bytes) -> bytes:
        return bytes([0 if self.blind_fault else self.fault])

    def _said_1(self, body: bytes) -> bytes:
        self.resets += 1
        self.fault = 0
        self._go("restarting", self.times.restart)
        return b""

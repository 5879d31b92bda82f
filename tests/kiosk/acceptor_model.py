"""A bill acceptor as the text of ID-003 describes it, for testing the host: mechanics, memory, and the truth.

`stacked` and `returned` are what really happened to the paper; no test may look at the acceptor's own idea of it.
Written from the protocol, with a CRC of its own, and not from any firmware.
"""

from dataclasses import dataclass, field

TABLE = {0x61: 1, 0x63: 5, 0x64: 10, 0x65: 20, 0x66: 50, 0x67: 100}


def crc(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x8408 if value & 1 else 0)
    return value


_made: dict[tuple[int, bytes], bytes] = {}


def frame(cmd: int, data: bytes = b"") -> bytes:
    if (cmd, data) not in _made:
        body = bytes([0xFC, 5 + len(data), cmd]) + data
        _made[cmd, data] = body + crc(body).to_bytes(2, "little")
    return _made[cmd, data]


@dataclass(frozen=True)
class Paper:
    """A note (code) or a voucher (code 6F, digits)."""

    code: int
    digits: str = ""

    @property
    def escrow(self) -> bytes:
        return bytes([self.code]) + self.digits.encode()


@dataclass
class Times:
    """Milliseconds of each step of the mechanics."""

    accept: int = 400
    to_lever: int = 400
    to_store: int = 200
    give_back: int = 300
    restart: int = 200


# Commands that are answered in any state of a running device.
READS = {0x88: b"i(USA)100-SS ID003-05V280-42 01AUG17 964D", 0x89: b"B280"}


@dataclass
class Acceptor:
    times: Times = field(default_factory=Times)
    refuses: frozenset = frozenset()  # commands answered with 4B
    vend_valid_code: bool = False  # some devices repeat the escrow code
    on: bool = True
    state: str = "power up"
    paper: Paper | None = None  # in the transport, short of the lever
    pending: Paper | None = None  # durable: past the lever, not yet known to the host
    stacked: list = field(default_factory=list)
    returned: list = field(default_factory=list)
    trail: list = field(default_factory=list)  # states passed through
    settings: dict = field(default_factory=dict)
    interrupt: bool = False
    reason: int = 0
    stack_2: bool = False
    error: int = 0
    due: int | None = None  # when the mechanics end their step
    escrow_until: int = 0
    polled: int = 0
    now: int = 0
    enq: bool = False

    # The world

    def insert(self, paper: Paper) -> bool:
        """Push paper in; false if the entry stays shut."""
        if not self.on or self.state != "idle":
            return False
        self.paper = paper
        self._go("accepting", self.times.accept)
        return True

    def cut(self) -> None:
        self.on = False

    def power_on(self) -> None:
        self.on, self.settings, self.interrupt, self.error = True, {}, False, 0
        in_stacker, in_acceptor = self.pending is not None, self.paper is not None
        self._go("bill in stacker" if in_stacker else "bill in acceptor" if in_acceptor else "power up")

    def fail(self, status: int) -> None:
        """An error status (43 to 4A) from now on; paper stays where it is."""
        self.error = status
        self._go("error")

    # Time

    def step(self, now: int) -> bytes:
        """Let the mechanics run to `now`; returns an ENQ if one is due."""
        self.now = now
        if not self.on:
            return b""
        if self.due is not None and now >= self.due:
            self.due = None
            getattr(self, "_after_" + self.state.replace(" ", "_"))()
        if self.state in ("escrow", "holding"):
            self._watch_escrow()
        sends, self.enq = self.enq and self.interrupt, False
        return frame(0x05) if sends else b""

    def _watch_escrow(self) -> None:
        if self.now - self.polled > 3000:
            self._go("returning", self.times.give_back)
        elif self.now > self.escrow_until:
            self._reject(0x79)

    def _go(self, state: str, ms: int | None = None) -> None:
        self.state = state
        self.trail.append(state)
        self.due = None if ms is None else self.now + ms
        self.enq = True

    def _reject(self, reason: int) -> None:
        self.reason = reason
        self._go("rejecting", self.times.give_back)

    def _after_accepting(self) -> None:
        assert self.paper
        enable = self.settings.get(0xC0, b"\xff\xff")[0]
        inhibited = self.paper.code != 0x6F and enable >> (self.paper.code - 0x61) & 1
        if inhibited or self.settings.get(0xC3) != b"\x00":
            return self._reject(0x79)
        self.escrow_until = self.now + 10_000
        self.polled = self.now
        return self._go("escrow")

    def _after_stacking(self) -> None:
        if self.paper:
            # Past the lever: irretrievable, and in the durable memory at the same moment.
            self.pending, self.paper = self.paper, None
            self.stacked.append(self.pending)
            if self.stack_2:
                return self._go("stacking", self.times.to_store)
        return self._go("vend valid")

    def _after_stacked(self) -> None:
        self._rest()

    def _give_back(self) -> None:
        if self.paper:
            self.returned.append(self.paper)
            self.paper = None
        self._rest()

    _after_rejecting = _after_returning = _give_back

    def _after_restarting(self) -> None:
        if self.paper:
            self.returned.append(self.paper)
            self.paper = None
        self._go("initialise")

    def _rest(self) -> None:
        self._go("idle" if self.settings.get(0xC3) == b"\x00" else "disabled")

    # The wire

    def answer(self, data: bytes, now: int) -> bytes:
        """Answer one frame of the host; damaged ones in silence."""
        self.now = now
        if not self.on or len(data) < 5 or data[0] != 0xFC or data[1] != len(data) or crc(data):
            return b""
        cmd, body = data[2], data[3:-2]
        if cmd == 0x11:
            self.polled = now
            return self._status()
        if cmd in self.refuses:
            return frame(0x4B)
        if cmd == 0x50:
            return self._acknowledged()
        if cmd in READS:
            return frame(cmd, READS[cmd])
        if cmd == 0x8A:
            return frame(cmd, b"".join(bytes([code, 1, value, 0]) for code, value in TABLE.items()))
        return self._set(cmd, body) if cmd in range(0xC0, 0xC8) else self._act(cmd)

    def _status(self) -> bytes:
        simple = {
            "idle": 0x11, "accepting": 0x12, "stacking": 0x14, "stacked": 0x16, "returning": 0x18, "holding": 0x19,
            "disabled": 0x1A, "initialise": 0x1B, "restarting": 0x1B, "power up": 0x40, "bill in acceptor": 0x41,
            "bill in stacker": 0x42,
        }  # fmt: skip
        if self.state == "escrow":
            return frame(0x13, self.paper.escrow)
        if self.state == "vend valid":
            return frame(0x15, self.pending.escrow[:1] if self.vend_valid_code else b"")
        if self.state == "rejecting":
            return frame(0x17, bytes([self.reason]))
        if self.state == "error":
            return frame(self.error, b"\xa2" if self.error == 0x49 else b"")
        return frame(simple[self.state])

    def _acknowledged(self) -> bytes:
        if self.state == "vend valid":
            self.pending = None
            self._go("stacked", self.times.to_store)
        return b""

    def _set(self, cmd: int, body: bytes) -> bytes:
        if self.state in ("power up", "bill in acceptor", "bill in stacker"):
            return frame(0x4B)
        self.settings[cmd] = body
        self.interrupt = self.settings.get(0xC2) == b"\x01"
        if cmd == 0xC3 and self.state in ("initialise", "idle", "disabled"):
            self._rest()
        return frame(cmd, body)

    def _act(self, cmd: int) -> bytes:
        if cmd == 0x40:
            return self._reset()
        if self.state not in ("escrow", "holding"):
            return frame(0x4B)
        if cmd in (0x41, 0x42):
            self.stack_2 = cmd == 0x42
            self._go("stacking", self.times.to_lever)
        elif cmd == 0x43:
            self._go("returning", self.times.give_back)
        else:
            self.escrow_until = self.now + 10_000
            self._go("holding")
        return frame(0x50)

    def _reset(self) -> bytes:
        if self.pending and self.state != "bill in stacker":
            return frame(0x4B)  # a vend valid that nobody acknowledged isn't lost to a reset
        self.pending, self.error, self.settings = None, 0, {}
        self._go("restarting", self.times.restart)
        return frame(0x50)

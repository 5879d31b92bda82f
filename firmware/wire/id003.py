# ID-003, device side: FC LEN CMD [data] CRC, 9600 8E1. Commands and statuses
# share byte values; direction tells them apart.
from micropython import const
from wire.polled import Polled

SERIAL = (9600, 8, "E", 1)

_SYNC = const(0xFC)
_LEN_MIN = const(5)
_LEN_MAX = const(128)  # nothing in ID-003 is longer: such a length is damage
_FRAME_MS = const(200)  # the longest frame takes 147 ms
_ENQ_EVERY_MS = const(200)
_PIECE = const(8)  # steps of a signature in one go: 40 ms on a Pico

_ACK = const(0x50)
_ENQ = const(0x05)
_STATUS = const(0x11)
_SIGNATURE = const(0xDC)
_BUSY = const(0xDE)
_SIGNATURE_END = const(0xDF)
_INVALID = const(0x4B)
_VERSION = const(0x88)
_BOOT_VERSION = const(0x89)
_CURRENCY = const(0x8A)

# Status byte of each state that the wire can tell apart.
STATUS = {
    "idle": 0x11,
    "accepting": 0x12,
    "escrow": 0x13,
    "stacking": 0x14,
    "vend_valid": 0x15,
    "storing": 0x14,
    "stacked": 0x16,
    "rejecting": 0x17,
    "returning": 0x18,
    "holding": 0x19,
    "disabled": 0x1A,
    "initialize": 0x1B,
    "power_up": 0x40,
    "power_up_acceptor": 0x41,
    "power_up_stacker": 0x42,
    "stacker_full": 0x43,
    "stacker_open": 0x44,
    "jam_acceptor": 0x45,
    "jam_stacker": 0x46,
    "cheated": 0x48,
    "failure": 0x49,
    "communication_error": 0x4A,
}
_WITH_DATA = ("rejecting", "failure")

# Command -> what the host asks of the device.
COMMANDS = {
    0x40: ("host_reset", None),
    0x41: ("stack", 1),
    0x42: ("stack", 2),
    0x43: ("return", None),
    0x44: ("hold", None),
    0x45: ("wait", None),
}
# Settings, by the low three bits of C0-C7 (set) and 80-87 (read back).
SETTINGS = (
    "enable",
    "security",
    "mode",
    "inhibit",
    "direction",
    "options",
    "barcode",
    "barcode_inhibit",
)


# Most data bytes of each.
_DATA_MAX = b"\x02\x02\x01\x01\x01\x02\x02\x01"


class Wire(Polled):
    frame_ms = _FRAME_MS

    def __init__(self, device, port, crc16, step, boot, now):
        super().__init__(port, SERIAL, step, now)
        self.device = device
        self.crc16 = crc16
        self.boot = boot
        self.enq_at = None
        self.announced = None
        self.checksum = None
        self.signed = None
        self.standing = None  # the last status told, where it may be told again
        self.poll_frame = self._frame(_STATUS, b"")
        self.answering = False

    def interrupt_mode(self):
        return self.device.settings.values.get("mode", b"\0")[0] & 1 == 1

    def mode(self):
        return "interrupt" if self.interrupt_mode() else "polling"

    def next(self):
        return self.silent_at if self.enq_at is None else min(self.silent_at, self.enq_at)

    # In the middle of a commit the device can't be stepped. A poll is answered with what the last one was, if that may
    # be said twice: vend valid said again after its ACK would be a second note to a simple host.
    def stand(self, now):
        self.stood = bool(self._read(now)) or self.stood
        # Whoever is owed another answer gets that one first.
        if self.buffer == self.poll_frame and self.standing and not self.answering:
            self.buffer = b""
            self._count(now)
            self._send(*self.standing)

    # Time alone: silence of the host, and news announced in interrupt mode.
    def tick(self, now):
        self._look(now)
        self._announce(now)
        if self._is_silent(now) and self._host_owes():
            self.step(("silence",))

    # Polling mode: a host that doesn't poll. Interrupt mode: an ENQ unanswered.
    def _host_owes(self):
        return not self.interrupt_mode() or self.enq_at is not None

    def _announce(self, now):
        shown = self.device.shown()
        if not self.interrupt_mode():
            self.announced = shown
            self.enq_at = None
            return
        if shown != self.announced:
            self.announced = shown
            if self.enq_at is None:
                self._listen(now)
            self.enq_at = now
        if self.enq_at is not None and now >= self.enq_at:
            self._send(_ENQ, b"")
            self.enq_at = now + _ENQ_EVERY_MS

    def _take(self, now):
        b = self.buffer
        if b and b[0] != _SYNC or len(b) > 1 and not _LEN_MIN <= b[1] <= _LEN_MAX:
            start = b.find(b"\xfc", 1)
            self.buffer = b[start:] if start > 0 else b""
            return True
        if len(b) < _LEN_MIN or len(b) < b[1]:
            return False
        frame = b[: b[1]]
        if self.crc16(frame):
            self.buffer = b[1:]
            return True
        self.buffer = b[len(frame) :]
        self.answering = True
        self._heard(now)
        self._answer(frame[2], frame[3:-2])
        self.answering = False
        return True

    def _answer(self, command, data):
        if command == _STATUS:
            self._status()
        elif command == _ACK:
            self.step(("host", "ack"))
        elif command in COMMANDS:
            self._command(command)
        elif 0xC0 <= command <= 0xC7 and 0 < len(data) <= _DATA_MAX[command & 7]:
            self.step(("setting", SETTINGS[command & 7], data))
            self._send(command, data)
        elif 0x80 <= command <= 0x87:
            self._send(command, self.device.settings.values.get(SETTINGS[command & 7], b"\0"))
        else:
            self._ask(command)

    def _status(self):
        self.enq_at = None
        state, detail = self.device.shown()
        if state == "escrow":
            data = bytes((detail,)) if isinstance(detail, int) else b"\x6f" + detail.encode()
        else:
            data = bytes((detail,)) if state in _WITH_DATA else b""
        self.standing = None if state == "vend_valid" else (STATUS[state], data)
        self._send(STATUS[state], data)
        self.announced = (state, detail)
        self.step(("told",))

    def _command(self, command):
        name, how = COMMANDS[command]
        if name == "wait":
            self._send(_ACK, b"")
            return
        self.step(("host", name, how))
        self._send(_INVALID if self.device.refused else _ACK, b"")

    def _ask(self, command):
        if command == _VERSION:
            self._send(command, self.version())
        elif command == _BOOT_VERSION:
            self._send(command, b"PB01")
        elif command == _CURRENCY:
            self._send(command, self._currency())
        elif command == _SIGNATURE:
            self._signature()
        else:
            self._send(_INVALID, b"")

    # The shape that strict hosts parse; it ends with the embedded signature.
    def version(self):
        return b"i(USA)100-SS ID003-05V010-01 30NOV26 %04X" % self.boot.image_crc

    def _currency(self):
        currency = self.device.currency
        return b"".join(bytes((code, currency.COUNTRY, base, power)) for code, base, power in currency.DENOMINATIONS)

    # Busy while the signature is computed anew, a piece behind each answer: none waits for it.
    def _signature(self):
        crc, self.signed = self.signed, None
        if crc is not None:
            self._send(_SIGNATURE_END, bytes((crc & 255, crc >> 8)))
            return
        self._send(_BUSY, b"")
        if self.checksum is None:
            self.checksum = self.boot.checksum(0, 16)
            return
        for _ in range(_PIECE):
            if self.checksum.step() is not None:
                self.signed, self.checksum = self.checksum.crc, None
                return

    def _send(self, command, data):
        self.out += self._frame(command, data)
        self._flush()

    def _frame(self, command, data):
        frame = bytes((_SYNC, len(data) + _LEN_MIN, command)) + data
        crc = self.crc16(frame)
        return frame + bytes((crc & 255, crc >> 8))

# EBDS (MEI, CPI), device side, 9600 7E1. The host's ACK bit alternates: one that moved on says that the last answer
# arrived, one that didn't asks for it again.
from micropython import const
from wire.ebds_answers import EXTENDED_NOTES, Answers
from wire.ebds_frame import AUXILIARY, EXTENDED, OMNIBUS, REPLY, STX, flipped, frame_of, sound
from wire.ebds_told import POWER_UPS

SERIAL = (9600, 7, "E", 1)

_LEN_MIN = const(8)
_LEN_MAX = const(32)  # no frame of a host is longer: such a length is damage
_FRAME_MS = const(50)  # the longest frame takes 34 ms

# Least and most bytes of each type's frame; bookmarks, calibration and download are heard, and invalid.
_LENGTHS = {OMNIBUS: (8, 8), 0x30: (8, 32), 0x40: (8, 32), 0x50: (8, 32), AUXILIARY: (8, 8), EXTENDED: (9, 28)}

# Second data byte of the omnibus command.
_ESCROW_MODE = const(0x10)
_STACK = const(0x20)
_DECISION = const(0x60)  # stack or return
# Orientations that are off, by bits 2 and 3: one way, face up, four ways.
_DIRECTIONS = (b"\x0e", b"\x0c", b"\x00", b"\x00")
# Third data byte.
_BARCODES = const(0x02)
_COUPONS = const(0x20)

_SEVEN = const(0x7F)
_SOFT_RESET = b"\x7f\x7f\x7f"
# Where a decision comes late, and is none of another document.
_DECIDED = ("stacking", "storing", "vend_valid", "stacked", "returning", "rejecting")


class Wire(Answers):
    frame_ms = _FRAME_MS

    def __init__(self, device, port, crc16, step, boot, now):
        super().__init__(device, port, SERIAL, step, boot, now)
        self.answering = False

    def forget(self):
        super().forget()
        self.modes = _ESCROW_MODE
        self.decision = 0  # bits of the last poll
        self.expected = None  # the poll that may have the last reply again

    def mode(self):
        return "polling"

    # In the middle of a commit the device can't be stepped. A repeated request gets its reply again, and a poll that
    # asks nothing new what the last one was told, if that may be said twice.
    def stand(self, now):
        self.stood = bool(self._read(now)) or self.stood
        if self.answering or not self.buffer or self.buffer not in (self.request, self.expected):
            return
        if self.buffer == self.expected:
            self.bit ^= 1
            self.request, self.reply = self.expected, flipped(self.reply)
            self.expected = flipped(self.expected)
        self.buffer = b""
        self._count(now)
        self._send(self.reply)

    # Time alone: a mode without escrow, and silence of the host.
    def tick(self, now):
        self._look(now)
        self._stack_at_once()
        if self._is_silent(now):
            self.step(("silence",))

    # -- frames ----------------------------------------------------------

    def _take(self, now):
        b = self.buffer
        if b and b[0] != STX or len(b) > 1 and not _LEN_MIN <= b[1] <= _LEN_MAX:
            start = b.find(b"\x02", 1)
            self.buffer = b[start:] if start > 0 else b""
            return True
        if len(b) < _LEN_MIN or len(b) < b[1]:
            return False
        frame = b[: b[1]]
        if not sound(frame):
            self.buffer = b[1:]
            return True
        self.buffer = b[len(frame) :]
        least, most = _LENGTHS.get(frame[2] & 0xFE, (0, 0))
        # What has another's address, or is an echo of our own, is none of ours.
        if least <= len(frame) <= most:
            self.answering = True
            self._heard(now)
            self._hear(frame)
            self.answering = False
        return True

    # -- requests --------------------------------------------------------

    def _hear(self, frame):
        bit, kind = frame[2] & 1, frame[2] & 0xFE
        if kind == AUXILIARY and frame[3:6] == _SOFT_RESET:
            self._soft_reset(bit)
        elif bit == self.bit:
            self._send(self.reply)
        else:
            self._moved_on()
            self.bit, self.request = bit, frame
            self._answer(kind, frame[3:-2])

    # The last answer arrived: a note that was told as stacked is the host's, and what a power-up found is known.
    def _moved_on(self):
        told, self.told, self.expected = self.told, None, None
        self.fresh = self.fresh and told is None
        if told == "vend_valid":
            self.step(("host", "ack"))
        elif told in POWER_UPS:
            self.step(("host", "host_reset", None))

    # Its answer is one that a host may miss. A note in the stacker waits until the bit shows that it was told.
    def _soft_reset(self, bit):
        known = self.told == "power_up_stacker" and bit != self.bit
        if known or self.device.shown()[0] != "power_up_stacker":
            self.step(("host", "host_reset", None))
        self.forget()
        self.fresh = True
        state = self.device.shown()[0]
        self._send(frame_of(REPLY | bit, self._status(state)))

    def _answer(self, kind, data):
        if kind == OMNIBUS:
            self._omnibus(data)
        elif kind == AUXILIARY:
            self._auxiliary(data)
        elif kind == EXTENDED:
            self._extended(data[0], data[4:])
        else:
            self._tell(invalid=True)

    # Everything is set by every poll.
    def _omnibus(self, data):
        self._configure(data[0], data[1], data[2])
        invalid = self._decide(data[1] & _DECISION)
        self._stack_at_once()
        if self._tell(invalid):
            poll = bytes((data[0], data[1] & ~_DECISION, data[2]))
            self.expected = frame_of(OMNIBUS | self.bit ^ 1, poll)

    def _configure(self, notes, modes, options):
        self.modes, self.options = modes, options
        if options & EXTENDED_NOTES:
            notes &= self.enabled
        paper = (0 if options & _BARCODES else 1) | (0 if options & _COUPONS else 2)
        self._set("enable", bytes((~notes & _SEVEN, 0)))
        self._set("direction", _DIRECTIONS[modes >> 2 & 3])
        self._set("barcode_inhibit", bytes((paper,)))
        self._set("inhibit", b"\0" if notes or options & _BARCODES else b"\1")

    def _set(self, name, value):
        if self.device.settings.values.get(name) != value:
            self.step(("setting", name, value))

    # -> whether it is wrong: both bits at once, or a new one about nothing. A bit that is left standing stands for the
    # next document too, once that was told.
    def _decide(self, decision):
        new, self.decision = decision & ~self.decision, decision
        state = self.device.shown()[0]
        if decision == _DECISION:
            return True
        if state not in ("escrow", "holding"):
            return bool(new) and state not in _DECIDED
        if decision:
            self.step(("host", "stack", 2) if decision == _STACK else ("host", "return", None))
        return False

    # Without escrow the host's word was given beforehand, while it accepts; a number is still the host's to authorise.
    def _stack_at_once(self):
        device = self.device
        if self.modes & _ESCROW_MODE or device.shown()[0] != "escrow":
            return
        if not device.item.digits and not device.settings.inhibited():
            self.step(("told",))
            self.step(("host", "stack", 2))

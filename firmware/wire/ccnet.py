# CCNET (CashCode), device side: 02 03 LEN CMD [data] CRClo CRChi, 9600 8N1, LEN of the whole frame. The host
# acknowledges each answer that has data: only so does it say that it knows of a stacked bill.
from micropython import const
from wire import ccnet_words as words
from wire.ccnet_frames import ACK, Frames

SERIAL = (9600, 8, "N", 1)

_ACK = const(0x00)
_NAK = const(0xFF)
_ILLEGAL = b"\x30"

_RESET = const(0x30)
_GET_STATUS = const(0x31)
_SET_SECURITY = const(0x32)
_POLL = const(0x33)
_ENABLE = const(0x34)
_STACK = const(0x35)
_RETURN = const(0x36)
_IDENTIFY = const(0x37)
_HOLD = const(0x38)
_SET_BARCODE = const(0x39)
_EXTRACT_BARCODE = const(0x3A)
_BILL_TABLE = const(0x41)
_CRC32 = const(0x51)

# Data bytes of each command; whatever isn't here is illegal, a download too.
_DATA = {
    _ACK: 0,
    _NAK: 0,
    _RESET: 0,
    _GET_STATUS: 0,
    _SET_SECURITY: 3,
    _POLL: 0,
    _ENABLE: 6,
    _STACK: 0,
    _RETURN: 0,
    _IDENTIFY: 0,
    _HOLD: 0,
    _SET_BARCODE: 2,
    _EXTRACT_BARCODE: 0,
    _BILL_TABLE: 0,
    _CRC32: 0,
}
# What the host asks of an item in escrow. A stacked bill is told once it lies in the box.
_ASKED = {_STACK: ("stack", 2), _RETURN: ("return", None), _HOLD: ("hold", None)}
_WITH_ITEM = ("escrow", "holding", "stacking", "vend_valid", "storing")


class Wire(Frames):
    def __init__(self, device, port, crc16, step, boot, now):
        super().__init__(port, SERIAL, step, crc16, now)
        self.device = device
        self.boot = boot
        self.now = now
        self.due = None  # what the host will know by its acknowledgement
        self.standing = None  # the last status told, where it may be told again
        self.obeyed = None  # the last command, where it was obeyed and must not be again
        self.reset_due = False
        self.back = None  # type of an item on its way back to the customer
        self.decided = False  # whether the item in escrow waits for the host
        self.checksum = None
        self.crc32 = None
        self.crc32_asked = False
        self.poll_frame = self._frame(bytes((_POLL,)))
        self.ack_frame = self._frame(ACK)
        self.answering = False

    def mode(self):
        return "polling"

    def next(self):
        return self.now if self.checksum else self.silent_at

    # In the middle of a commit the device can't be stepped. A poll is answered with what the last one was, unless the
    # host's acknowledgement of that would move something: the poll behind it must see what it moved.
    def stand(self, now):
        self.stood = bool(self._read(now)) or self.stood
        if self.answering or not self.standing:
            return
        if self.buffer.startswith(self.ack_frame):
            self._took(len(self.ack_frame), now)
        if self.buffer == self.poll_frame:
            self._took(len(self.poll_frame), now)
            self._forget()
            self._send(self.standing)

    # Time alone: an item that doesn't wait for the host, a checksum's next piece, silence of the host.
    def tick(self, now):
        self.now = now
        self._look(now)
        if not self.receiving(now):
            self._decide()
        self._calculate()
        if self._is_silent(now):
            self.step(("silence",))

    # -- commands --------------------------------------------------------

    def _answer(self, command, data):
        self.answering = True
        self.step(("heard",))
        self._decide()
        if len(data) != _DATA.get(command, -1):
            self._forget()
            self._send(_ILLEGAL)
        elif command == _ACK:
            self._acknowledged()
        elif command == _NAK:
            self._repeat()
        else:
            obeyed = self.obeyed
            self._forget()
            self._obey(command, data, obeyed)
        self.answering = False

    # An acknowledgement is of the last answer, a repeated command follows the first at once.
    def _forget(self):
        self.due = self.obeyed = None
        self.crc32_asked = False

    def _obey(self, command, data, obeyed):
        if command == _POLL:
            self._status()
        elif command == _RESET:
            self._reset()
            self._send(ACK)
        elif command in _ASKED:
            self._ask(command, obeyed)
        elif command == _CRC32:
            self._checksum()
        elif command in (_ENABLE, _SET_SECURITY, _SET_BARCODE):
            self._set(command, data)
            self._send(ACK)
        else:
            self._send(self._read_out(command) or _ILLEGAL)

    def _status(self):
        if self.device.state == "stacked":
            self.step(("told",))  # the host knows since its acknowledgement
        told = self._leaving_told() or words.status(self.device)
        state = self.device.state
        if state in ("vend_valid", "power_up_stacker"):
            self.due = state
        self.standing = None if self.due else told
        self._send(told)
        if state != "power_up_stacker":
            self.step(("told",))

    # An item that went back to the customer is told once more when it was taken, until that is acknowledged.
    def _leaving_told(self):
        if words.leaving(self.device):
            self.back = words.bill_type(self.device.item, self.device.currency)
        elif self.device.state not in ("idle", "disabled"):
            self.back = None
        elif self.back is not None:
            self.due = "returned"
            return words.returned(self.back)
        return None

    # Of what was stacked, and of what a power cut left behind, the host has to know for sure.
    def _acknowledged(self):
        due, self.due = self.due, None
        if due == "vend_valid":
            self.step(("host", "ack"))
        elif due == "returned":
            self.back = None
        elif due == "power_up_stacker":
            self.step(("told",))
            if self.reset_due:
                self._reset()

    # A stacked item that the host doesn't know of outlasts a reset: that is carried out when it was told.
    def _reset(self):
        self.step(("host", "host_reset", None))
        self.reset_due = self.device.state == "power_up_stacker"
        self._set(_ENABLE, bytes(6))

    # The host that repeats a command didn't get its answer.
    def _ask(self, command, obeyed):
        refused = False
        if command != obeyed:
            self.step(("host",) + _ASKED[command])
            refused = self.device.refused
        if not refused and command != _HOLD:
            self.obeyed = command
        self._send(_ILLEGAL if refused else ACK)

    def _set(self, command, data):
        if command == _SET_SECURITY:
            self.step(("setting", "security", data))
        elif command == _SET_BARCODE:
            self.step(("setting", "barcode", data))
        else:
            self.step(("setting", "bill_types", data))
            self.step(("setting", "enable", words.notes_off(data)))
            self.step(("setting", "barcode_inhibit", b"\x00" if words.has(data, words.BARCODE) else b"\x03"))
            # The last one, for it opens.
            self.step(("setting", "inhibit", b"\x00" if words.any_of(data, self.device.currency) else b"\x01"))

    # A bill type without escrow is stacked unasked. That is settled when it arrives, whatever the host sets later.
    def _decide(self):
        if self.device.state != "escrow":
            self.decided = False
        elif not self.decided:
            self.decided = True
            kind = words.bill_type(self.device.item, self.device.currency)
            if not words.has(self._types()[3:], kind):
                self.step(("told",))
                self.step(("host", "stack", 2))

    # As the host set them: three bytes of what is accepted, three of what waits in escrow for its word.
    def _types(self):
        return self.device.settings.values.get("bill_types", bytes(6))

    def _read_out(self, command):
        if command == _GET_STATUS:
            return self._types()[:3] + self.device.settings.values.get("security", bytes(3))
        if command == _BILL_TABLE:
            return words.bill_table(self.device.currency)
        if command == _IDENTIFY:
            return self._identity()
        item = self.device.item
        return item.digits.encode() if item and item.digits and self.device.state in _WITH_ITEM else None

    # Part number with version and embedded signature, serial number, asset number.
    def _identity(self):
        serial = self.boot.port.unique_id()[-12:].upper()
        return ("PB-CCN-010 %04X%-12s" % (self.boot.image_crc, serial)).encode() + bytes(7)

    # -- checksum --------------------------------------------------------

    # Computed anew for each host that asks, and answered when it is: the host waits, or asks again.
    def _checksum(self):
        self.crc32_asked = True
        if self.crc32 is None and self.checksum is None:
            self.checksum = self.boot.checksum(0, 32)
        self._answer_checksum()

    def _calculate(self):
        if self.checksum:
            done = self.checksum.step()
            if done is not None:
                self.crc32 = self.checksum.crc.to_bytes(4, "big") if done[0] else _ILLEGAL
                self.checksum = None
                self._answer_checksum()

    def _answer_checksum(self):
        if self.crc32_asked and self.crc32:
            self._send(self.crc32)
            self.crc32 = None
            self.crc32_asked = False

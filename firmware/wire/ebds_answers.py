# What EBDS answers: the state that is told, with its document, and what a host may ask beside it.
from micropython import const
from wire.ebds_frame import AUXILIARY, EXTENDED, REPLY, frame_of
from wire.ebds_told import POWER_UPS, STATES, WITH_DOCUMENT, barcode, note, place, status, value_table
from wire.polled import Polled

# Third data byte of the omnibus command.
_POLICY = const(0x0C)
_POLICY_B = const(0x04)  # what was stacked at a power-up is told with its value
EXTENDED_NOTES = const(0x10)
_ALL_NOTES = const(0x7F)

_SOFTWARE_CRC = const(0x00)
_SERIAL_NUMBER = const(0x05)
_SERIAL_SIZE = const(20)
# ASCII answers, filled up with zeros: command -> text, size. No part number is ours: the last ones of the range that
# hosts take, version 0.10.
_TEXTS = {
    0x04: (b"PITBENCH ACCEPTOR", 20),
    0x06: (b"289999010", 9),
    0x07: (b"289999010", 9),
    0x08: (b"USD", 32),
    0x09: (b"289999010", 9),
}

# Subtypes of the extended commands.
_BARCODE = const(0x01)
_NOTE = const(0x02)
_NOTE_INHIBITS = const(0x03)
_VALUE_TABLE = const(0x06)

# Model and code revision, the last of the six status bytes.
_MODEL = b"\x54\x01"


class Answers(Polled):
    def __init__(self, device, port, serial, step, boot, now):
        super().__init__(port, serial, step, now)
        self.device = device
        self.boot = boot
        self.fresh = False  # after a soft reset: power-up is told of any state
        self.forget()

    # As at a power-up: nothing was asked, set or told.
    def forget(self):
        self.bit = None  # of the last request
        self.request = self.reply = None
        self.told = None  # state that the last reply told
        self.returning = False  # told, and the end of it not yet
        self.enabled = _ALL_NOTES
        self.options = 0

    # What stands, alone or with its document. -> whether it may be said twice.
    def _tell(self, invalid=False, extra=b""):
        state = self.device.shown()[0]
        returned = self.returning and state != "returning" and not self.device.residue()
        self.returning = state == "returning"
        value = 0
        if not extra:
            value, extra = self._document(state)
        told = self._status(state, value, returned, invalid)
        self._reply(EXTENDED if extra else REPLY, extra[:1] + told + extra[1:])
        self.told = state
        self.step(("told",))
        return not (invalid or returned or self.fresh or state == "vend_valid" or state in POWER_UPS)

    def _status(self, state, value=0, returned=False, invalid=False):
        fresh = self.fresh or state in POWER_UPS
        return status(self.device, state, value, returned, fresh, invalid) + _MODEL

    def _reply(self, kind, data):
        self.reply = frame_of(kind | self.bit, data)
        self._send(self.reply)

    def _send(self, frame):
        self.out += frame
        self._flush()

    # -> value in a plain reply, or 0 and what an extended one has: subtype and data.
    def _document(self, state):
        currency = self.device.currency
        item, orientation = self.device.item, 0
        if state in WITH_DOCUMENT:
            if item.digits:
                return 0, bytes((_BARCODE,)) + barcode(item.digits)
            at, orientation = place(currency, item.cents), item.orientation
        elif state == "power_up_stacker" and self.options & _POLICY == _POLICY_B:
            flight = self.device.record["flight"]
            at = place(currency, flight["cents"]) if flight["kind"] == "note" else 0
        else:
            at = 0
        if at and self.options & EXTENDED_NOTES:
            return 0, bytes((_NOTE,)) + note(currency, at, 0, orientation)
        return at, b""

    def _auxiliary(self, data):
        command = data[2]
        if data[:2] != b"\0\0":
            self._tell(invalid=True)
        elif command == _SOFTWARE_CRC:
            crc = self.boot.image_crc
            self._reply(AUXILIARY, bytes((crc >> 12, crc >> 8 & 15, crc >> 4 & 15, crc & 15, 0, 0)))
        elif command == _SERIAL_NUMBER:
            self._text(self.boot.port.unique_id().encode(), _SERIAL_SIZE)
        elif command in _TEXTS:
            self._text(*_TEXTS[command])
        else:
            self._tell(invalid=True)

    def _text(self, text, size):
        text = text[:size]
        self._reply(AUXILIARY, text + bytes(size - len(text)))

    # While a document is under way only that is told: a query's note must not be taken for it.
    def _extended(self, subtype, data):
        state = self.device.shown()[0]
        currency = self.device.currency
        if self.returning or STATES.get(state, 0) & ~1:
            self._tell(invalid=True)
        elif subtype == _NOTE and len(data) == 1:
            self._tell(extra=bytes((_NOTE,)) + note(currency, data[0], data[0]))
        elif subtype == _NOTE_INHIBITS and data:
            self.enabled = data[0]
            self._tell()
        elif subtype == _VALUE_TABLE and not data:
            self._tell(extra=bytes((_VALUE_TABLE,)) + value_table(currency))
        else:
            self._tell(invalid=True)

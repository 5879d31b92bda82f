# The responder's answers on SSP: software error to every poll, who it is, and nothing else.
import ubinascii
from micropython import const

NAME = "ssp"
SERIAL = (9600, 8, "N", 2)

_STX = const(0x7F)
_ADDRESS = const(0)
_SEQUENCE = const(0x80)
_FRAME_MIN = const(5)
_AROUND = const(4)
_POLYNOMIAL = const(0x8005)

_OK = b"\xf0"
_CANT = b"\xf5"
_SOFTWARE_ERROR = b"\xf6"
_FAIL = b"\xf8"
_KEY_NOT_SET = b"\xfa"
_STEX = const(0x7E)
_VERSION = const(0x06)
_VERSIONS = (4, 5, 6, 7, 8)
_SERIAL_NUMBER = const(0x0C)
_FIRMWARE = const(0x20)
# Sync, disable: they change nothing here. Poll, poll with ack.
_HARMLESS = (0x11, 0x09)
_POLLS = (0x07, 0x56)
# The last four digits are the CRC as measured, as in a good board's answer.
_FIRMWARE_TEXT = "PB0000000000%04X"


# STX, sequence and address, length, data, CRC low and high; a wrong CRC is met with silence. The same question has the
# same answer, so that a sequence bit that stays needs no memory.
class WireResponder:
    # send(data): on the wire. The reason is the link's to tell: SSP has no words.
    def __init__(self, boot, why, send):
        self._send = send
        self._firmware = (_FIRMWARE_TEXT % (boot.image_crc or 0)).encode()
        number = ubinascii.unhexlify(boot.identity()["uid"][-8:])
        self._serial = bytes((number[0] & 0x7F,)) + number[1:]  # hosts read it with a sign

    # What is left of the bytes without one frame or one stray byte; None when it must wait for more.
    def take(self, b):
        if b and b[0] != _STX or b[1:2] == b"\x7f":
            return b[1:]
        frame, at = bytearray(), 1
        while len(frame) < 2 or len(frame) < frame[1] + _AROUND:
            if at >= len(b) or b[at] == _STX and at + 1 == len(b):
                return None
            if b[at] == _STX:
                at += 1
                if b[at] != _STX:
                    return b[at - 1 :]  # a lone one: here begins another frame
            frame.append(b[at])
            at += 1
        if len(frame) >= _FRAME_MIN and _crc(frame[:-2]) == bytes(frame[-2:]) and frame[0] & ~_SEQUENCE == _ADDRESS:
            self._give(frame[0], self._answer(frame[2], bytes(frame[3:-2])))
        return b[at:]

    def _answer(self, command, data):
        if command in _POLLS:
            return _SOFTWARE_ERROR
        if command in _HARMLESS:
            return _OK
        if command == _VERSION:
            return _OK if len(data) == 1 and data[0] in _VERSIONS else _FAIL
        if command == _SERIAL_NUMBER:
            return _OK + self._serial
        if command == _FIRMWARE:
            return _OK + self._firmware
        return _KEY_NOT_SET if command == _STEX else _CANT

    def _give(self, first, data):
        frame = bytes((first, len(data))) + data
        self._send(b"\x7f" + (frame + _crc(frame)).replace(b"\x7f", b"\x7f\x7f"))


# Highest bit first, from FFFF; on the wire the low byte goes first.
def _crc(frame):
    crc = 0xFFFF
    for b in frame:
        crc ^= b << 8
        for _ in range(8):
            crc = (crc << 1 ^ _POLYNOMIAL) & 0xFFFF if crc & 0x8000 else crc << 1
    return bytes((crc & 255, crc >> 8))

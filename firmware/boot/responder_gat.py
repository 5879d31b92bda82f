# The responder's answers on GAT: status error, the reason as the last result, and no calculation.
from crc import crc16
from micropython import const

NAME = "gat"
SERIAL = (9600, 8, "N", 1)

_FRAME_MIN = const(4)
_START = const(4)
_START_MIN = const(5)
# Whole length of status, last status and last results.
_LENGTHS = b"\0\4\4\7"
_TEXT = const(1)
_DATA_MAX = const(248)
_LAST = const(2)
_REFUSED = const(4)
# Version 3.50, status error, format text.
_STATUS = b"\x81\x03\x50\x0c\x01"
# A report of level 1, of an unknown time.
_LAST_STATUS = b"\x82\x01\xff\xff\xff\xff"
# Level error: no level can be calculated here.
_NO_LEVEL = b"\x84\x04"


# CMD LEN data CRChi CRClo; a wrong CRC is met with silence.
class WireResponder:
    # send(data): on the wire.
    def __init__(self, boot, why, send):
        self._send = send
        self._report = ("OUT OF SERVICE: %s\r\n" % why).encode()

    # What is left of the bytes without one frame or one stray byte; None when it must wait for more.
    def take(self, b):
        if b and not _could_begin(b):
            return b[1:]
        if len(b) < _FRAME_MIN or len(b) < b[1]:
            return None
        frame, crc = b[: b[1] - 2], b[b[1] - 2 : b[1]]
        if crc != _check(frame):
            return b[1:]
        answer = self._answer(frame)
        self._send(answer + _check(answer))
        return b[b[1] :]

    def _answer(self, frame):
        if frame[0] == 1:
            body = _STATUS
        elif frame[0] == 2:
            body = _LAST_STATUS
        elif frame[0] == _START:
            body = _NO_LEVEL
        else:
            body = self._result(frame[2], frame[3] << 8 | frame[4])
        return body[:1] + bytes((len(body) + 3,)) + body[1:]

    def _result(self, form, number):
        start = (number - 1) * _DATA_MAX
        number = bytes((number >> 8, number & 255))
        if form != _TEXT or not 0 <= start < len(self._report):
            return b"\x83" + bytes((_REFUSED,)) + number
        end = start + _DATA_MAX
        return b"\x83" + bytes((0 if end < len(self._report) else _LAST,)) + number + self._report[start:end]


def _could_begin(b):
    if not 1 <= b[0] <= _START:
        return False
    return len(b) < 2 or (b[1] >= _START_MIN if b[0] == _START else b[1] == _LENGTHS[b[0]])


def _check(frame):
    crc = crc16(frame)
    return bytes((crc >> 8, crc & 255))

# The responder's answers on CCNET: failure to every poll, the identification, and nothing else.
from crc import crc16
from micropython import const

NAME = "ccnet"
SERIAL = (9600, 8, "N", 1)

_SYNC = const(0x02)
_ADDRESS = const(0x03)
_FRAME_MIN = const(6)
_FRAME_MAX = const(128)
_POLL = const(0x33)
_IDENTIFY = const(0x37)
_NEVER_ANSWERED = b"\x00\xff"
# Failure, with our code for a signature; illegal command.
_FAILURE = b"\x47\x59"
_ILLEGAL = b"\x30"
# Part number with version and the CRC as measured, as in a good board's answer; no serial and no asset number.
_IDENTITY = "PB-CCN-010 %04X            " + 7 * "\0"


# 02 03 LEN CMD [data] CRClo CRChi; a wrong CRC is met with silence.
class WireResponder:
    # send(data): on the wire. The reason is the link's to tell: CCNET has no words.
    def __init__(self, boot, why, send):
        self._send = send
        self._identity = (_IDENTITY % (boot.image_crc or 0)).encode()

    # What is left of the bytes without one frame or one stray byte; None when it must wait for more.
    def take(self, b):
        if b and b[0] != _SYNC or len(b) > 2 and not _FRAME_MIN <= b[2] <= _FRAME_MAX:
            return b[1:]
        if len(b) < _FRAME_MIN or len(b) < b[2]:
            return None
        frame = b[: b[2]]
        if crc16(frame):
            return b[1:]
        if frame[1] == _ADDRESS and frame[3] not in _NEVER_ANSWERED:
            self._answer(frame[3])
        return b[b[2] :]

    def _answer(self, command):
        body = _ILLEGAL
        if command == _POLL:
            body = _FAILURE
        elif command == _IDENTIFY:
            body = self._identity
        frame = bytes((_SYNC, _ADDRESS, len(body) + 5)) + body
        crc = crc16(frame)
        self._send(frame + bytes((crc & 255, crc >> 8)))

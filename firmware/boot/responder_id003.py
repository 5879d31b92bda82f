# The responder's answers on ID-003: failure to every poll, the version, and nothing else.
from crc import crc16
from micropython import const

NAME = "id003"
SERIAL = (9600, 8, "E", 1)

_POLL = const(0x11)
_VERSION = const(0x88)
_FRAME_MIN = const(5)
# Failure 49 with ROM code B0; 4B invalid command.
_FAILURE = b"\x49\xb0"
_INVALID = b"\x4b"
# The shape that hosts parse; the last word is the CRC as measured, as in a good board's answer.
_VERSION_TEXT = "i(USA)100-SS ID003-05V000-00 01JAN00 %04X"


# FC LEN CMD [data] CRClo CRChi; a wrong CRC is met with silence.
class WireResponder:
    # send(data): on the wire. The reason is the link's to tell: ID-003 has no words.
    def __init__(self, boot, why, send):
        self._send = send
        self._version = b"\x88" + (_VERSION_TEXT % (boot.image_crc or 0)).encode()

    # What is left of the bytes without one frame or one stray byte; None when it must wait for more.
    def take(self, b):
        if b and b[0] != 0xFC or len(b) > 1 and b[1] < _FRAME_MIN:
            return b[1:]
        if len(b) < _FRAME_MIN or len(b) < b[1]:
            return None
        frame = b[: b[1]]
        if crc16(frame):
            return b[1:]
        self._answer(frame[2])
        return b[b[1] :]

    def _answer(self, command):
        body = _INVALID
        if command == _POLL:
            body = _FAILURE
        elif command == _VERSION:
            body = self._version
        frame = bytes((0xFC, len(body) + 4)) + body
        crc = crc16(frame)
        self._send(frame + bytes((crc & 255, crc >> 8)))

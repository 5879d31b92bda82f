# The responder's answers on EBDS: failure to every request, the CRC as measured, and nothing else.
from micropython import const

NAME = "ebds"
SERIAL = (9600, 7, "E", 1)

_LEN_MIN = const(8)
_LEN_MAX = const(32)
_REPLY = const(0x20)
_AUXILIARY = const(0x60)
# Out of service, its cassette not known to be gone, failure; model, no code revision. Invalid as well, but to a poll.
_FAILURE = b"\x00\x10\x04\x00\x54\x00"
_INVALID = b"\x00\x10\x06\x00\x54\x00"
# Types of a host's frames beside replies, with the ACK bit and an acceptor's device bits.
_TYPES = (0x10, 0x30, 0x40, 0x50, 0x60, 0x70)
_POLL = const(0x10)


# STX LEN CTL data ETX XOR; a wrong XOR is met with silence. Every frame is answered anew: nothing is executed.
class WireResponder:
    # send(data): on the wire. The reason is the link's to tell: EBDS has no words.
    def __init__(self, boot, why, send):
        self._send = send
        crc = boot.image_crc or 0
        self._crc = bytes((crc >> 12, crc >> 8 & 15, crc >> 4 & 15, crc & 15, 0, 0))

    # What is left of the bytes without one frame or one stray byte; None when it must wait for more.
    def take(self, b):
        if b and b[0] != 0x02 or len(b) > 1 and not _LEN_MIN <= b[1] <= _LEN_MAX:
            return b[1:]
        if len(b) < _LEN_MIN or len(b) < b[1]:
            return None
        frame = b[: b[1]]
        if frame[-2] != 0x03 or frame[-1] != _xor(frame[1:-2]) or max(frame) > 0x7F:
            return b[1:]
        if frame[2] & 0xFE in _TYPES:
            self._answer(frame[2] & 0xFE, frame[2] & 1, frame[3:-2])
        return b[b[1] :]

    def _answer(self, kind, bit, data):
        if kind == _AUXILIARY and data == b"\0\0\0":
            control, body = _AUXILIARY, self._crc
        else:
            control, body = _REPLY, _FAILURE if kind == _POLL else _INVALID
        body = bytes((len(body) + 5, control | bit)) + body
        self._send(b"\x02" + body + bytes((0x03, _xor(body))))


def _xor(data):
    check = 0
    for b in data:
        check ^= b
    return check

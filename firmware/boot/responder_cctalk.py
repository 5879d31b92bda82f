# The responder's answers on ccTalk: a fault to every self-check and poll, what it is, and nothing else.
from micropython import const

NAME = "cctalk"
SERIAL = (9600, 8, "N", 1)

_HOST = const(1)
_DEVICE = const(40)
_FRAME_MIN = const(5)
_DATA_MAX = const(8)
_OTHERS_MAX = const(64)
_NAK = const(5)
_POLL = const(159)
_RESET = const(1)
_REVISION = const(241)
# ROM checksum mismatch; all is inhibited; the escrow is empty.
_ANSWERS = {
    254: b"",
    249: b"\x02\x14",
    246: b"PBN",
    245: b"Bill Validator",
    244: b"PB-BV",
    232: b"\x1e",
    230: b"\0\0",
    227: b"\0",
    154: b"\xfe",
    4: b"\x01\x04\x07",
    _RESET: b"",
}
# What would be accepted is not to be set.
_REFUSED = (231, 228, 153)
# The counter's 0 of a start, once, and a fatal error.
_STARTED = bytes(11)
_FAULT = b"\x01\x00\x0d" + bytes(8)


# DST LEN SRC HEADER data SUM, or DST LEN CRClo HEADER data CRChi; what checks in neither is met with silence.
class WireResponder:
    # send(data): on the wire. The reason is the link's to tell: ccTalk has no words.
    def __init__(self, boot, why, send):
        self._send = send
        self._revision = b"PB-CCT-000 %04X" % (boot.image_crc or 0)
        self._events = _STARTED

    # What is left of the bytes without one frame or one stray byte; None when it must wait for more.
    def take(self, b):
        if len(b) < 2:
            return None
        size = b[1] + _FRAME_MIN
        if b[1] > (_DATA_MAX if b[0] == _DEVICE else _OTHERS_MAX):
            return b[1:]
        if len(b) < size:
            return None
        frame = b[:size]
        summed = not sum(frame) & 255 and (b[0] != _DEVICE or b[2] == _HOST)
        checked = _crc(frame[:2] + frame[3:-1]) == frame[2] | frame[-1] << 8
        if not (summed or checked):
            return b[1:]
        if b[0] == _DEVICE:
            self._answer(frame[3], _pack_checked if checked else _pack_summed)
        return b[size:]

    def _answer(self, header, pack):
        if header == _POLL:
            self._send(pack(0, self._events))
            self._events = _FAULT
        elif header == _REVISION:
            self._send(pack(0, self._revision))
        elif header in _ANSWERS:
            self._send(pack(0, _ANSWERS[header]))
        elif header in _REFUSED:
            self._send(pack(_NAK, b""))
        if header == _RESET:
            self._events = _STARTED


# CRC-16/XMODEM.
def _crc(data):
    crc = 0
    for byte in data:
        x = crc >> 8 ^ byte
        x ^= x >> 4
        crc = (crc << 8 ^ x << 12 ^ x << 5 ^ x) & 0xFFFF
    return crc


def _pack_summed(header, data):
    frame = bytes((_HOST, len(data), _DEVICE, header)) + data
    return frame + bytes((-sum(frame) & 255,))


def _pack_checked(header, data):
    crc = _crc(bytes((_HOST, len(data), header)) + data)
    return bytes((_HOST, len(data), crc & 255, header)) + data + bytes((crc >> 8,))

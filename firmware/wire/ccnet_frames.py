# CCNET's frames: 02, address, LEN, command or answer, data, CRClo, CRChi; LEN of the whole frame. Damage is answered
# with NAK, a frame for another address with silence.
from micropython import const
from wire.polled import Polled

ACK = b"\x00"
NAK = b"\xff"

_SYNC = const(0x02)
_ADDRESS = const(0x03)  # of a bill validator
_ADDRESS_MAX = const(0x0F)
_LEN_MIN = const(6)
_LEN_MAX = const(128)  # a bill table takes 126: a greater length is damage
_FRAME_MS = const(180)  # the longest frame takes 134 ms


class Frames(Polled):
    frame_ms = _FRAME_MS

    def __init__(self, port, serial, step, crc16, now):
        super().__init__(port, serial, step, now)
        self.crc16 = crc16
        self.said = b""  # the last answer, for a host that didn't get it
        self.owed = False  # it had data, and is not acknowledged yet

    def _take(self, now):
        b = self.buffer
        if b and not _could_begin(b):
            start = b.find(b"\x02", 1)
            self.buffer = b[start:] if start > 0 else b""
            return True
        if len(b) < _LEN_MIN or len(b) < b[2]:
            return False
        frame = b[: b[2]]
        if self.crc16(frame):
            self.buffer = b[1:]
            self._damaged(b)
        elif frame[1] == _ADDRESS:
            self._took(len(frame), now)
            self._answer(frame[3], frame[4:-2])
        else:
            self.buffer = b[len(frame) :]
        return True

    # A good frame for this board: the protocol's to answer.
    def _answer(self, command, data):
        pass

    # What a damaged frame was isn't known: where an acknowledgement is owed it may have been one, and those aren't
    # answered. Nor is it, where a frame may begin behind it.
    def _damaged(self, b):
        if b[1] == _ADDRESS and not self.owed and b"\x02\x03" not in b[1:]:
            self._put(NAK)

    # A good frame off the buffer.
    def _took(self, size, now):
        self.buffer = self.buffer[size:]
        self._count(now)
        self.owed = False

    def _send(self, body):
        self.said = body
        self.owed = body != ACK
        self._put(body)

    def _repeat(self):
        if self.said:
            self._send(self.said)

    def _put(self, body):
        self.out += self._frame(body)
        self._flush()

    def _frame(self, body):
        frame = bytes((_SYNC, _ADDRESS, len(body) + 5)) + body
        crc = self.crc16(frame)
        return frame + bytes((crc & 255, crc >> 8))


def _could_begin(b):
    if b[0] != _SYNC or len(b) > 1 and not 1 <= b[1] <= _ADDRESS_MAX:
        return False
    return len(b) < 3 or _LEN_MIN <= b[2] <= _LEN_MAX

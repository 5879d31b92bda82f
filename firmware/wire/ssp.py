# SSP, device side, with eSSP: STX, sequence and address, length, data, CRC, 9600 8N2. A sequence bit that stays asks
# for the last answer again.
from micropython import const
from wire.polled import Polled
from wire.ssp_commands import COMMANDS, NO_DATA, SIZES, SYNC, Commands
from wire.ssp_frames import framed, good, taken
from wire.ssp_secure import STEX

SERIAL = (9600, 8, "N", 2)

ADDRESS = const(0)  # of a banknote validator
_FRAME_MS = const(300)  # the longest frame takes 298 ms, unless its bytes are doubled

_SEQUENCE = const(0x80)
_POLL = const(b"\x07")
_POLL_WITH_ACK = const(b"\x56")
_KEY_NOT_SET = const(b"\xfa")
_UNKNOWN = const(b"\xf2")
_WRONG_NUMBER = const(b"\xf3")


class Wire(Commands, Polled):
    frame_ms = _FRAME_MS

    # `entropy`, a function that gives the source of random bytes, is set before the first turn: without one no key can
    # be agreed on.
    def __init__(self, device, port, crc16, step, boot, now):
        Polled.__init__(self, port, SERIAL, step, now)
        self.first = None  # sequence and address of the last command
        self.reply = b""
        self.answering = False
        self.open(device, step, boot)

    def mode(self):
        return "polling"

    # In the middle of a commit the device can't be stepped. The last answer may be given again, and a poll gets what
    # the last one was told, where that may be said twice.
    def stand(self, now):
        self.stood = bool(self._read(now)) or self.stood
        if self.answering or self.buffer[:1] != b"\x7f":
            return
        frame, size = taken(self.buffer)
        if not frame or size < len(self.buffer) or not self._ours(frame):
            return
        data, sealed = self._opened(frame)
        if self._again(frame, data):
            self._transmit(frame[0])
        elif self.events.standing and self._only_looks(data, sealed):
            self._give(frame[0], self.events.standing, sealed)
        else:
            return
        self.buffer = b""
        self._count(now)

    def _only_looks(self, data, sealed):
        return data == _POLL or data == _POLL_WITH_ACK and (sealed or not self.secure.on())

    # Time alone: silence of the host.
    def tick(self, now):
        self._look(now)
        if self._is_silent(now):
            self.step(("silence",))

    # -- frames ----------------------------------------------------------

    def _take(self, now):
        b = self.buffer
        start = b.find(b"\x7f")
        if start:
            self.buffer = b[start:] if start > 0 else b""
            return bool(b)
        frame, size = taken(b)
        if frame is None:
            return False
        self.buffer = b[size:]
        if self._ours(frame):
            self.answering = True
            self._heard(now)
            self._request(frame)
            self.answering = False
        return True

    def _ours(self, frame):
        return good(frame) and frame[0] & ~_SEQUENCE == ADDRESS

    # -- requests --------------------------------------------------------

    # -> what a frame says, and whether under the key. b"": out of count, None: not under this key.
    def _opened(self, frame):
        data = frame[2:-2]
        return (self.secure.opened(data), True) if data[0] == STEX else (data, False)

    # The last answer is asked for again, and nothing is done. A sync is always a new one.
    def _again(self, frame, data):
        return frame[0] == self.first and data != SYNC

    def _request(self, frame):
        data, sealed = self._opened(frame)
        if self._again(frame, data):
            self._transmit(frame[0])
        elif data is None:
            self._give(frame[0], _KEY_NOT_SET, False)
        elif data:
            self._execute(frame[0], data, sealed)

    # What is under the key shows alone that the answer under it arrived.
    def _execute(self, first, data, sealed):
        if data != SYNC and (sealed or not self.secure.on()):
            self.events.answer_arrived()
        self._give(first, self._answer(data, sealed), sealed)
        if data == SYNC:
            self.first = ADDRESS | _SEQUENCE  # the next has its bit clear

    def _answer(self, data, sealed):
        if data[0] not in COMMANDS:
            return _UNKNOWN
        least, most = SIZES.get(data[0], NO_DATA)
        if not least <= len(data) - 1 <= most:
            return _WRONG_NUMBER
        if not sealed and self.secure.on() and self.about_money(data[0]):
            return _KEY_NOT_SET
        return self.do(data[0], data[1:])

    def _give(self, first, answer, sealed):
        if sealed:
            self.secure.step()
            answer = self.secure.sealed(answer)
        self.first, self.reply = first, answer
        self._transmit(first)
        self.secure.settle()

    # An answer has the sequence bit of its command.
    def _transmit(self, first):
        self.out += framed(first, self.reply)
        self._flush()

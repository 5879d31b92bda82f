# GAT, device side: CMD LEN data CRChi CRClo, 9600 8N1, LEN of the whole frame. A validator asks which files are here
# (13:69E-1.28X(k)): nothing of what the device does is told.
from micropython import const
from wire.gat_report import FUNCTIONS, REPORT, Report, understood
from wire.gat_result import UNKNOWN, Result
from wire.stream import Stream

SERIAL = (9600, 8, "N", 1)

_LEN_MIN = const(4)
_AT_REST_MS = const(1000)
_FRAME_MS = const(300)  # the longest frame takes 266 ms
_WRITE_EVERY_MS = const(10)
# A host that asks without a pause gets its result too, though the write may cost it a frame.
_WRITE_LATEST_MS = const(1000)

_STATUS = const(0x01)
_LAST_STATUS = const(0x02)
_LAST_RESULTS = const(0x03)
_START = const(0x04)
_ANSWER = const(0x80)
# Least and most bytes of each command's frame.
_LENGTHS = {_STATUS: (4, 4), _LAST_STATUS: (4, 4), _LAST_RESULTS: (7, 7), _START: (5, 255)}

_VERSION = b"\x03\x50"
_IDLE = const(0x04)
_REQUESTED = const(0x01)
_CALCULATING = const(0x09)
_DONE = const(0x06)
_ERROR = const(0x0C)

# What a start is answered with, bit by bit.
_ACKNOWLEDGED = const(1)
_STARTED = const(2)
_LEVEL_ERROR = const(4)
# And a part of the last results.
_MORE = const(0)
_LAST = const(2)
_REFUSED = const(4)


class Wire(Stream):
    frame_ms = _FRAME_MS

    # step(event): gives the device an event and carries out what follows. `store` is set before the first turn: the
    # last result is kept there.
    def __init__(self, device, port, crc16, step, boot, now):
        super().__init__(port, SERIAL)
        self.device = device
        self.crc16 = crc16
        self.step = step
        self.boot = boot
        self.store = None
        self.now = now
        self.quiet_at = 0  # until then the last answer may still be on the line
        self.status = _IDLE
        self.work = None  # a calculation
        self.ok = None  # how it ended, until its report is kept
        self.ended = 0  # when
        self.finished = None  # when the last one of this run did
        self.result = None
        self.status_query = self._frame(_STATUS, b"")

    def mode(self):
        return "polling"

    def next(self):
        if self.work is None:
            return self.now + _AT_REST_MS
        return self.now if self.ok is None else self.now + _WRITE_EVERY_MS

    def poll(self, now):
        self.now = now
        super().poll(now)

    # In the middle of a commit: a status moves nothing, all else waits.
    def stand(self, now):
        self.stood = bool(self._read(now)) or self.stood
        if self.buffer == self.status_query and self.result:
            self.buffer = b""
            self._heard(now)
            self._status()

    # Time alone: one piece of a calculation.
    def tick(self, now):
        self.now = now
        self._look(now)
        if self.work:
            self._calculate(now)

    # -- frames ----------------------------------------------------------

    def _take(self, now):
        b = self.buffer
        if len(b) < 2 and (not b or b[0] in _LENGTHS):
            return False
        size = b[1] if len(b) > 1 else 0
        least, most = _LENGTHS.get(b[0], (0, 0))
        known = least <= size <= most
        if known and len(b) < size:
            return False
        # What has another command's number is taken off whole too, lest its data begin a frame.
        if not _LEN_MIN <= size <= len(b) or b[size - 2 : size] != self._check(b[: size - 2]):
            self.buffer = b[1:]
            return True
        self.buffer = b[size:]
        if known:
            self._heard(now)
            self._answer(b[0], b[2 : size - 2])
        return True

    def _heard(self, now):
        self.frames += 1
        self.device.host_spoke(now)

    def _check(self, frame):
        crc = self.crc16(frame)
        return bytes((crc >> 8, crc & 255))

    def _frame(self, command, data):
        frame = bytes((command, len(data) + _LEN_MIN)) + data
        return frame + self._check(frame)

    def _send(self, command, data):
        frame = self._frame(command | _ANSWER, data)
        self.out += frame
        self.quiet_at = self.now + len(frame) * 11 // 10 + 1
        self._flush()

    # -- commands --------------------------------------------------------

    def _answer(self, command, data):
        if command == _STATUS:
            self._status()
        elif command == _LAST_STATUS:
            self._send(command, bytes((self._kept().level,)) + self._age().to_bytes(4, "big"))
        elif command == _LAST_RESULTS:
            self._results(data[0], data[1] << 8 | data[2])
        else:
            self._send(command, bytes((self._start(data[0], data[1:]),)))

    # The format of what is calculated, else of the last result.
    def _status(self):
        form = self.work.form if self.work else self._kept().form
        self._send(_STATUS, _VERSION + bytes((self.status, form)))

    # Read from the store when it is first asked for.
    def _kept(self):
        if self.result is None:
            self.result = Result(self.store)
        return self.result

    # Seconds since the last calculation, as far as they are known: over a power cut by the calendar alone.
    def _age(self):
        if self.finished is not None:
            return min((self.now - self.finished) // 1000, UNKNOWN - 1)
        then, today = self._kept().when, self.device.calendar()
        if then == UNKNOWN or today is None or today < then:
            return UNKNOWN
        return today - then

    # Parts of two results never mix: the last one was dropped when the next was started.
    def _results(self, form, number):
        kept = self._kept()
        status, data = _REFUSED, b""
        if form == kept.form and 1 <= number <= kept.count():
            data = kept.page(number - 1)
            status = _LAST if number == kept.count() else _MORE
        self._send(_LAST_RESULTS, bytes((status, number >> 8, number & 255)) + data)

    # Acknowledged alone: heard, and nothing is started, for one is at work or there is no such function.
    def _start(self, level, parameter):
        if level not in (REPORT, FUNCTIONS):
            return _LEVEL_ERROR
        asked = understood(level, parameter)
        if self.work or not asked:
            return _ACKNOWLEDGED
        self._kept().drop()
        self.work = Report(self.boot, level, asked)
        self.status = _REQUESTED
        return _ACKNOWLEDGED | _STARTED

    # -- calculation -----------------------------------------------------

    # A piece a turn; then one write, when the line is quiet. Done is said once the report can't be lost.
    def _calculate(self, now):
        self.status = _CALCULATING
        if self.ok is None:
            self.ok = self.work.step()
            self.ended = now
        elif now - self.ended > _WRITE_LATEST_MS or now >= self.quiet_at and not self.receiving(now):
            self._finish(now)

    def _finish(self, now):
        work, why = self.work, None
        try:
            self.result.keep(work.pages(), work.level, work.form, self.device.calendar())
        except OSError as e:
            why = repr(e)
            work.fail("the result can't be stored: " + why)
            self.result.hold(work.pages(), work.level, work.form)
        self.status = _DONE if self.ok and not why else _ERROR
        self.work = self.ok = None
        self.finished = now
        if why:
            self.step(("store_error", why))

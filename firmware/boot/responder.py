# Answers for a board that must not run its image: who it is and why it refuses, and nothing else.
import ujson
import utime
from crc import crc16
from micropython import const

_LINE_MAX = const(240)
_POLL = const(0x11)
_VERSION = const(0x88)
_FRAME_MIN = const(5)
# Bytes of one frame follow each other: after this silence a started frame is noise.
_FRAME_GAP_MS = const(50)
_SEND_MS = const(500)
# Failure 49 with ROM code B0; 4B invalid command (ID-003).
_FAILURE = b"\x49\xb0"
_INVALID = b"\x4b"
# The shape that hosts parse; the last word is the CRC as measured, as in a good board's answer.
_VERSION_TEXT = "i(USA)100-SS ID003-05V000-00 01JAN00 %04X"


def send(port, data):
    start = utime.ticks_ms()
    while data and utime.ticks_diff(utime.ticks_ms(), start) < _SEND_MS:
        data = data[port.write(data) :]
        if data:
            utime.sleep_ms(1)


class LinkResponder:
    def __init__(self, boot, condition, why):
        self._boot = boot
        self._condition = condition
        self._why = why
        self._line = b""
        self._long = False

    def receive(self, data):
        lines = (self._line + data).split(b"\n")
        for line in lines[:-1]:
            send(self._boot.link, _pack(self._answer(line)))
            self._long = False
        self._line = lines[-1]
        if len(self._line) > _LINE_MAX:
            self._line, self._long = b"", True

    def _answer(self, line):
        if self._long or len(line) > _LINE_MAX:
            return _error(None, "too_long", "line is over 240 bytes; shorten it")
        text, _, crc = line.rstrip(b"\r").rpartition(b"\t")
        if crc != b"%04x" % crc16(text):
            return _error(None, "bad_crc", "CRC of the line is wrong; send it again")
        try:
            request = ujson.loads(text)
            number, what = request["id"], request["do"]
        except Exception:  # noqa: BLE001  MicroPython's json raises several kinds
            return _error(None, "bad_json", "line is no JSON request with id and do")
        if what == "hello":
            return {"id": number, "ok": self._identity(request.get("session"))}
        if what == "status":
            return {"id": number, "ok": self._status()}
        return _error(number, "inoperable", self._why)

    def _identity(self, session):
        fields = self._boot.identity()
        for name in ("device", "version", "revision", "image", "digest", "boot"):
            fields[name] = None
        fields.update({"caps": [], "session": session, "wire": "id003", "inoperable": self._why})
        return fields

    def _status(self):
        message = "OUT OF SERVICE: " + self._why
        return {
            "state": "inoperable",
            "standing": [self._condition],
            "why": self._why,
            "light": "red",
            "message": message,
            "enabled": False,
        }


def _error(number, code, why):
    return {"id": number, "err": {"code": code, "why": why}}


def _pack(reply):
    text = ujson.dumps(reply).encode()
    return text + b"\t%04x\n" % crc16(text)


# FC LEN CMD [data] CRClo CRChi; a wrong CRC is met with silence.
class WireResponder:
    def __init__(self, wire, crc):
        self._wire = wire
        self._version = b"\x88" + (_VERSION_TEXT % (crc or 0)).encode()
        self._buffer = b""
        self._last = utime.ticks_ms()

    def receive(self, data):
        now = utime.ticks_ms()
        if utime.ticks_diff(now, self._last) > _FRAME_GAP_MS:
            self._buffer = b""
        self._last = now
        self._buffer += data
        while self._take():
            pass

    # Takes one frame or one stray byte off the buffer; False when it must wait for more.
    def _take(self):
        b = self._buffer
        if b and b[0] != 0xFC or len(b) > 1 and b[1] < _FRAME_MIN:
            self._buffer = b[1:]
            return True
        if len(b) < _FRAME_MIN or len(b) < b[1]:
            return False
        frame = b[: b[1]]
        if crc16(frame):
            self._buffer = b[1:]
            return True
        self._buffer = b[b[1] :]
        self._answer(frame[2])
        return True

    def _answer(self, command):
        body = _INVALID
        if command == _POLL:
            body = _FAILURE
        elif command == _VERSION:
            body = self._version
        frame = bytes((0xFC, len(body) + 4)) + body
        crc = crc16(frame)
        send(self._wire, frame + bytes((crc & 255, crc >> 8)))


def run(boot, condition, why):
    boot.wire.configure(9600, 8, "E", 1)
    link, wire = LinkResponder(boot, condition, why), WireResponder(boot.wire, boot.image_crc)
    ports = (boot.link, boot.wire, boot.control)
    while True:
        boot.port.feed()
        boot.port.wait(ports, 1000)
        boot.control.read()
        for port, responder in ((boot.link, link), (boot.wire, wire)):
            data = port.read()
            if data:
                responder.receive(data)

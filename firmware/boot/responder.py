# Answers for a board that must not run its image: who it is and why it refuses, and nothing else.
import responder_wire
import ujson
import utime
from crc import crc16
from micropython import const

_LINE_MAX = const(240)
_SEND_MS = const(500)
# Bytes of one frame follow each other: after this silence a started frame is noise.
_FRAME_GAP_MS = const(50)


def send(port, data):
    start = utime.ticks_ms()
    while data and utime.ticks_diff(utime.ticks_ms(), start) < _SEND_MS:
        data = data[port.write(data) :]
        if data:
            utime.sleep_ms(1)


class LinkResponder:
    # clearing: what else it answers to on a board in hard tilt, else None.
    def __init__(self, boot, condition, why, clearing):
        self._boot = boot
        self._clearing = clearing
        self._condition = condition
        self._why = why
        self._line = b""
        self._long = False

    def receive(self, data):
        lines = (self._line + data).split(b"\n")
        for line in lines[:-1]:
            send(self._boot.link, _pack(self._answer(line)))
            self._long = False
            if self._clearing and self._clearing.done:
                self._boot.port.reset(self._boot.control, "tilt_cleared")
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
        if what == "wire" and self._boot.board.TUNNEL:
            return {"id": number, "ok": {"hex": self._boot.wire.carry(request.get("hex", ""))}}
        if self._clearing and what in self._clearing.OPERATIONS:
            reply = self._clearing.answer(what, request)
            reply["id"] = number
            return reply
        return _error(number, "inoperable", self._why)

    def _identity(self, session):
        fields = self._boot.identity()
        for name in ("device", "version", "revision", "image", "digest", "boot"):
            fields[name] = None
        fields.update({"caps": [], "session": session, "wire": responder_wire.NAME, "inoperable": self._why})
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


# The wire's bytes, gathered for the protocol's responder: take(bytes) gives what is left of them, None to wait for
# more.
class WireStream:
    def __init__(self, take):
        self._take = take
        self._buffer = b""
        self._last = utime.ticks_ms()

    def receive(self, data):
        now = utime.ticks_ms()
        if utime.ticks_diff(now, self._last) > _FRAME_GAP_MS:
            self._buffer = b""
        self._last = now
        left = self._buffer + data
        while left is not None:
            self._buffer = left
            left = self._take(left)


def run(boot, condition, why, clearing=None):
    boot.wire.configure(*responder_wire.SERIAL)
    link = LinkResponder(boot, condition, why, clearing)
    wire = WireStream(responder_wire.WireResponder(boot, why, lambda data: send(boot.wire, data)).take)
    ports = (boot.link, boot.wire, boot.control)
    while True:
        boot.port.feed()
        boot.port.wait(ports, 1000)
        boot.control.read()
        for port, responder in ((boot.link, link), (boot.wire, wire)):
            data = port.read()
            if data:
                responder.receive(data)

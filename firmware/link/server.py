# The link, in every image: answers one line with one line, twice the same
# for a repeated id, and never acts on a damaged one.
from link.args import check
from link.frame import REPLY_MAX, Lines, Refused, pack, unpack

_OUT_MAX = 4096


class Server:
    # ops: each takes(name) and carry_out(request), as link/args.py's Operations; hello() -> identity.
    def __init__(self, port, crc16, ops, hello):
        self.port = port
        self.crc16 = crc16
        self.ops = ops
        self.hello = hello
        self.lines = Lines()
        self.out = b""
        self.session = None
        self.last_id = None
        self.last_reply = b""

    def poll(self):
        self._flush()
        data = self.port.read()
        if data:
            for line in self.lines.feed(data):
                self._send(self._answer(line))

    def _answer(self, line):
        if line is None:
            return self._error(None, "too_long", "the line is over 240 bytes: send a shorter one")
        number = None
        try:
            request = unpack(line, self.crc16)
            number = request["id"]
            return self._dispatch(request, number)
        except Refused as e:
            return self._error(number, e.args[0], e.args[1])
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            return self._error(number, "bad_args", "%s: %s" % (request["do"], e))
        except OSError as e:
            return self._error(number, "store", "the board's files can't be used: %s" % e)

    def _error(self, number, code, why):
        reply = pack({"id": number, "err": {"code": code, "why": why}}, self.crc16)
        if number == self.last_id:
            self.last_reply = reply
        return reply

    def _dispatch(self, request, number):
        if not isinstance(number, int):
            raise Refused("bad_args", "id is a whole number")
        if request["do"] == "hello":
            return self._open(request, number)
        if self.session is None:
            return pack({"id": number, "err": {"code": "no_session", "why": "say hello first"}}, self.crc16)
        if number == self.last_id and self.last_reply:
            return self.last_reply
        if number != self.last_id + 1:
            why = "id %s does not follow %s: say hello" % (number, self.last_id)
            return pack({"id": number, "err": {"code": "bad_id", "why": why}}, self.crc16)
        self.last_id = number
        self.last_reply = self._carry_out(request, number)
        return self.last_reply

    def _open(self, request, number):
        check(request, ("session=:int",))
        self.session = request["session"]
        self.last_id = number
        identity = self.hello()
        identity["session"] = self.session
        self.last_reply = b""  # a long one, and never asked for: hello said again opens again
        return pack({"id": number, "ok": identity}, self.crc16)

    def _carry_out(self, request, number):
        for ops in self.ops:
            spec = ops.takes(request["do"])
            if spec is not None:
                check(request, spec)
                return self._reply(number, ops.carry_out(request))
        raise Refused("unknown_op", "this image has no operation %s" % request["do"])

    def _reply(self, number, answer):
        reply = pack({"id": number, "ok": answer}, self.crc16)
        if len(reply) > REPLY_MAX:
            raise Refused("too_long", "the answer does not fit in a line: ask for less")
        return reply

    def _send(self, reply):
        self.out += reply
        self._flush()

    def _flush(self):
        if self.out:
            self.out = self.out[self.port.write(self.out) :]
            if len(self.out) > _OUT_MAX:
                self.out = b""

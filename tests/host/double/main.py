import json
import os
import select
import sys

control = open(4, "r+b")  # noqa: SIM115
wire = open(3, "r+b")  # noqa: SIM115
poll = select.poll()
poll.register(sys.stdin.buffer, select.POLLIN)
poll.register(wire, select.POLLIN)
poll.register(control, select.POLLIN)


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x8408 if crc & 1 else 0)
    return crc


def count_boot():
    try:
        with open("/data/boots") as f:
            n = int(f.read()) + 1
    except OSError:
        n = 1
    with open("/data/boots", "w") as f:
        f.write(str(n))
    return n


class Double:
    def __init__(self):
        self.boot = count_boot()
        self.session = None
        self.last = (None, b"")
        self.executed = []
        self.frames = 0
        self.pins = []
        self.faults = {}

    def tell(self, line):
        control.write(line + "\n")
        while True:
            poll.poll(1000)

    def send(self, message):
        body = json.dumps(message).encode()
        line = body + b"\t%04x\n" % crc16(body)
        damage = b"?" if self.faults.pop("damage", None) else b""
        if not self.faults.pop("lose", None):
            sys.stdout.buffer.write(damage + line)
        return line

    def fail(self, number, code):
        self.send({"id": number, "err": {"code": code, "why": "test"}})

    def line(self, line):
        body, _, crc = line.rpartition(b"\t")
        if crc == b"%04x" % crc16(body):
            self.request(json.loads(body))
        else:
            self.fail(None, "bad_crc")

    def request(self, ask):
        if ask["do"] == "hello":
            self.session = ask["session"]
            self.last = (0, b"")
            self.send({"id": 0, "ok": self.hello()})
        elif self.session is None:
            self.fail(ask["id"], "no_session")
        elif ask["id"] == self.last[0]:
            sys.stdout.buffer.write(self.last[1])
        elif ask["id"] == self.last[0] + 1:
            self.last = (ask["id"], self.send(self.answer(ask)))
        else:
            self.fail(ask["id"], "bad_id")

    def hello(self):
        who = {"crc": "c0de", "device": "double", "wire": "id003"}
        return dict(who, session=self.session, boot=self.boot, reset=sys.argv[-1])

    def answer(self, ask):
        op = getattr(self, "do_" + ask["do"], None)
        if op is None:
            return {"id": ask["id"], "err": {"code": "unknown_op", "why": "no such operation"}}
        self.executed = self.executed[-9:] + [ask["do"]]
        return {"id": ask["id"], "ok": op(ask)}

    def do_insert(self, ask):
        return {"item": ask["item"]}

    def do_executed(self, ask):
        return {"ops": self.executed}

    def do_fault(self, ask):
        reply = {}
        self.next_faults = ask["faults"]
        return reply

    def do_status(self, ask):
        return {"frames": self.frames, "pins": self.pins, "state": "idle"}

    def do_events(self, ask):
        return {"boot": self.boot, "events": [[1, 0, "started", ""]][ask["after"] :], "gap": False}

    def do_read_only(self, ask):
        return {"root": os.listdir("/")}

    def do_restart(self, ask):
        self.tell("reset " + ask["how"])

    def do_cut(self, ask):
        self.tell("cut")

    def do_die(self, ask):
        sys.exit(7)

    def do_flood(self, ask):
        for _ in range(ask["n"]):
            sys.stdout.buffer.write(b"stale")
            wire.write(b"stale")
        return {}

    def wire_bytes(self, data):
        self.frames += data.count(b"\xfc\x05\x88")
        body = b"i(USA)100-SS ID003-05V010-01 C0DE"
        frame = bytes([0xFC, len(body) + 5, 0x88]) + body
        crc = crc16(frame)
        wire.write(frame + bytes([crc & 255, crc >> 8]))


def run():
    board = Double()
    rest = b""
    while True:
        poll.poll()
        heard = control.read(200)
        if heard:
            board.pins += [line for line in heard.decode().split("\n") if line.startswith("pin ")]
        frame = wire.read(64)
        if frame:
            board.wire_bytes(frame)
        lines = (rest + (sys.stdin.buffer.read(240) or b"")).split(b"\n")
        rest = lines.pop()
        for line in lines:
            board.line(line)
            board.faults = getattr(board, "next_faults", {})
            board.next_faults = {}


run()

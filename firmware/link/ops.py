# The operations of every image: they read, or they ask with proof. Nothing
# here moves a sensor, a clock or a meter.
import gc
import json

from link.args import Operations
from link.frame import page
from link.late import load


def ops(machine, own):
    audit = Late(machine, "link.audit", "table files digest crc authenticate authenticity")
    service = Late(machine, "link.service", "challenge commission service clear_memory attempt_meters")
    return (Ops(machine), audit, service) + late(machine, own)


# own: modules and the names of the operations of each, in turn, or nothing: what not every product has.
def late(machine, own):
    return tuple(Late(machine, own[at], own[at + 1]) for at in range(0, len(own or ()), 2))


class Ops(Operations):
    ARGS = """
status:
heap:
post:
meters:
events: after?=:int
log: from?=:int
"""

    def __init__(self, machine):
        super().__init__(machine)
        self.device = machine.device

    def _status(self, request):
        device = self.device
        status = {
            "state": device.shown()[0],
            "standing": device.standing.names(),
            "light": device.light(),
            "message": device.message(),
            "post": {"ok": device.post.ok, "run": device.post.run, "boot": device.record["boot"]},
            "now": self.machine.now,
            "calendar": self.machine.clock.calendar(),
            "frames": self.machine.wire.frames,
            "boot": device.record["boot"],
            "mode": self.machine.wire.mode(),
        }
        status.update(device.status())
        return status

    # Apart from status: a full collection takes milliseconds on a board.
    def _heap(self, request):
        gc.collect()
        return {"free": gc.mem_free()}

    def _post(self, request):
        post = self.device.post
        return {
            "run": post.run,
            "boot": self.device.record["boot"],
            "why": post.why,
            "ok": post.ok,
            "steps": post.steps,
        }

    def _meters(self, request):
        self.machine.step(("meters_read",))
        return self.device.record["meters"]

    def _events(self, request):
        after, events = request.get("after", 0), self.machine.events
        found = page(events.after(after))
        return {"boot": self.device.record["boot"], "events": found, "gap": events.gap(after)}

    def _log(self, request):
        lines = self.machine.log.lines(request.get("from", 1))
        entries = page(json.loads(line) for line in lines)
        return {"last": self.device.log.head[0], "entries": entries}


# Rare operations: their module is loaded with the first request.
class Late(Operations):
    def __init__(self, machine, module, names):
        super().__init__(machine)
        self.module = module
        self.names = names
        self.ops = None

    def takes(self, name):
        return self._loaded().takes(name) if name in self.names.split() else None

    def carry_out(self, request):
        return self._loaded().carry_out(request)

    def _loaded(self):
        if self.ops is None:
            self.ops = load(self.module).Ops(self.machine)
        return self.ops

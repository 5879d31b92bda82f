# The operations of every image: they read, or they ask with proof. Nothing
# here moves a sensor, a clock or a meter.
import gc
import json
import sys

from link.frame import page

# Rare operations: their module is loaded with the first request.
_LATE = {
    "audit": ("table", "files", "digest", "crc"),
    "service": ("challenge", "commission", "service", "clear_memory", "attempt_meters"),
}


class Ops:
    def __init__(self, machine):
        self.machine = machine
        self.device = machine.device
        self.loaded = {}

    def table(self):
        table = {name: getattr(self, "_" + name) for name in ("status", "heap", "post", "meters", "events", "log")}
        for names in _LATE.values():
            for name in names:
                table[name] = self._late
        return table

    def _status(self, request):
        device = self.device
        return {
            "state": device.shown()[0],
            "standing": device.standing.names(),
            "light": device.light(),
            "message": device.message(),
            "enabled": device.settings.known() and not device.settings.inhibited(),
            "post": {"ok": device.post.ok, "run": device.post.run, "boot": device.record["boot"]},
            "now": self.machine.now,
            "calendar": self.machine.clock.calendar(),
            "frames": self.machine.wire.frames,
            "boot": device.record["boot"],
            "mode": self.machine.wire.mode(),
            "rejects": device.rejects,
        }

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
        return self.device.meters.values

    def _events(self, request):
        after, events = request.get("after", 0), self.machine.events
        found = page(events.after(after))
        return {"boot": self.device.record["boot"], "events": found, "gap": events.gap(after)}

    def _log(self, request):
        lines = self.machine.log.lines(request.get("from", 1))
        entries = page(json.loads(line) for line in lines)
        return {"last": self.device.log.head[0], "entries": entries}

    def _late(self, request):
        for module, names in _LATE.items():
            if request["do"] in names:
                return getattr(self._module(module), "_" + request["do"])(request)

    def _module(self, module):
        if module not in self.loaded:
            name = "link." + module
            __import__(name)
            self.loaded[module] = sys.modules[name].Ops(self.machine)
        return self.loaded[module]

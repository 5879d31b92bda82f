# The physical world of a bill acceptor: paper, transport, lever, pusher, box,
# doors. Stepped with the device's own `now`; it knows nothing of the device.
#
#   mouth   entry   scan head   exit        lever      chute -> box
#     0 ---- 10 ------ 70 ------ 130 -------- 260 ------- pushed off by the pusher
#
# x is the leading edge in mm; the trailing edge is x - length. No gap between
# sensors hides an item of 61 mm or more.
from array import array

from bench.plant import base
from micropython import const

_ENTRY = const(10)
_SCAN = const(70)
_EXIT = const(130)
_LEVER = const(260)
_REST = const(14)  # where a hand leaves an item
_MM_PER_S = const(300)
_AWAY_MS = const(200)  # pusher leaves home ... and is home again
_HOME_MS = const(500)
_AT = {"entry": _ENTRY, "centre": _SCAN, "exit": _EXIT, "lever": _LEVER}
_READ = ("length", "thickness", "optical", "magnetic", "uv", "barcode")


class Plant(base.Plant):
    ARGS = """
insert: item=:dict
pull:
clear_path:
door: which=acceptor|stacker open=:bool
box: present?=:bool count?=:int
lock: locked=:bool
empty:
battery: mv=:int
break: part=transport_motor|stack_motor|scanner|entry|centre|exit|lever|chute|home how?=stall|stuck_0|stuck_1|dead
mend: part=:str
"""
    LATE = None
    CAPABILITIES = []

    def __init__(self, capacity=200):
        super().__init__()
        self.item = None
        self.x = 0.0
        self.chute = None
        self.box = {"present": 1, "locked": 1, "count": 0, "capacity": capacity}
        self.doors = {"acceptor": 0, "stacker": 0}
        self.counts = {"inserted": 0, "returned": 0, "stacked": 0, "removed": 0}
        self.values = {}
        self.barcodes = []
        self.transport = 0
        self.pusher = 0
        self.pushed_at = None
        self.scanned = False

    # -- what survives a power cut: everything but what the motors did ------

    _WORLD = ("item", "x", "chute", "box", "doors", "broken", "battery", "counts", "values", "barcodes", "scanned")

    # -- time ---------------------------------------------------------------

    def step(self, now):
        elapsed = now - self.time
        away = self._away()
        self.time = now
        if self._away() != away:
            self.changed = True
        if self._moves():
            self._travel(elapsed * self.transport * _MM_PER_S / 1000)
        if self.pushed_at is not None and now >= self.pushed_at + _HOME_MS:
            self._push_done()

    # The next moment at which a sensor changes by itself, or None.
    def next(self):
        times = []
        edge = self._next_edge()
        if edge is not None:
            # a hair beyond, so that rounding never leaves the edge ahead
            times.append(self.time + int(abs(edge - self.x) * 1000 / _MM_PER_S) + 1)
        if self.pushed_at is not None:
            times += [t for t in (self.pushed_at + _AWAY_MS, self.pushed_at + _HOME_MS) if t > self.time]
        return min(times) if times else None

    def _moves(self):
        if not self.item or not self.transport or self.broken.get("transport_motor"):
            return False
        return not self._stuck()

    # A wedged item moves neither way any more.
    def _stuck(self):
        at = self.item.get("sticks_at")
        return at is not None and self.x >= at and (self.transport > 0 or self.item.get("wedged"))

    def _edges(self):
        length = self.item["length"]
        points = [_ENTRY, _SCAN, _EXIT, _LEVER, _SCAN + length, _ENTRY + length, _EXIT + length, _LEVER + length]
        at = self.item.get("sticks_at")
        return points + ([at] if at is not None else [])

    def _next_edge(self):
        if not self._moves():
            return None
        if self.transport > 0:
            ahead = [p for p in self._edges() if p > self.x]
            return min(ahead) if ahead else None
        behind = [p for p in self._edges() if p < self.x]
        return max(behind) if behind else None

    def _travel(self, mm):
        limit = self.item["length"] + _LEVER
        self.x += mm
        at = self.item.get("sticks_at")
        if mm > 0 and at is not None and self.x > at:
            self.x = float(at)
        if mm > 0 and not self.scanned and self.x >= _SCAN + self.item["length"]:
            self.scanned = True
            if not self.broken.get("scanner"):
                self.reading = {name: self.item.get(name) for name in _READ}
        if self.x >= limit:
            self._past_lever(limit)
        elif self.x <= _ENTRY:
            self._gone("returned")
        self.changed = True

    # Past the lever an item is stacked: its flap lets nothing back, unless a
    # string keeps it open.
    def _past_lever(self, limit):
        if self.item.get("string"):
            self.x = limit
            return
        self.counts["stacked"] += 1
        worth = str(self.item.get("worth", 0))
        self.values[worth] = self.values.get(worth, 0) + 1
        if self.item.get("barcode"):
            self.barcodes = self.barcodes[-7:] + [self.item["barcode"]]
        self.chute = self.item
        self.item = None

    def _gone(self, how):
        self.counts[how] += 1
        self.item = None
        self.reading = None
        self.changed = True

    def _push_done(self):
        self.pushed_at = None
        if self.chute and self.box["present"] and not self.broken.get("stack_motor"):
            self.chute = None
            self.box["count"] += 1
        if self.pusher:
            self.pusher = 0
        self.changed = True

    # -- what the device sees -------------------------------------------------

    def _covers(self, at):
        if not self.item:
            return 0
        if at == _LEVER and self.item.get("string") and self.x >= _LEVER:
            return 1
        return 1 if self.x - self.item["length"] < at <= self.x else 0

    def levels(self):
        dark = not self.emitters
        levels = {name: 1 if dark else self._covers(at) for name, at in _AT.items()}
        levels["chute"] = 1 if dark or self.chute else 0
        levels["scanner"] = 1
        levels["moving"] = 1 if self.transport and self._turns() else 0
        levels["home"] = 0 if self._away() else 1
        levels["box"] = self.box["present"]
        levels["lock"] = self.box["locked"]
        levels["full"] = 1 if self.box["present"] and self.box["count"] >= self.box["capacity"] else 0
        levels["acceptor_door"] = self.doors["acceptor"]
        levels["stacker_door"] = self.doors["stacker"]
        levels["battery"] = self.charged()
        self._break(levels)
        return levels

    def _turns(self):
        if self.broken.get("transport_motor"):
            return False
        return not (self.item and self._stuck())

    def _away(self):
        return self.pushed_at is not None and self.time >= self.pushed_at + _AWAY_MS

    def _break(self, levels):
        for part, how in self.broken.items():
            if part == "scanner":
                levels["scanner"] = 0
            elif part in levels:
                levels[part] = 1 if how == "stuck_1" else 0

    # -- what the device does -------------------------------------------------

    def motor(self, name, direction):
        self.changed = True
        if name == "transport":
            self.transport = direction
        else:
            self.pusher = direction
            if direction and not self.broken.get("stack_motor"):
                self.pushed_at = self.time

    # -- what a person does, by name of the link's operation -------------------

    def _op_insert(self, request):
        item = request["item"]
        try:
            a, b, c, d = item["optical"]
            numbers = (a, b, c, d, item["length"], item["thickness"], item["magnetic"], item["uv"])
            array("i", numbers + (item.get("sticks_at") or 0,))
            str.isdigit(item.get("barcode") or "")
        except (KeyError, TypeError, ValueError):
            # it would fail later, inside the device
            raise ValueError("an item needs whole numbers: length, thickness, magnetic, uv, four in optical")
        self.insert(item)

    def _op_pull(self, request):
        self.pull()

    def _op_clear_path(self, request):
        self.clear_path()

    def _op_box(self, request):
        self.box["count"] = request.get("count", self.box["count"])
        self.box["present"] = 1 if request.get("present", self.box["present"]) else 0
        self.changed = True

    def _op_lock(self, request):
        self.box["locked"] = 1 if request["locked"] else 0
        self.changed = True

    def _op_empty(self, request):
        self.empty()

    # -- the same, as physics ------------------------------------------------------

    def insert(self, item):
        if self.item:
            raise ValueError("an item is in the path: wait until it is stacked or returned")
        if self.doors["acceptor"]:
            raise ValueError("the acceptor door is open: close it before inserting")
        self.item = item
        self.x = float(_REST)
        self.scanned = False
        self.counts["inserted"] += 1
        self.changed = True

    # A hand takes what sticks out; a string reaches as far as the lever.
    def pull(self):
        if not self.item:
            raise ValueError("nothing is in the path to pull at")
        if self.x - self.item["length"] >= _ENTRY and not self.item.get("string"):
            raise ValueError("the item is out of reach, and has no string")
        self._gone("returned")

    # An attendant takes paper out by hand: from the path, or off the chute.
    def clear_path(self):
        if not (self.doors["acceptor"] or self.doors["stacker"]):
            raise ValueError("open a door first")
        if self.item:
            self._gone("removed")
        if self.chute:
            self.chute = None
            self.box["count"] += 1
        self.changed = True

    def empty(self):
        if self.box["present"]:
            raise ValueError("remove the box before emptying it")
        self.box["count"] = 0
        self.changed = True

    def truth(self):
        return {
            "inserted": self.counts["inserted"],
            "returned": self.counts["returned"],
            "stacked": self.counts["stacked"],
            "removed": self.counts["removed"],
            "in_path": 1 if self.item else 0,
            "chute": 1 if self.chute else 0,
            "box": self.box["count"],
            "values": self.values,
            "barcodes": self.barcodes,
            "position": int(self.x) if self.item else None,
        }

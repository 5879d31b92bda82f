# The physical world of a card shuffler: cards, feeder, rack, exit, doors, buttons. Stepped with the device's own `now`;
# it knows nothing of the device.
#
#   hopper -> gate, under the camera -> slot of the rack that stands there -> exit -> tray
#
# A card is a byte: the face (suit * 13 + rank, 52 a joker, 53 unreadable), 64 for a foreign back, 128 for face up.
from binascii import hexlify, unhexlify

from bench.plant import attended
from micropython import const

_FEED_MS = const(60)
_RACK_MS = const(20)
_SLOT_MS = const(1)
_INSERT_MS = const(40)
_EJECT_MS = const(40)
_SLOTS = const(440)
_EMPTY = const(255)
_FACE = const(63)
_BACK = const(64)
_BOXED = const(128)
_CARD_UM = const(300)
_BARE = b"\xff" * _SLOTS


class Plant(attended.Plant):
    ARGS = """
load: cards=:str
take:
press: button=start|deal|hand|unload|clear
key: turned=:bool
door: which=service|shroud open=:bool
clear_path:
empty:
battery: mv=:int
break: part=feed|rack|insert|eject|camera|gate|exit how?=stall|double|stuck_0|stuck_1|dead
mend: part=:str
"""
    # Operations of their own module, loaded with the first of them.
    LATE = ("bench.draw", "draw rescale words spoil")
    CAPABILITIES = ["draw", "raw_entropy", "rescaling"]

    def __init__(self):
        super().__init__()
        self.hopper = bytearray()
        self.gate = None
        self.rack = bytearray(_BARE)
        self.racked = 0  # cards in it
        self.exit = None
        self.tray = bytearray()
        self.taken = 0
        self.slot = 0
        self.doors = {"service": 0, "shroud": 0}
        self.target = None

    # -- what survives a power cut: everything but what the motors did ------

    _STACKS = ("hopper", "rack", "tray")
    _WORLD = ("racked", "gate", "exit", "taken", "slot", "doors", "broken", "battery", "key")

    def world(self):
        world = super().world()
        for name in self._STACKS:
            # empty slots behind the last card are no news, and a line to a supervisor takes its time
            world[name] = hexlify(getattr(self, name).rstrip(b"\xff")).decode()
        return world

    def restore(self, world):
        super().restore(world)
        for name in self._STACKS:
            setattr(self, name, bytearray(unhexlify(world[name])))
        self.rack += b"\xff" * (_SLOTS - len(self.rack))

    # -- time ---------------------------------------------------------------

    # The roller takes the lowest card of the hopper, or two of them.
    def _done_feed(self, at):
        if self.hopper and self.gate is None:
            self.gate = self.hopper[0]
            self.hopper = self.hopper[1:]
            if not self.broken.get("camera"):
                self.reading = self._looked_at(self.gate)

    def _looked_at(self, card):
        face = card & _FACE
        thickness = 2 * _CARD_UM if self.broken.get("feed") == "double" else _CARD_UM
        back, boxed = (1 if card & _BACK else 0), (1 if card & _BOXED else 0)
        return {"face": face if face <= 52 and not boxed else -1, "back": back, "thickness": thickness, "boxed": boxed}

    def _done_rack(self, at):
        self.slot, self.target = self.target, None

    def _done_insert(self, at):
        if self.gate is not None and self.target is None and self.rack[self.slot] == _EMPTY:
            self.rack[self.slot] = self.gate
            self.racked += 1
            self.gate = None

    # Out of the slot into the exit, and out of that into the tray.
    def _done_eject(self, at):
        if self.exit is not None:
            self.tray.append(self.exit)
            self.exit = None
        elif self.target is None and self.rack[self.slot] != _EMPTY:
            self.exit = self.rack[self.slot]
            self.rack[self.slot] = _EMPTY
            self.racked -= 1
            self.due["eject"] = self.time + _EJECT_MS

    # -- what the device sees -------------------------------------------------

    def levels(self):
        dark = not self.emitters
        levels = super().levels()
        levels.update(
            {
                "input": 1 if self.hopper else 0,
                "gate": 1 if dark or self.gate is not None else 0,
                "exit": 1 if dark or self.exit is not None else 0,
                "loaded": 1 if self.racked else 0,
                "tray": 1 if self.tray else 0,
                "aligned": 1 if self.target is None else 0,
                "service_door": self.doors["service"],
                "shroud": self.doors["shroud"],
                "camera": 0 if self.broken.get("camera") else 1,
            }
        )
        for part in ("gate", "exit"):
            if part in self.broken:
                levels[part] = 1 if self.broken[part] == "stuck_1" else 0
        return levels

    # -- what the device does -------------------------------------------------

    # The rack's level is the slot that it is to go to, from 1; others run or stand.
    def motor(self, name, level):
        self.changed = True
        if not level:
            self.due.pop(name, None)
        elif self.broken.get(name) in ("stall", "dead"):
            self.target = level - 1 if name == "rack" else self.target
        elif name == "rack":
            self.target = level - 1
            self.due["rack"] = self.time + _RACK_MS + _SLOT_MS * abs(self.target - self.slot)
        elif name not in self.due:
            self.due[name] = self.time + (_FEED_MS if name == "feed" else _INSERT_MS if name == "insert" else _EJECT_MS)

    # -- what a person does, by name of the link's operation -------------------

    def _op_load(self, request):
        self.hopper += unhexlify(request["cards"])
        self.changed = True

    def _op_take(self, request):
        self.taken += len(self.tray)
        self.tray = bytearray()
        self.changed = True

    # Through an open door: what stands in the gate or the exit, and what lies in the hopper.
    def _op_clear_path(self, request):
        if not (self.doors["service"] or self.doors["shroud"]):
            raise ValueError("open a door first")
        self.taken += len(self._loose())
        self.hopper, self.gate, self.exit = bytearray(), None, None
        self.changed = True

    # What lies in the hopper, stands in the gate, in the exit.
    def _loose(self):
        return self.hopper + bytes(card for card in (self.gate, self.exit) if card is not None)

    # The rack too, slot by slot, by hand.
    def _op_empty(self, request):
        self._op_clear_path(request)
        self.taken += self.racked
        self.racked = 0
        self.rack = bytearray(_BARE)

    # A motor that runs stands at once.
    def _op_break(self, request):
        super()._op_break(request)
        if self.broken[request["part"]] in ("stall", "dead"):
            self.due.pop(request["part"], None)

    def _op_mend(self, request):
        super()._op_mend(request)
        self.target = None

    def truth(self):
        return {
            "hopper": len(self.hopper),
            "gate": 0 if self.gate is None else 1,
            "rack": self.racked,
            "exit": 0 if self.exit is None else 1,
            "taken": self.taken,
            "loose": hexlify(self._loose()).decode(),
            "running": sorted(name for name in self.due if name != "button"),
            "tray": hexlify(bytes(self.tray)).decode(),
        }

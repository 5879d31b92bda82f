# The physical world of a selector: its display, buttons, key and doors. Stepped with the device's own `now`; it knows
# nothing of the device.
from micropython import const

_DISPLAY_MS = const(20)
_PRESS_MS = const(50)
_HIGHEST = const(9)  # beyond it the lines light no figure
_FIGURES = const(64)  # as many of the last ones are told


class Plant:
    ARGS = """
press: button=select|done|recall|clear
key: turned=:bool
door: which=service|housing open=:bool
battery: mv=:int
break: part=display how=stuck|dark|segment
mend: part=display
"""
    # Operations of their own module, loaded with the first of them.
    LATE = ("bench.draw", "draw rescale words spoil")
    CAPABILITIES = ["draw", "raw_entropy", "rescaling"]

    def __init__(self):
        self.doors = {"service": 0, "housing": 0}
        self.key = 0
        self.battery = 3000
        self.broken = None
        self.display = 0
        self.figures = []  # every one that was ever seen on the display, in order
        self.driven = 0
        self.due = {}  # what: when it is there
        self.button = None
        self.reading = None
        self.time = 0
        self.changed = True

    # -- what survives a power cut: a display without power shows nothing ---------

    _WORLD = ("doors", "key", "battery", "broken", "figures")

    def world(self):
        return {name: getattr(self, name) for name in self._WORLD}

    def restore(self, world):
        for name in self._WORLD:
            setattr(self, name, world[name])

    # -- time ---------------------------------------------------------------

    def step(self, now):
        self.time = now
        for what in [what for what, due in self.due.items() if due <= now]:
            del self.due[what]
            getattr(self, "_done_" + what)()
            self.changed = True

    # The next moment at which a sensor changes by itself, or None.
    def next(self):
        return min(self.due.values(), default=None)

    def _done_button(self):
        self.button = None

    def _done_display(self):
        if self.broken == "stuck":
            return
        shown = 0 if self.broken == "dark" else self.driven & 13 if self.broken == "segment" else self.driven
        if 0 < shown <= _HIGHEST and shown != self.display:
            self.figures = (self.figures + [shown])[-_FIGURES:]
        self.display = shown

    # -- what the device sees -------------------------------------------------

    def levels(self):
        levels = {"display_%d" % (1 << bit): self.display >> bit & 1 for bit in range(4)}
        levels["service_door"] = self.doors["service"]
        levels["housing"] = self.doors["housing"]
        levels["key"] = self.key
        levels["battery"] = 1 if self.battery >= 2400 else 0
        if self.button:
            levels[self.button] = 1
        return levels

    def take_reading(self):
        return None

    # -- what the device does -------------------------------------------------

    # The display's level is the figure that it is to show, 0 for none.
    def motor(self, name, level):
        self.driven = level
        self.due["display"] = self.time + _DISPLAY_MS
        self.changed = True

    def light_emitters(self, on):
        pass

    # -- what a person does, by name of the link's operation -------------------

    def _op_press(self, request):
        self.button = request["button"]
        self.due["button"] = self.time + _PRESS_MS
        self.changed = True

    def _op_key(self, request):
        self.key = 1 if request["turned"] else 0
        self.changed = True

    def _op_door(self, request):
        self.doors[request["which"]] = 1 if request["open"] else 0
        self.changed = True

    def _op_battery(self, request):
        self.battery = request["mv"]
        self.changed = True

    def _op_break(self, request):
        self.broken = request["how"]
        self._done_display()
        self.changed = True

    def _op_mend(self, request):
        self.broken = None
        self._done_display()
        self.changed = True

    def truth(self):
        return {"display": self.display, "figures": self.figures}

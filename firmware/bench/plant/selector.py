# The physical world of a selector: its display, buttons, key and doors. Stepped with the device's own `now`; it knows
# nothing of the device.
from bench.plant import attended
from micropython import const

_DISPLAY_MS = const(20)
_HIGHEST = const(9)  # beyond it the lines light no figure
_FIGURES = const(64)  # as many of the last ones are told


class Plant(attended.Plant):
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
        super().__init__()
        self.doors = {"service": 0, "housing": 0}
        self.display = 0
        self.figures = []  # every one that was ever seen on the display, in order
        self.driven = 0

    # -- what survives a power cut: a display without power shows nothing ---------

    _WORLD = ("doors", "key", "battery", "broken", "figures")

    # -- time ---------------------------------------------------------------

    def _done_display(self, at):
        how = self.broken.get("display")
        if how == "stuck":
            return
        shown = 0 if how == "dark" else self.driven & 13 if how == "segment" else self.driven
        if 0 < shown <= _HIGHEST and shown != self.display:
            self.figures = (self.figures + [shown])[-_FIGURES:]
        self.display = shown

    # -- what the device sees -------------------------------------------------

    def levels(self):
        levels = super().levels()
        levels.update({"display_%d" % (1 << bit): self.display >> bit & 1 for bit in range(4)})
        levels["service_door"] = self.doors["service"]
        levels["housing"] = self.doors["housing"]
        return levels

    # -- what the device does -------------------------------------------------

    # The display's level is the figure that it is to show, 0 for none.
    def motor(self, name, level):
        self.driven = level
        self.due["display"] = self.time + _DISPLAY_MS
        self.changed = True

    # -- what a person does, by name of the link's operation -------------------

    def _op_break(self, request):
        super()._op_break(request)
        self._done_display(self.time)

    def _op_mend(self, request):
        super()._op_mend(request)
        self._done_display(self.time)

    def truth(self):
        return {"display": self.display, "figures": self.figures}

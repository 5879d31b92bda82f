# The plant as the sensors see it, and what of it survives a power cut: paper
# stays where it is. The supervisor keeps that for a virtual board.
import json

from hal.clock import Clock
from hal.wiring import inputs
from micropython import const

_LOOK_MS = const(20)


class World:
    # outputs: parts of the board that are driven beside the plant's.
    def __init__(self, plant, boot, outputs):
        self.plant = plant
        self.control = boot.control
        self.changed = True
        self.seen = None
        self.take_reading = plant.take_reading
        self.outputs = outputs
        # The sensors that the board's file takes off the plant: pins stand in their place.
        self.inputs = inputs(boot.board, boot.board.FROM_PINS, outputs)
        self.fault = self.entropy = self.clock = None
        world = self._kept(boot.port)
        if world:
            plant.restore(world)

    # What is told at every start: a store fault for it ("fault N HOW"), what feeds the entropy source ("entropy HOW
    # SEED"), a clock that stands ("clock MS SECOND", "clock MS unknown"), the world as the last run left it. A
    # supervisor tells unasked; around a board on its own there may be nobody to ask, and the world is new.
    def _kept(self, port):
        patience = self.control.asks
        if patience:
            self.control.write("world?")
        clock = Clock(port.ticks)
        until = None if patience is None else clock.now() + patience
        while until is None or clock.now() < until:
            port.wait((self.control,), _LOOK_MS)
            for line in self.control.read():
                if line.startswith("fault "):
                    self.fault = line.split(" ")[1:]
                if line.startswith("entropy "):
                    self.entropy = line.split(" ", 2)[1:]
                if line.startswith("clock "):
                    self.clock = line.split(" ")[1:]
                if line.startswith("world"):
                    return json.loads(line[6:] or "null")

    def levels(self):
        self.seen = self.plant.levels()
        levels = self.seen.copy()
        levels.update(self.inputs.levels())
        return levels

    def next(self):
        times = (self.plant.next(), self.inputs.next())
        return min([t for t in times if t is not None], default=None)

    # Paper on its way between two sensors is no news, to the device or to the supervisor.
    def step(self, now):
        self.plant.step(now)
        self.changed = self.inputs.step(now) or self.changed
        if self.plant.changed:
            self.plant.changed = False
            if self.plant.levels() != self.seen or self.plant.reading is not None:
                self.changed = True
                self.save()

    def motor(self, name, direction):
        self.plant.motor(name, direction)
        self.outputs.set(name + "_motor", direction)
        self.changed = True

    def light_emitters(self, on):
        self.plant.light_emitters(on)
        self.outputs.set("emitters", on)
        self.changed = True

    # Before the device reacts: a cut finds the paper where it really was.
    def save(self):
        self.control.write("world " + json.dumps(self.plant.world()))

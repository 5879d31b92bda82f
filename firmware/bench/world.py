# The plant as the sensors see it, and what of it survives a power cut: paper
# stays where it is. The supervisor keeps that for a virtual board.
import json


class World:
    def __init__(self, plant, boot):
        self.plant = plant
        self.control = boot.control
        self.changed = True
        self.seen = None
        self.levels = plant.levels
        self.take_reading = plant.take_reading
        self.next = plant.next
        self.fault = None
        world = self._kept()
        if world:
            plant.restore(world)

    # The supervisor's first lines: a store fault for this start ("fault N HOW"), the world as the last run left it.
    def _kept(self):
        while True:
            for line in self.control.read():
                if line.startswith("fault "):
                    self.fault = line.split(" ")[1:]
                if line.startswith("world"):
                    return json.loads(line[6:] or "null")

    # Paper on its way between two sensors is no news, to the device or to the supervisor.
    def step(self, now):
        self.plant.step(now)
        if self.plant.changed:
            self.plant.changed = False
            levels = self.plant.levels()
            if levels != self.seen or self.plant.reading is not None:
                self.seen = levels
                self.changed = True
                self.save()

    def motor(self, name, direction):
        self.plant.motor(name, direction)
        self.changed = True

    def light_emitters(self, on):
        self.plant.light_emitters(on)
        self.changed = True

    # Before the device reacts: a cut finds the paper where it really was.
    def save(self):
        self.control.write("world " + json.dumps(self.plant.world()))

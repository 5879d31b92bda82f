# Sensors and motors: on the board's pins where it has them, else on control lines. "pin NAME LEVEL" and
# "adc NAME VALUE…" come in (pin ready 1: the reader has measured an item), "out NAME LEVEL" goes out.
from hal.light import settle


class PinSensors:
    # device: its module, which names what is PULLED_UP and what a reading holds that was UNMEASURED.
    def __init__(self, boot, inputs, outputs, device):
        self.changed = True
        self._inputs = inputs
        self._parts = outputs
        self._control = boot.control
        self._lines = []
        self._unmeasured = device.UNMEASURED
        self._levels = dict.fromkeys(device.PULLED_UP, 1)
        self._values = {}
        self._reading = None
        self._outputs = {}
        settle(self, boot.port)

    # No pin moves twice in a step: the device sees every edge, however late it looks.
    def step(self, now):
        self.changed = self._inputs.step(now) or self.changed
        self._lines += self._control.read()
        moved = []
        while self._lines:
            words = self._lines[0].split()
            if words[:1] == ["pin"] and words[1:2] in moved:
                return
            moved.append(words[1:2])
            self._take(words)
            self._lines.pop(0)

    # A line that makes no sense is noise on a cable: it moves nothing.
    def _take(self, words):
        if len(words) < 3:
            return
        if words[:2] == ["adc", "barcode"]:
            self._values["barcode"] = words[2]  # digits: leading zeros count
            return
        try:
            values = [int(word) for word in words[2:]]
        except ValueError:
            return
        if words[0] == "adc":
            self._values[words[1]] = values[0] if len(values) == 1 else values
        elif words[0] == "pin":
            self._set(words[1], 1 if values[0] else 0)

    def _set(self, name, level):
        if name != "ready":
            self._levels[name] = level
        elif level:
            self._reading = dict(self._unmeasured)
            self._reading.update(self._values)
            self._values = {}  # nothing of it is a part of the next
        self.changed = True

    # Name to 0 or 1; a pin that was never driven and isn't pulled up is absent. A wired sensor is its pin, whatever a
    # line says of it.
    def levels(self):
        levels = self._levels.copy()
        levels.update(self._inputs.levels())
        return levels

    # What the reader measured since the last call, else None.
    def take_reading(self):
        reading, self._reading = self._reading, None
        return reading

    # Lines wake the wait for the ports; an edge that waits is due at once.
    def next(self):
        return 0 if self._lines else self._inputs.next()

    def motor(self, name, direction):
        self._drive(name + "_motor", direction)

    def light_emitters(self, on):
        self._drive("emitters", on)

    def _drive(self, name, level):
        if self._outputs.get(name) != level:
            self._outputs[name] = level
            self._parts.set(name, level)
            self._control.write("out %s %d" % (name, level))

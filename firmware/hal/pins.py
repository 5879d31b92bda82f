# Sensors and parts on GPIO.
import utime
from hal.wiring import Unwired
from micropython import const
from umachine import Pin

# A pin doesn't wake the wait for the ports: it is looked at.
_LOOK_MS = const(5)
_LIGHT_MS = const(30)
_LIGHTS = ("red", "amber", "green")
_PULL = {"up": Pin.PULL_UP, "down": Pin.PULL_DOWN, "none": None}


# Before a sensor is looked at for the first time.
def lit(parts):
    parts.set("emitters", 1)
    utime.sleep_ms(_LIGHT_MS)


# One level that counts once it stood for `hold` milliseconds; the first counts at once.
class Debounced:
    def __init__(self, pin, active):
        self._pin = pin
        self._active = active
        self.level = self._raw = self._read()
        self._since = 0

    def _read(self):
        return 1 if self._pin.value() == self._active else 0

    # True when the level has changed.
    def step(self, now, hold):
        raw = self._read()
        if raw != self._raw:
            self._raw = raw
            self._since = now
        if raw == self.level or now - self._since < hold:
            return False
        self.level = raw
        return True


# Levels by sensor. table: name → pin, pull, level when active.
class Inputs:
    def __init__(self, table, hold):
        self._hold = hold
        self._time = 0
        self._inputs = {name: Debounced(Pin(row[0], Pin.IN, _PULL[row[1]]), row[2]) for name, row in table.items()}

    def step(self, now):
        self._time = now
        changed = False
        for sensor in self._inputs.values():
            changed = sensor.step(now, self._hold) or changed
        return changed

    def levels(self):
        return {name: sensor.level for name, sensor in self._inputs.items()}

    # When to look again.
    def next(self):
        return self._time + _LOOK_MS


# What the device drives. table: name → its pin, and for a motor that turns both ways the pin of the other one.
class Outputs(Unwired):
    def __init__(self, table):
        self.light = None
        self._outputs = {name: [Pin(pin, Pin.OUT, value=0) for pin in pins] for name, pins in table.items()}

    # level: 1, 0, or -1 for a motor that turns back. A part that isn't wired is passed over.
    def set(self, name, level):
        for pin, on in zip(self._outputs.get(name, ()), (level > 0, level < 0)):
            pin.value(1 if on else 0)

    # The tower light on pins; a board that lacks one of its colours shows nothing in its place.
    def show(self, light, message):
        if light != self.light:
            for name in _LIGHTS:
                self.set("light_" + name, 1 if name == light else 0)
        super().show(light, message)

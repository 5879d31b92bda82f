# Before a device looks for the first time its emitters are lit: in the dark each optical sensor reads as if something
# lay there.
from hal.clock import Clock
from micropython import const

# Light has reached every sensor once nothing has moved for so long, longer than a pin is debounced.
_QUIET_MS = const(30)
_PATIENCE_MS = const(500)
_LOOK_MS = const(5)


def settle(sensors, port):
    sensors.light_emitters(1)
    clock = Clock(port.ticks)
    began = still_since = now = clock.now()
    while now - still_since < _QUIET_MS and now - began < _PATIENCE_MS:
        port.wait((), _LOOK_MS)
        now = clock.now()
        sensors.changed = False
        sensors.step(now)
        if sensors.changed:
            still_since = now
    sensors.changed = True

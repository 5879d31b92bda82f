# What a card shuffler tests of itself.
from device.drawn import DrawnTest
from micropython import const

_EMITTERS_MS = const(200)
_RACK_MS = const(2000)


class ShufflerTest(DrawnTest):
    names = "memory signature generator sensors camera rack"

    # Emitters off: each working light barrier must read dark.
    def _sensors(self, device, now, effects):
        if self.phase == 0:
            effects.append(("emitters", 0))
            self._next_phase(now, _EMITTERS_MS)
            return None
        dead = [name for name in ("gate", "exit") if not device.levels.get(name)]
        if dead and now < self.until:
            return None
        effects.append(("emitters", 1))
        return (not dead, " ".join(dead))

    def _camera(self, device, now, effects):
        return (device.levels.get("camera") == 1, "reference patch")

    # One slot further and back: the rack leaves its place, and is there again.
    def _rack(self, device, now, effects):
        if self.phase == 0:
            effects.append(("motor", "rack", 2))
            self._next_phase(now, _RACK_MS)
        elif self.phase == 1 and not device.levels.get("aligned"):
            effects.append(("motor", "rack", 1))
            self.phase = 2
        elif self.phase == 2 and device.levels.get("aligned"):
            return (True, "")
        elif now >= self.until:
            return (False, "not aligned in time")
        return None

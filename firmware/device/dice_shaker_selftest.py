# What a dice shaker tests of itself. Nothing is turned: a result that is shown lies under the lid.
from device.selftest import SelfTest
from micropython import const

_EMITTERS_MS = const(200)


class DiceShakerTest(SelfTest):
    names = "memory signature sensors readers drive"

    # Emitters off: what sees the dice at rest must see nothing.
    def _sensors(self, device, now, effects):
        if self.phase == 0:
            effects.append(("emitters", 0))
            self._next_phase(now, _EMITTERS_MS)
            return None
        dark = not device.levels.get("still")
        if not dark and now < self.until:
            return None
        effects.append(("emitters", 1))
        return (dark, "" if dark else "still")

    # Each looks at a patch beside the dice.
    def _readers(self, device, now, effects):
        blind = [name for name in ("reader_above", "reader_below") if device.levels.get(name) != 1]
        return (not blind, " ".join(blind))

    def _drive(self, device, now, effects):
        return (device.levels.get("drive") == 1, "motor driver")

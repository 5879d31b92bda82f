# What a selector tests of itself.
from device.drawn import DrawnTest
from micropython import const

_DISPLAY_MS = const(300)
# Every line of the display: no figure that somebody could deal by.
_LAMP_TEST = const(15)


class SelectorTest(DrawnTest):
    names = "memory signature generator display"

    # All lit, then all dark, as its read-back has it.
    def _display(self, device, now, effects):
        if self.phase == 0:
            self._drive(_LAMP_TEST, now, effects)
        elif self.phase == 1 and device.read_back() == _LAMP_TEST:
            self._drive(0, now, effects)
        elif self.phase == 2 and device.read_back() == 0:
            return (True, "")
        elif now >= self.until:
            return (False, "read-back")
        return None

    def _drive(self, value, now, effects):
        effects.append(("motor", "display", value))
        self._next_phase(now, _DISPLAY_MS)

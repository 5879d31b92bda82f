# What a bill acceptor tests of itself.
from device.selftest import SelfTest
from micropython import const

_EMITTERS_MS = const(200)
_JOG_MS = const(200)
_PUSHER_MS = const(1000)
_OPTICAL = ("entry", "centre", "exit", "lever", "chute")
# A customer may hold an item at the entry, and a cut may leave one in the chute.
_MUST_BE_CLEAR = ("centre", "exit", "lever")

# ID-003 failure code that answers for a failed step.
CODES = {"memory": 0xB2, "signature": 0xB0, "stack_motor": 0xA2, "transport_motor": 0xA6}
_CODE_OF_A_SENSOR = const(0xA8)


class AcceptorTest(SelfTest):
    names = "memory signature sensors scanner transport_motor stack_motor"

    def failure_code(self):
        return CODES.get(self.failed_step(), _CODE_OF_A_SENSOR)

    # Emitters off: each working sensor must read dark. On again with a clear
    # path: each must read light.
    def _sensors(self, device, now, effects):
        if self.phase == 0:
            effects.append(("emitters", 0))
            self._next_phase(now, _EMITTERS_MS)
        elif self.phase == 1:
            self.dead = [name for name in _OPTICAL if not device.levels.get(name)]
            if not self.dead or now >= self.until:
                effects.append(("emitters", 1))
                self._next_phase(now, _EMITTERS_MS)
        else:
            stuck = [] if device.expects_item else [n for n in _MUST_BE_CLEAR if device.levels.get(n)]
            if not stuck or now >= self.until:
                blind = self.dead + stuck
                return (not blind, " ".join(blind))
        return None

    def _scanner(self, device, now, effects):
        return (device.levels.get("scanner") == 1, "reference patch")

    def _transport_motor(self, device, now, effects):
        if self.phase == 0:
            effects.append(("motor", "transport", -1))
            self._next_phase(now, _JOG_MS)
        elif device.levels.get("moving"):
            effects.append(("motor", "transport", 0))
            return (True, "")
        elif now >= self.until:
            effects.append(("motor", "transport", 0))
            return (False, "no pulses from the encoder")
        return None

    # A whole push: home is left and reached again, and the chute is empty.
    def _stack_motor(self, device, now, effects):
        if self.phase == 0:
            effects.append(("motor", "stack", 1))
            self._next_phase(now, _PUSHER_MS)
        elif self.phase == 1 and not device.levels.get("home"):
            self.phase = 2
        elif self.phase == 2 and device.levels.get("home"):
            effects.append(("motor", "stack", 0))
            pushed = not (device.levels.get("chute") and device.levels.get("box"))
            return (pushed, "" if pushed else "chute not cleared")
        elif now >= self.until:
            effects.append(("motor", "stack", 0))
            return (False, "pusher not home in time")
        return None

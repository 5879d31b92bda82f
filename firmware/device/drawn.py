# What every device has whose outcomes the generator draws: a seed that serves once, cycling between games, and a
# self-test of the generator.
from binascii import hexlify, unhexlify

from device.drbg import known_answer
from device.generator import DeadSource
from device.selftest import SelfTest
from micropython import const

_CYCLE_MS = const(1000)


# A device names its states between games: `resting`.
class Drawn:
    def begin_drawing(self, generator):
        self.generator = generator
        self.cycle = None

    # Seeded anew at each self-test: saved state, fresh entropy, unique id.
    def seed(self, now):
        try:
            self.record["seed"] = hexlify(self.generator.restore(unhexlify(self.record["seed"]))).decode()
            self._commit()
        except DeadSource as e:
            self._raise("entropy_failed", e.args[0], now)

    # Stored with the outcome: no other start draws it again.
    def keep_state(self):
        self.record["seed"] = hexlify(self.generator.state()).decode()

    # 13:69E-1.28G(b)4: from the step on that ends in one of these states.
    def _cycle(self, now):
        if self.state not in self.resting:
            self.cycle = None
        elif self.cycle is None or now >= self.cycle:
            self.generator.background()
            self.cycle = now + _CYCLE_MS


class DrawnTest(SelfTest):
    # SP 800-90A 11.3: the generator's known answer, and a living source behind it.
    def _generator(self, device, now, effects):
        if not known_answer():
            return (False, "known answer")
        device.seed(now)
        return (device.generator.entropy.healthy, device.generator.entropy.name)

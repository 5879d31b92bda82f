# What the wires of an acceptor add to a stream: the device hears of its host's frames, and of its silence.
from micropython import const
from wire.stream import Stream

_SILENT_MS = const(5000)  # T of a communication error


class Polled(Stream):
    # step(event): gives the device an event and carries out what follows.
    def __init__(self, port, serial, step, now):
        super().__init__(port, serial)
        self.step = step
        self._listen(now)

    def next(self):
        return self.silent_at

    # Silence begins anew.
    def _listen(self, now):
        self.silent_at = now + _SILENT_MS

    # A good frame, whether or not the device can be stepped.
    def _count(self, now):
        self.frames += 1
        self._listen(now)

    def _heard(self, now):
        self._count(now)
        self.step(("heard",))

    # Once in T.
    def _is_silent(self, now):
        if now < self.silent_at:
            return False
        self._listen(now)
        return True

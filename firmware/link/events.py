# What happened, in RAM: a ring of 64, pulled. The event log is another thing.
# All room is taken at the start, so that a busy device's heap doesn't shrink.
from array import array

from micropython import const

_SIZE = const(64)


class Events:
    def __init__(self):
        self.number = 0
        self.times = array("Q", bytes(8 * _SIZE))
        self.what = [""] * _SIZE
        self.detail = [""] * _SIZE

    def add(self, now, what, detail):
        slot = self.number % _SIZE
        self.number += 1
        self.times[slot] = now
        self.what[slot] = what
        self.detail[slot] = detail

    # Events after that number, oldest first: (number, time, what, detail).
    def after(self, number):
        for n in range(max(number, self.number - _SIZE), self.number):
            slot = n % _SIZE
            yield n + 1, self.times[slot], self.what[slot], self.detail[slot]

    # Whether some of those after that number were overwritten.
    def gap(self, number):
        return number < self.number - _SIZE

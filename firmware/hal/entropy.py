# The entropy source and its health tests (SP 800-90B, 4.4), at a false alarm rate of 2^-20.
import uos
from micropython import const

# Repetition count for bytes that claim 8 bits, adaptive proportion for bits that claim 1.
_REPEATS = const(4)
_WINDOW = const(1024)
_PROPORTION = const(589)


# 4.4.1: the alarm comes at `cutoff` equal samples in a row.
class RepetitionCount:
    def __init__(self, cutoff):
        self._cutoff = cutoff
        self._last = None
        self._count = 0

    def feed(self, sample):
        self._count = self._count + 1 if sample == self._last else 1
        self._last = sample
        return self._count < self._cutoff


# 4.4.2: the alarm comes when the first sample of a window is seen `cutoff` times in it.
class AdaptiveProportion:
    def __init__(self, cutoff, window=_WINDOW):
        self._cutoff = cutoff
        self._window = window
        self._first = None
        self._count = 0
        self._left = 0

    def feed(self, sample):
        if self._left == 0:
            self._first, self._count, self._left = sample, 0, self._window
        self._left -= 1
        if sample == self._first:
            self._count += 1
        return self._count < self._cutoff


# `name` goes into the identity; `healthy` never comes back by itself.
class Entropy:
    def __init__(self, name="os.urandom", source=uos.urandom):
        self.name = name
        self.healthy = True
        self._source = source
        self._repeats = RepetitionCount(_REPEATS)
        self._proportion = AdaptiveProportion(_PROPORTION)

    def read(self, n):
        data = self._source(n)
        for b in data:
            self._feed(b)
        return data

    def _feed(self, b):
        ok = self._repeats.feed(b)
        for _ in range(8):
            ok = self._proportion.feed(b & 1) and ok
            b >>= 1
        self.healthy = self.healthy and ok

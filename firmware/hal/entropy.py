# The entropy source and its health tests (SP 800-90B, 4.3 and 4.4), at a false alarm rate of 2^-40:
# at 2^-20 a sound source would stop one start in 14,600.
import uos
from micropython import const

# Repetition count for bytes that claim 8 bits, adaptive proportion for bits that claim 1.
_REPEATS = const(6)
_WINDOW = const(1024)
_PROPORTION = const(625)
_START = const(1024)
_PIECE = const(64)
_ONES = b"\0\1\1\2\1\2\2\3\1\2\2\3\2\3\3\4"  # in four bits


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


# 4.4.2, for bits: the alarm comes when the first bit of a window is seen `cutoff` times in it. Lowest bit of a byte
# first; a window is whole bytes, so that to count by the byte finds the same as to count bit by bit.
class AdaptiveProportion:
    def __init__(self, cutoff):
        self._cutoff = cutoff
        self._first = None
        self._count = 0
        self._left = 0

    def feed(self, b):
        if self._left == 0:
            self._first, self._count, self._left = b & 1, 0, _WINDOW
        self._left -= 8
        ones = _ONES[b & 15] + _ONES[b >> 4]
        self._count += ones if self._first else 8 - ones
        return self._count < self._cutoff


# `name` goes into the identity. `healthy` never comes back by itself; what is read without it is for nothing.
class Entropy:
    def __init__(self, name="os.urandom", source=uos.urandom):
        self.name = name
        self.healthy = True
        self.source = source
        self._untested = _START
        self._repeats = RepetitionCount(_REPEATS)
        self._proportion = AdaptiveProportion(_PROPORTION)

    # 4.3: before the first use, as many samples as this pass the tests, and nobody gets them.
    def start(self):
        while self._untested > 0:
            self._sample(_PIECE)
            self._untested -= _PIECE

    def read(self, n):
        self.start()
        return self._sample(n)

    # A source that fails, or gives less than was asked for, is none.
    def _sample(self, n):
        try:
            data = self.source(n)
        except OSError:
            data = b""
        ok = len(data) == n
        for b in data:
            ok = self._repeats.feed(b) and ok
            ok = self._proportion.feed(b) and ok
        self.healthy = self.healthy and ok
        return data

# Device time in milliseconds, never wrapping; calendar time in seconds since 1970, or unknown.
from micropython import const

_WRAP = const(0x3FFFFFFF)


class Clock:
    # `ticks` wraps at 2^30: now() must be called at least once in that time (12.4 days).
    def __init__(self, ticks, seconds=None):
        self._ticks = ticks
        self._seconds = seconds
        self._last = ticks()
        self._now = self._last
        self._set = None

    def now(self):
        ticks = self._ticks()
        self._now += (ticks - self._last) & _WRAP
        self._last = ticks
        return self._now

    # The bench lets time pass; ports and link keep real time.
    def advance(self, ms):
        self._now += ms

    def calendar(self):
        if self._set:
            at, second = self._set
            return None if second is None else second + (self.now() - at) // 1000
        return self._seconds and self._seconds()

    # None makes the calendar unknown, as on a board that has no battery.
    def set_calendar(self, second):
        self._set = (self.now(), second)

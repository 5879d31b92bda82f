# How long the dice have been on the table: 24 hours at most, 13:69E-1.16(l). While there is power `now` counts, over a
# cut the calendar; a time that nobody knows may have been any, and counts as a day.
from micropython import const

DAY_MS = const(86400000)
_SAVE_MS = const(900000)
_WATCH_MS = const(10000)
_APART_S = const(2)


class DiceAge:
    # kept: [ms, calendar] as of the last save; it lives in the record.
    def __init__(self, kept, calendar):
        self.kept = kept
        self.calendar = calendar
        self._since = self._saved = None
        self._set = None  # the calendar against `now`, as of then

    def begin(self, now):
        self._since = now
        self._hold(0, now)

    def restore(self, now):
        ms, then = self.kept
        today = self.calendar()
        if then is None or today is None or today < then:
            ms = DAY_MS
        else:
            ms = min(DAY_MS, ms + 1000 * (today - then))
        self._since = now - ms
        self._hold(ms, now)

    def end(self):
        self._since = None

    def _hold(self, ms, now):
        today = self.calendar()
        self.kept[0], self.kept[1] = ms, today
        self._saved = now
        self._set = _against(today, now)

    def ms(self, now):
        return 0 if self._since is None else now - self._since

    def expired(self, now):
        return self._since is not None and now - self._since >= DAY_MS

    # Whether it is time to store it: a quarter of an hour went by, or somebody set the clock.
    def due(self, now):
        if self._since is None:
            return False
        if now - self._saved < _SAVE_MS and not self.clock_set(now):
            return False
        self._hold(self.ms(now), now)
        return True

    def clock_set(self, now):
        against = _against(self.calendar(), now)
        if against is None or self._set is None:
            return against is not self._set
        return abs(against - self._set) > _APART_S

    def next(self, now):
        if self._since is None:
            return None
        return min(now + _WATCH_MS, max(now, self._since + DAY_MS))


# The second of a calendar less those of `now`.
def _against(today, now):
    return None if today is None else today - now // 1000

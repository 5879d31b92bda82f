"""Device time never wraps; the calendar may be unknown."""

from hal.clock import Clock

WRAP = 1 << 30


class Ticks:
    def __init__(self, start: int) -> None:
        self.ticks = start

    def __call__(self) -> int:
        return self.ticks % WRAP


def test_time_goes_on_past_the_wrap():
    ticks = Ticks(WRAP - 20)
    clock = Clock(ticks)
    assert clock.now() == WRAP - 20
    ticks.ticks += 50
    assert clock.now() == WRAP + 30
    ticks.ticks += WRAP - 1
    assert clock.now() == 2 * WRAP + 29


def test_time_advanced_by_the_bench_adds_to_real_time():
    ticks = Ticks(1000)
    clock = Clock(ticks)
    clock.advance(5000)
    ticks.ticks += 10
    assert clock.now() == 6010


def test_the_calendar_is_the_boards_unless_the_bench_sets_it():
    ticks = Ticks(0)
    assert Clock(ticks).calendar() is None
    clock = Clock(ticks, lambda: 1_700_000_000)
    assert clock.calendar() == 1_700_000_000
    clock.set_calendar(5)
    clock.advance(2000)
    assert clock.calendar() == 7
    clock.set_calendar(None)
    assert clock.calendar() is None

"""13:69E-1.16(l): no dice stay on a table for more than 24 hours, whatever becomes of power and clock."""

from __future__ import annotations

import pytest
from pitbench_hil.acts import NOON, START_AT_MS
from pitbench_hil.attended_bench import TECHNICIAN
from pitbench_hil.check import Check
from pitbench_hil.dice_shaker import DAY_MS, DiceBench
from pitbench_hil.marks import rule

DAY = "NJ-1.16(l)/day"
HOUR_S, DAY_S = 3600, 86_400
MINUTE_MS = 60_000
# Time that a fill and its look take, and a device looks at its clocks.
SLACK_S = 20


def age_s(bench: DiceBench) -> int:
    """How old the dice are by the device's own count, in seconds."""
    return DAY_S - int(bench.do("dice")["left"])


def expired(bench: DiceBench) -> bool:
    return "dice_expired" in bench.status()["standing"]


def late(check: Check, ms: int) -> None:
    """How much later than a day it was locked, by the device's own clock."""
    check.measure("locked_late", ms, uncertainty=0.0)


def locked_out(bench: DiceBench, check: Check) -> None:
    """Nothing brings a result any more, until the dice were taken out and others filled in."""
    before = len(bench.results())
    locked = check.expect("locked, and says why", expired(bench), True)
    for _ in range(2):
        bench.press("shake")
        bench.advance(3000)
        bench.clear()
    locked &= check.expect("with the key turned, too", expired(bench), True)
    if not check.measure("results_after", len(bench.results()) - before) or not locked:
        return
    check.expect("filled anew", bench.exchange()["state"], "idle")
    check.expect("the age of new dice", age_s(bench) < SLACK_S, True)


def locked_by_now(bench: DiceBench, check: Check) -> None:
    """It is locked since this start, and stays so."""
    late(check, 0 if expired(bench) else DAY_MS)
    locked_out(bench, check)


def off_until(bench: DiceBench, second: int | None) -> None:
    """Power off; on again at that second of the calendar, unknown if None."""
    bench.cut()
    bench.board.rig.clock_at_start(START_AT_MS, second)
    bench.power_on()
    bench.advance(2000)


@rule(f"{DAY}/powered")
def test_with_power_all_the_time(still: DiceBench, check: Check) -> None:
    still.ready()
    filled = still.status()["now"]
    check.stimulus("a day but a minute goes by; in its middle it is inspected, and an error is cleared")
    still.advance(DAY_MS // 2)
    still.inspect()
    still.do("lock", locked=False)
    still.do("lock", locked=True)
    still.clear()
    still.advance(filled + DAY_MS - MINUTE_MS - still.status()["now"])
    check.expect("plays", still.shake("354")["faces"], [3, 5, 4])
    still.next()
    check.stimulus("the last minute goes by")
    while "dice_expired" not in (status := still.status())["standing"] and status["now"] < filled + DAY_MS + MINUTE_MS:
        still.advance(500)
    late(check, max(0, status["now"] - filled - DAY_MS - 500))
    locked_out(still, check)


@rule(f"{DAY}/in-a-shake")
def test_in_a_shake(still: DiceBench, check: Check) -> None:
    still.ready()
    still.lie("354")
    filled = next(row[1] for row in still.events() if row[2] == "filled")
    still.advance(filled + DAY_MS - 1000 - still.status()["now"])
    check.stimulus("shaken a second before the day ends")
    still.press("shake")
    still.advance(4000)
    found = [row[1] for row in still.events() if row[2] == "dice_expired"]
    late(check, found[0] - filled - DAY_MS if found else DAY_MS)
    check.expect("nothing shown", still.status()["faces"], None)
    locked_out(still, check)


@rule(f"{DAY}/restarts")
def test_restarts(still: DiceBench, check: Check) -> None:
    still.ready()
    played = 0
    for hour in range(1, 24):
        off_until(still, NOON + hour * HOUR_S)
        played += not expired(still)
    check.stimulus("24 starts, an hour apart")
    check.expect("starts at which it played", played, 23)
    off_until(still, NOON + DAY_S + SLACK_S)
    locked_by_now(still, check)


@rule(f"{DAY}/restarts")
def test_restarts_after_a_memory_clear(still: DiceBench, check: Check) -> None:
    still.staffed()
    still.do("meters")
    still.prove("clear_memory", TECHNICIAN, "clear_memory")
    still.inspect()
    still.place("fff")
    still.fill()
    check.stimulus("memory cleared, filled, an hour with power, an hour without")
    still.advance(HOUR_S * 1000)
    off_until(still, NOON + 2 * HOUR_S)
    check.expect("age", 2 * HOUR_S - SLACK_S <= age_s(still) <= 2 * HOUR_S + SLACK_S, True)
    off_until(still, NOON + DAY_S + SLACK_S)
    locked_by_now(still, check)


@rule(f"{DAY}/without-power")
def test_without_power(still: DiceBench, check: Check) -> None:
    still.ready()
    still.advance(HOUR_S * 1000)
    off_until(still, NOON + 23 * HOUR_S)
    check.stimulus("22 hours without power")
    check.expect("plays", still.shake("354")["faces"], [3, 5, 4])
    still.next()
    check.expect("as old as the calendar says", 23 * HOUR_S - SLACK_S <= age_s(still) <= 23 * HOUR_S + 900, True)
    off_until(still, NOON + 24 * HOUR_S + SLACK_S)
    locked_by_now(still, check)


@rule(f"{DAY}/clock-set-back")
def test_clock_set_back(still: DiceBench, check: Check) -> None:
    still.ready()
    still.advance(10 * HOUR_S * 1000)
    before = age_s(still)
    check.stimulus("the clock set back by five hours")
    still.do("calendar", set=NOON + 5 * HOUR_S)
    still.advance(15_000)
    check.expect("age after it", age_s(still) >= before, True)
    check.stimulus("power cut, on again an hour later by the clock that was set back")
    off_until(still, NOON + 6 * HOUR_S)
    check.expect("age after the cut", before + HOUR_S - 60 <= age_s(still) <= before + HOUR_S + 60, True)
    half_an_hour_back(still, check)
    check.stimulus("power cut, on again before the time of the cut")
    off_until(still, NOON)
    locked_by_now(still, check)


def half_an_hour_back(bench: DiceBench, check: Check) -> None:
    """Set back by less than it is off: what was stored before must not be what it goes by."""
    before, today = age_s(bench), bench.status()["calendar"]
    check.stimulus("the clock set back by half an hour, power cut, on again an hour later")
    bench.do("calendar", set=today - HOUR_S // 2)
    bench.advance(15_000)
    off_until(bench, today + HOUR_S // 2)
    check.expect("age after it", age_s(bench) >= before + HOUR_S - 60, True)


@rule(f"{DAY}/clock-set-back")
@pytest.mark.parametrize("minutes", [1, 50])
def test_clock_set_back_without_power(still: DiceBench, check: Check, minutes: int) -> None:
    still.ready()
    check.stimulus("power cut, on again with the clock some minutes before the filling", minutes=minutes)
    off_until(still, NOON - 60 * minutes)
    locked_by_now(still, check)


@rule(f"{DAY}/clock-set-on")
def test_clock_set_on(still: DiceBench, check: Check) -> None:
    still.ready()
    still.advance(HOUR_S * 1000)
    check.stimulus("the clock set on by thirty hours, and back by thirty")
    for second in (NOON + 31 * HOUR_S, NOON + HOUR_S):
        still.do("calendar", set=second)
        still.advance(15_000)
        check.expect("age by its own count", HOUR_S <= age_s(still) <= HOUR_S + 60, True)
        check.expect("with power it is that count which decides", expired(still), False)
    off_until(still, NOON + 25 * HOUR_S)
    locked_by_now(still, check)


@rule(f"{DAY}/time-unknown")
def test_time_unknown(still: DiceBench, check: Check) -> None:
    still.ready()
    check.stimulus("power cut, and no calendar at the next start")
    off_until(still, None)
    locked_by_now(still, check)


@rule(f"{DAY}/time-unknown")
def test_time_that_was_never_known(still: DiceBench, check: Check) -> None:
    still.board.rig.clock_at_start(START_AT_MS, None)
    still.board.start_over()
    still.ready()
    check.stimulus("filled with the calendar unknown; power cut, known at the next start")
    check.expect("plays", still.shake("354")["faces"], [3, 5, 4])
    off_until(still, NOON)
    locked_by_now(still, check)

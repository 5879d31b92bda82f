"""13:69E-1.28P(i), (j): the last ten rounds recalled; what was shown is shown again after a cut, and nothing twice."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from pitbench_hil.acts import NOON, START_AT_MS, restart
from pitbench_hil.check import Check
from pitbench_hil.dice_moves import MOMENTS, OPENINGS, to_moment
from pitbench_hil.dice_shaker import DiceBench
from pitbench_hil.marks import rule
from pitbench_hil.power_watch import until_power_goes
from pitbench_hil.run import Run

TEN = 10
CUTS = ("before", "torn_prefix", "torn_zeros", "torn_ff", "after")
LATER_MS = 4000
# Ends and beginnings of months and years, leap years among them.
DATES = (
    "2000-02-29 23:58",
    "2027-01-01 00:00",
    "2027-01-31 23:58",
    "2027-02-01 00:00",
    "2027-02-28 23:58",
    "2027-03-01 00:00",
    "2028-02-29 00:00",
    "2028-03-01 00:00",
    "2028-12-31 23:58",
    "2100-03-01 00:00",
)


def recalled(bench: DiceBench) -> list[str]:
    """What the display says of the last rounds, from the last one back."""
    said = []
    for _ in range(TEN):
        bench.press("recall")
        said.append(bench.status()["message"])
    bench.press("recall")
    return said


def in_words(row: list[Any]) -> str:
    """A round as the display has it."""
    when = datetime.fromtimestamp(row[1], timezone.utc).strftime("%Y-%m-%d %H:%M") if row[1] else "time unknown"
    return f"Round {row[0]}, {when}: {row[2] or row[4]}"


@rule("NJ-1.28P(i)/ten-rounds")
@pytest.mark.parametrize("calendar", [NOON, None])
def test_the_last_ten_are_recalled(still: DiceBench, check: Check, calendar: int | None) -> None:
    still.board.rig.clock_at_start(START_AT_MS, calendar)
    still.board.start_over()
    still.ready(tries=1)
    played = []
    for number in range(1, 13):
        faces = [1 + number % 6, 1 + number // 2 % 6, 3]
        void = number in (3, 8)
        still.lie("304" if void else faces)
        still.do("press", button="shake")
        still.advance(60_000)
        played.append([number, "" if void else " ".join(map(str, faces))])
        if void:
            still.clear()
        else:
            still.next()
    check.stimulus("twelve rounds, two of them void, a minute apart", calendar=calendar)
    rows = still.rounds()
    compare(still, check, rows, played)
    times = [row[1] for row in rows]
    if calendar:
        apart = [later - earlier for earlier, later in zip(times, times[1:], strict=False)]
        check.expect("a minute apart", all(58 <= gap <= 64 for gap in apart), True)
        check.expect("date of the first recalled", 120 <= times[0] - calendar <= 190, True)
    else:
        check.expect("unknown times", set(times), {None})
    check.stimulus("power cut")
    restart(still)
    check.expect("rounds after the cut", still.rounds(), rows)
    if calendar:
        compare(still, check, rows, played)


@rule("NJ-1.28P(i)/ten-rounds")
def test_each_is_recalled_with_its_own_date(bench: DiceBench, check: Check) -> None:
    late = []
    for date in DATES:
        check.stimulus("a round on a day", date=date)
        second = int(datetime.fromisoformat(f"{date}+00:00").timestamp())
        bench.do("calendar", set=second)
        bench.shake("354")
        late.append(bench.rounds()[-1][1] - second)
        bench.next()
    compare(bench, check, bench.rounds(), [[number, "3 5 4"] for number in range(1, len(DATES) + 1)])
    check.expect("within ten seconds of the calendar set", all(0 <= seconds <= 10 for seconds in late), True)


def compare(bench: DiceBench, check: Check, rows: list[list[Any]], played: list[list[Any]]) -> None:
    check.measure("not_recalled", TEN - len(rows))
    wrong = sum(row[0:3:2] != right for row, right in zip(rows, played[-TEN:], strict=False))
    shown = recalled(bench)
    wrong += sum(said != in_words(row) for said, row in zip(shown, reversed(rows), strict=False))
    check.note("recalled", display=shown[:3])
    check.measure("wrong", wrong)


@pytest.mark.parametrize("moment", MOMENTS)
@rule("NJ-1.28P(j)/shown-again")
def test_cut_at_a_moment(bench: DiceBench, check: Check, moment: str) -> None:
    to_moment(bench, moment)
    check.stimulus("power cut", moment=moment)
    judged(bench, check, shown=moment == "shown")


def judged(bench: DiceBench, check: Check, *, shown: bool) -> None:
    """Power off and on: what is shown, and what follows. `shown`: whether a result was on the store."""
    restart(bench)
    status = bench.status()
    right = ("shown", [3, 5, 4], "Result 3 5 4") if shown else ("idle", None, "idle")
    check.measure("wrong_states", int((status["state"], status["faces"], status["message"]) != right))
    played_on(bench, check)


def played_on(bench: DiceBench, check: Check) -> None:
    """Another round: every result has a round of its own, and none is of a shake that was cut."""
    if bench.status()["state"] == "shown":
        bench.next()
    bench.do("lie", above="261")
    for _ in range(bench.truth()["coming"] - 1):
        bench.shake()
        bench.next()
    bench.shake()
    every = bench.rounds()
    rows, numbers = [row for row in every if row[2]], [row[0] for row in every]
    twice = len(numbers) - len(set(numbers)) + sum(rows.count(row) - 1 for row in rows)
    check.measure("results_twice", twice)
    void = [row for row in rows if row[2] not in ("3 5 4", "2 6 1")]
    check.measure("void_results", len(void))


@rule("NJ-1.28P(j)/shown-again")
def test_cut_again_while_it_starts(bench: DiceBench, check: Check) -> None:
    bench.shake("354")
    check.stimulus("power cut while a result is shown, and again in the self-test")
    for ms in (0, 100, 300):
        bench.power_cycle()
        bench.advance(ms)
    judged(bench, check, shown=True)


@rule("NJ-1.28P(j)/shown-again")
@pytest.mark.parametrize("op", ["lock", "latch"])
def test_after_an_error(bench: DiceBench, check: Check, op: str) -> None:
    _, wrong, right, _ = OPENINGS[op]
    bench.shake("354")
    check.stimulus("an error while a result is shown, cleared", opened=op)
    bench.do(op, **wrong)
    bench.do(op, **right)
    bench.clear()
    status = bench.status()
    check.measure("wrong_states", int((status["state"], status["faces"]) != ("shown", [3, 5, 4])))
    played_on(bench, check)


@rule("NJ-1.28P(j)/cut-at-every-write")
@pytest.mark.parametrize("how", CUTS)
def test_cut_at_every_write(still: DiceBench, check: Check, run: Run, how: str) -> None:
    writes = writes_of_a_round(still)
    check.measure("writes", writes)
    for write in run.few(list(range(1, writes + 1))):
        still.board.start_over()
        still.ready()
        still.lie("354")
        check.stimulus("power cut at a store write of a round", write=write, how=how)
        still.do("store_fault", at=write, how=how)
        with until_power_goes(still.board):
            still.press("shake")
            still.advance(LATER_MS)
        check.expect(f"power gone at write {write}", still.board.has_power, False)
        restart(still)
        shown = still.status()["faces"]
        check.expect("shown is recalled", bool(shown) == (still.results() == ["3 5 4"]), True)
        check.expect("one or none", shown in (None, [3, 5, 4]), True)
        played_on(still, check)


def writes_of_a_round(still: DiceBench) -> int:
    """Store writes of a shake and its result, with nothing cut."""
    still.ready()
    still.lie("354")
    before = still.do("store")["writes"]
    still.press("shake")
    still.advance(LATER_MS)
    return int(still.do("store")["writes"]) - before


@rule("HOUSE-dice-meters")
def test_meters_count_what_was_done(bench: DiceBench, check: Check) -> None:
    check.stimulus("two rounds with results, one of them after a void shake; one without; one cut")
    bench.shake("354")
    bench.next()
    bench.lie("304")
    bench.shake("354")
    bench.next()
    for reading in ({"above": "35", "below": "423"}, {"above": "354", "sure": 10}, {"above": "304"}):
        bench.lie(**reading)
    bench.press("shake")
    bench.advance(20_000)
    bench.clear()
    bench.press("shake")
    bench.advance(500)
    bench.power_cycle()
    right = {
        "rounds": 4, "shakes": 7, "void_leaning": 2, "void_stacked": 1, "void_unsure": 1, "void_interrupted": 1,
    }  # fmt: skip
    meters = bench.do("meters")
    check.note("meters", **meters)
    check.measure("wrong", len({name for name in meters.keys() | right.keys() if meters.get(name) != right.get(name)}))

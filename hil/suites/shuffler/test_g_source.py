"""13:69E-1.28G(b)2 and 5: without a sound source there is no shuffle, and what it gives begins nowhere twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pitbench.image import Image
from pitbench.link import LinkError
from pitbench.targets import open_target
from pitbench_hil.check import Check
from pitbench_hil.marks import needs, rule
from pitbench_hil.run import Run
from pitbench_hil.shuffler import DECK, START_MS, ShufflerBench
from pitbench_hil.shuffler_fed import again, fed_by_itself, newly_fed
from pitbench_hil.shuffler_reference import Declared, cycles_before
from pitbench_hil.statistics.health import adaptive_proportion, repetition_count
from pitbench_hil.statistics.repeats import repeats, seed_bits_found

# -- (b)2

NO_SOURCE = "NJ-1.28G(b)2/no-source-no-shuffle"
# Orders by which the alarm must have come: eight windows of 128 bytes, 32 bytes an order.
LATEST = {"stuck": 0, "slow": 0, "biased": 32}
WAYS = [pytest.param(how, marks=rule(f"{NO_SOURCE}/{how}")) for how in LATEST]


def pressed(bench: ShufflerBench, check: Check) -> None:
    """Load, press start: no card may move, and the machine has to say why."""
    shuffles, moved = started(bench)
    check.measure("shuffles", shuffles)
    check.measure("cards_moved", moved)
    status = bench.status()
    check.expect("state", status["state"], "error")
    check.expect("light", status["light"], "red")
    check.expect("the message names the generator", "random number" in status["message"].lower(), True)
    check.expect("logged", "entropy_failed" in bench.logged(), True)


def shuffles_again(bench: ShufflerBench, check: Check) -> None:
    """With a sound source, and cleared with the key."""
    bench.clear()
    bench.press("start")
    ended = bench.until("ready", "error", within=60_000, step=1000)
    check.expect("state with a sound source again", ended["state"], "ready")


@rule("HOUSE-known-answer")
def test_a_generator_that_computes_wrongly(bench: ShufflerBench, check: Check) -> None:
    passed = {name: ok for name, ok, _ in bench.do("post")["steps"]}
    check.expect("the self-test has a step of the generator", passed.get("generator"), True)
    check.stimulus("one bit wrong in each HMAC; the service door opened and closed, cleared with the key")
    bench.do("spoil")
    bench.door("service", is_open=True)
    bench.door("service", is_open=False)
    bench.clear()
    post = bench.do("post")
    check.expect("self-test passed", post["ok"], False)
    check.expect("the step that failed", post["steps"][-1][:2], ["generator", False])
    shuffles, moved = started(bench)
    check.measure("shuffles", shuffles)
    check.measure("cards_moved", moved)


def started(bench: ShufflerBench) -> tuple[int, int]:
    """Load, press start: games that began, cards that moved."""
    before, cards = bench.status()["games"], bench.truth()["hopper"]
    bench.load(DECK)
    bench.press("start")
    bench.advance(START_MS)
    return bench.status()["games"] - before, cards + len(DECK) - bench.truth()["hopper"]


@pytest.mark.parametrize("how", WAYS)
def test_source_that_fails_between_games(fresh: ShufflerBench, check: Check, how: str) -> None:
    newly_fed(fresh, "sound")
    check.stimulus("the source fails", how=how)
    fresh.do("entropy", how=how, seed="failing")
    drawn = 0
    try:
        while drawn <= LATEST[how]:
            fresh.orders(1)
            drawn += 1
    except LinkError as refused:
        check.note("the board refuses", why=str(refused))
    check.note("orders drawn before the alarm", orders=drawn)
    check.expect("the alarm came in time", drawn <= LATEST[how], True)
    pressed(fresh, check)
    # A source that failed once isn't trusted again before a restart.
    fresh.restart_with("board")
    fresh.advance(START_MS)
    shuffles_again(fresh, check)


@pytest.mark.parametrize("how", WAYS)
def test_source_that_fails_at_the_start(fresh: ShufflerBench, check: Check, how: str) -> None:
    check.stimulus("a start with a source that fails", how=how)
    fresh.start_over_with(how, "failing")
    fresh.advance(START_MS)
    check.expect("self-test passed", fresh.status()["post"]["ok"], False)
    pressed(fresh, check)
    check.stimulus("cleared with the key, the source as it is")
    fresh.clear()
    pressed(fresh, check)


# -- HOUSE

# At this rate of false alarms none comes in a life of starts.
ALARM_RATE = 2.0**-40
RUN, WINDOW = repetition_count(8, ALARM_RATE), adaptive_proportion(1, 1024, ALARM_RATE)
# Bytes of five and four bits that are alike, the lowest bit first: 128 of them, no four of one value in a row.
FIVE, FOUR, BYTES = "f1e9", "e1c9", 128


def window(alike: int, *, ones: bool) -> str:
    """1,024 bits from the lowest of the first byte on, so many of them like the first."""
    fives = alike - 4 * BYTES
    parts = [(FIVE, fives // 2), (FIVE[:2], fives % 2), (FOUR[2:], (BYTES - fives) % 2), (FOUR, (BYTES - fives) // 2)]
    turned = 0 if ones else 0xFFFF
    return ",".join(f"{_inverted(data, turned)}*{times}" for data, times in parts if times)


def _inverted(data: str, mask: int) -> str:
    return bytes(byte ^ mask & 255 for byte in bytes.fromhex(data)).hex()


# Name → what is fed first, for so many equal samples; and the cut-off.
HEALTH = {
    "equal bytes": (lambda samples: f"17a5*2,3c*{samples},a5*1", RUN),
    "ones in a window": (lambda samples: window(samples, ones=True), WINDOW),
    "zeros in a window": (lambda samples: window(samples, ones=False), WINDOW),
}


@rule("HOUSE-health-cut-offs")
@pytest.mark.parametrize("name", HEALTH)
def test_alarm_exactly_at_the_cut_off(fresh: ShufflerBench, check: Check, name: str) -> None:
    feed, cut_off = HEALTH[name]
    alarms = {}
    for samples in (cut_off - 1, cut_off):
        check.stimulus("a start", first_fed=name, equal=samples)
        fresh.start_over_with("led", feed(samples))
        fresh.advance(START_MS)
        alarms[samples] = fresh.status()["state"] == "error"
    check.note("alarm", **{str(samples): came for samples, came in alarms.items()})
    late, early = not alarms[cut_off], alarms[cut_off - 1]
    check.measure("samples_off", int(late) - int(early))


# -- (b)5

STARTS, WORDS = 100, 16
ONE_SECOND = 2_000_000_000


@rule("NJ-1.28G(b)5/cold-boots")
def test_cold_starts(fresh: ShufflerBench, check: Check) -> None:
    check.stimulus("cold starts from a new store, the calendar at one second", starts=STARTS)
    fed_by_itself(fresh)
    words, orders = [], []
    for _ in range(STARTS):
        again(fresh)
        fresh.do("calendar", set=ONE_SECOND)
        words.append(list(fresh.words(WORDS)))
        orders.append(fresh.orders(1)[0].tolist())
    check.note("without a repeat: the seed space is no smaller, 99 %", bits=round(seed_bits_found(STARTS), 1))
    check.measure("repeated_outputs", max(repeats(words), repeats(orders)))
    check.measure("starts", STARTS)


@pytest.fixture
def other(run: Run, image: Image, tmp_path: Path) -> Iterator[ShufflerBench]:
    """A second unit of the same make."""
    root = tmp_path / "other"
    with open_target(run.target, device=run.device, image=image, kind="bench", root=root, trace=run.trace) as board:
        yield ShufflerBench(board)


@rule("NJ-1.28G(b)5/two-units")
def test_two_units_with_the_same_noise(fresh: ShufflerBench, other: ShufflerBench, check: Check) -> None:
    check.stimulus("two units start with the same entropy, store and calendar")
    found = []
    for bench in (fresh, other):
        unique = newly_fed(bench, "same").unique.hex()
        bench.do("calendar", set=ONE_SECOND)
        found.append((unique, bench.words(WORDS), bench.orders(1)[0].tolist()))
    (first, words, order), (second, words_too, order_too) = found
    check.expect("the ids differ", first != second, True)
    check.measure("equal_outputs", int(words == words_too) + int(order == order_too))


# 28 years from 2011 on, in steps of 97 hours: the hour another each time, each day of the year seven times.
FIRST, STEP, DATES = 1_293_840_000, 97 * 3600, 2530
IDLE = 60


@rule("NJ-1.28G(b)5/clock-is-no-seed")
@needs("calendar")
def test_every_other_date_of_28_years(fresh: ShufflerBench, check: Check) -> None:
    declared = newly_fed(fresh, "dates")
    check.stimulus("seeded and drawn at dates in a row", first=FIRST, step_s=STEP, dates=DATES)
    drawn = fresh.orders(DATES, at=FIRST, step=STEP).tolist()
    other = next((number for number, order in enumerate(drawn) if not _as_declared(declared, order)), None)
    check.note("the first date with another order", second=None if other is None else FIRST + other * STEP)
    check.measure("other_orders", 0 if other is None else DATES - other)
    check.measure("dates", DATES)


def _as_declared(declared: Declared, order: list[int]) -> bool:
    """Cycles of an idle machine come between the lines of the link, before it is seeded."""
    declared.restore()
    return cycles_before(declared, order, 0) is not None

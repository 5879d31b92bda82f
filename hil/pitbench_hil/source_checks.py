"""A generator without a sound source gives nothing, and with one begins nowhere twice: 13:69E-1.28G(b)2 and 5.

The same for every device that draws; each suite has the tests, and these are what they do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pitbench.image import Image
from pitbench.link import LinkError
from pitbench.targets import open_target

from pitbench_hil.attended_bench import START_MS
from pitbench_hil.check import Check
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.fed import again, fed_by_itself, newly_fed
from pitbench_hil.generator_checks import ONE_SECOND
from pitbench_hil.run import Run
from pitbench_hil.statistics.health import adaptive_proportion, repetition_count
from pitbench_hil.statistics.repeats import repeats, seed_bits_found

# -- (b)2

# How a source fails → draws by which the alarm must have come: eight windows of 128 bytes, 32 bytes a draw.
LATEST = {"stuck": 0, "slow": 0, "biased": 32}


def fails_between_games(bench: DrawingBench, check: Check, how: str) -> None:
    """A sound source fails in this way; draw until the device says so."""
    newly_fed(bench, "sound")
    check.stimulus("the source fails", how=how)
    bench.do("entropy", how=how, seed="failing")
    drawn = 0
    try:
        while drawn <= LATEST[how]:
            bench.draws(1)
            drawn += 1
    except LinkError as refused:
        check.note("the board refuses", why=str(refused))
    check.note("draws before the alarm", draws=drawn)
    check.expect("the alarm came in time", drawn <= LATEST[how], True)


def fails_at_the_start(bench: DrawingBench, check: Check, how: str) -> None:
    """A start with a source that fails in this way: its self-test doesn't pass."""
    check.stimulus("a start with a source that fails", how=how)
    bench.start_over_with(how, "failing")
    bench.advance(START_MS)
    check.expect("self-test passed", bench.status()["post"]["ok"], False)


def said_to_be_unavailable(bench: DrawingBench, check: Check) -> None:
    """State, light, message and log of a device whose generator is unavailable."""
    status = bench.status()
    check.expect("state", status["state"], "error")
    check.expect("light", status["light"], "red")
    check.expect("the message names the generator", "random number" in status["message"].lower(), True)
    check.expect("logged", "entropy_failed" in bench.logged(), True)


def spoiled(bench: DrawingBench, check: Check) -> None:
    """The generator computes wrongly when the self-test of an opened door looks at it: it fails at that step."""
    passed = {name: ok for name, ok, _ in bench.do("post")["steps"]}
    check.expect("the self-test has a step of the generator", passed.get("generator"), True)
    check.stimulus("one bit wrong in each HMAC; the service door opened and closed, cleared with the key")
    bench.do("spoil")
    bench.do("door", which="service", open=True)
    bench.do("door", which="service", open=False)
    bench.clear()
    post = bench.do("post")
    check.expect("self-test passed", post["ok"], False)
    check.expect("the step that failed", post["steps"][-1][:2], ["generator", False])


# -- health tests

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


def alarm_at_the_cut_off(bench: DrawingBench, check: Check, name: str) -> None:
    """One equal sample less than the cut-off raises no alarm, as many as the cut-off do."""
    feed, cut_off = HEALTH[name]
    alarms = {}
    for samples in (cut_off - 1, cut_off):
        check.stimulus("a start", first_fed=name, equal=samples)
        bench.start_over_with("led", feed(samples))
        bench.advance(START_MS)
        alarms[samples] = bench.status()["state"] == "error"
    check.note("alarm", **{str(samples): came for samples, came in alarms.items()})
    late, early = not alarms[cut_off], alarms[cut_off - 1]
    check.measure("samples_off", int(late) - int(early))


# -- (b)5

STARTS, WORDS = 100, 16


def cold_starts(bench: DrawingBench, check: Check) -> None:
    """First words and first draws of cold starts with the board's own source: none comes twice."""
    check.stimulus("cold starts from a new store, the calendar at one second", starts=STARTS)
    fed_by_itself(bench)
    words, drawn = [], []
    for _ in range(STARTS):
        again(bench)
        bench.do("calendar", set=ONE_SECOND)
        words.append(list(bench.words(WORDS)))
        drawn.append(_flat(bench.sample()))
    check.note("without a repeat: the seed space is no smaller, 99 %", bits=round(seed_bits_found(STARTS), 1))
    check.measure("repeated_outputs", max(repeats(words), repeats(drawn)))
    check.measure("starts", STARTS)


def _flat(sample: list[Any]) -> list[int]:
    return [number for drawn in sample for number in (drawn if isinstance(drawn, list) else [drawn])]


def second_unit(run: Run, image: Image, folder: Path) -> Any:
    """A second board of the same make, open in a `with`."""
    return open_target(run.target, device=run.device, image=image, kind="bench", root=folder, trace=run.trace)


def units_differ(benches: tuple[DrawingBench, DrawingBench], check: Check) -> None:
    """Two units with the same entropy, store and calendar begin otherwise."""
    check.stimulus("two units start with the same entropy, store and calendar")
    found = []
    for bench in benches:
        unique = newly_fed(bench, "same").unique.hex()
        bench.do("calendar", set=ONE_SECOND)
        found.append((unique, bench.words(WORDS), bench.sample()))
    (first, words, drawn), (second, words_too, drawn_too) = found
    check.expect("the ids differ", first != second, True)
    check.measure("equal_outputs", int(words == words_too) + int(drawn == drawn_too))


# 28 years from 2011 on, in steps of 97 hours: the hour another each time, each day of the year seven times.
FIRST, STEP, DATES = 1_293_840_000, 97 * 3600, 2530


def dates_decide_nothing(bench: DrawingBench, check: Check) -> None:
    """Seeded and drawn at dates of 28 years: each draw is the reference's, which knows no date."""
    declared = newly_fed(bench, "dates")
    check.stimulus("seeded and drawn at dates in a row", first=FIRST, step_s=STEP, dates=DATES)
    other = None
    # Cycles of an idle machine come between the lines of the link, before it is seeded: they change nothing.
    for number, drawn in enumerate(bench.draws(DATES, at=FIRST, step=STEP)):
        declared.restore()
        if bench.draw_of(declared) != drawn:
            other = number
            break
    check.note("the first date with another draw", second=None if other is None else FIRST + other * STEP)
    check.measure("other_draws", 0 if other is None else DATES - other)
    check.measure("dates", DATES)

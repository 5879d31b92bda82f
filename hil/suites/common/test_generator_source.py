"""13:69E-1.28G(b)5 on whatever draws: what its source gives begins nowhere twice. Its health tests, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pitbench.image import Image
from pitbench.targets import open_target
from pitbench_hil.attended_bench import START_MS
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.fed import again, fed_by_itself, newly_fed
from pitbench_hil.generator_checks import ONE_SECOND
from pitbench_hil.marks import needs, rule
from pitbench_hil.run import Run
from pitbench_hil.statistics.health import adaptive_proportion, repetition_count
from pitbench_hil.statistics.repeats import repeats, seed_bits_found

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
def test_alarm_exactly_at_the_cut_off(fresh: DrawingBench, check: Check, name: str) -> None:
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


@rule("NJ-1.28G(b)5/cold-boots")
def test_cold_starts(fresh: DrawingBench, check: Check) -> None:
    check.stimulus("cold starts from a new store, the calendar at one second", starts=STARTS)
    fed_by_itself(fresh)
    words, drawn = [], []
    for _ in range(STARTS):
        again(fresh)
        fresh.do("calendar", set=ONE_SECOND)
        words.append(list(fresh.words(WORDS)))
        drawn.append(_flat(fresh.sample()))
    check.note("without a repeat: the seed space is no smaller, 99 %", bits=round(seed_bits_found(STARTS), 1))
    check.measure("repeated_outputs", max(repeats(words), repeats(drawn)))
    check.measure("starts", STARTS)


def _flat(sample: list[Any]) -> list[int]:
    return [number for drawn in sample for number in (drawn if isinstance(drawn, list) else [drawn])]


@pytest.fixture
def other(run: Run, image: Image, device: Device[Any], tmp_path: Path) -> Iterator[DrawingBench]:
    """A second unit of the same make."""
    root = tmp_path / "other"
    with open_target(run.target, device=run.device, image=image, kind="bench", root=root, trace=run.trace) as board:
        yield device.bench(board)


@rule("NJ-1.28G(b)5/two-units")
def test_two_units_with_the_same_noise(fresh: DrawingBench, other: DrawingBench, check: Check) -> None:
    check.stimulus("two units start with the same entropy, store and calendar")
    found = []
    for bench in (fresh, other):
        unique = newly_fed(bench, "same").unique.hex()
        bench.do("calendar", set=ONE_SECOND)
        found.append((unique, bench.words(WORDS), bench.sample()))
    (first, words, drawn), (second, words_too, drawn_too) = found
    check.expect("the ids differ", first != second, True)
    check.measure("equal_outputs", int(words == words_too) + int(drawn == drawn_too))


# 28 years from 2011 on, in steps of 97 hours: the hour another each time, each day of the year seven times.
FIRST, STEP, DATES = 1_293_840_000, 97 * 3600, 2530


@rule("NJ-1.28G(b)5/clock-is-no-seed")
@needs("calendar")
def test_every_other_date_of_28_years(fresh: DrawingBench, check: Check) -> None:
    declared = newly_fed(fresh, "dates")
    check.stimulus("seeded and drawn at dates in a row", first=FIRST, step_s=STEP, dates=DATES)
    other = None
    # Cycles of an idle machine come between the lines of the link, before it is seeded: they change nothing.
    for number, drawn in enumerate(fresh.draws(DATES, at=FIRST, step=STEP)):
        declared.restore()
        if fresh.draw_of(declared) != drawn:
            other = number
            break
    check.note("the first date with another draw", second=None if other is None else FIRST + other * STEP)
    check.measure("other_draws", 0 if other is None else DATES - other)
    check.measure("dates", DATES)

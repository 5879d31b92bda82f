"""13:69E-1.28G(a) and (b)3, 4 on whatever draws: its generator's words, and the steps that it takes while idle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pitbench_hil.check import Check
from pitbench_hil.declared_generator import Declared
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.fed import again, fed_by_itself, newly_fed, steps_before
from pitbench_hil.generator_checks import IDLE, ONE_SECOND
from pitbench_hil.inquiry import Sample, inquire
from pitbench_hil.marks import rule
from pitbench_hil.statistics import bits
from pitbench_hil.statistics.budget import Family
from pitbench_hil.statistics.counts import chi_square, independence
from pitbench_hil.statistics.power import smallest_bias, smallest_effect
from pitbench_hil.statistics.recovery import solved_by

# -- (a)

# MT19937 takes 624 words; four more are to be predicted.
WORDS = 640
WORD_ORDERS = {"high byte first": ">u4", "low byte first": "<u4"}
SOLVERS = {
    "mersenne-twister": "MT19937",
    "xorshift": "xorshift32",
    "lcg": "linear congruential, modulo 2^32",
    "yasmarang": "yasmarang (MicroPython's random), from its seed",
}
NOT_PREDICTED = tuple(f"NJ-1.28G(a)/not-predicted/{name}" for name in SOLVERS)


@rule(*NOT_PREDICTED)
@pytest.mark.parametrize("order", WORD_ORDERS.values(), ids=WORD_ORDERS)
def test_state_recovered_from_words(fresh: DrawingBench, check: Check, order: str) -> None:
    fed_by_itself(fresh)
    check.stimulus("the first words after a start read", words=WORDS, order=order)
    found = solved_by(np.frombuffer(fresh.words(4 * WORDS), order))
    check.note("solved", by=found or "no predictor")
    for name, solver in SOLVERS.items():
        check.measure("predicted", 4 if found == solver else 0, rule=f"NJ-1.28G(a)/not-predicted/{name}")


# -- (b)3

BYTES = 125_000
# .0005 a test.
BIT_FAMILY = Family(0.006, 12)
BITS = 8 * BYTES


def of_bits(test: Callable[[Sample], float]) -> Callable[[Sample], float]:
    """A test of bits as one of bytes."""
    return lambda sample: test(np.unpackbits(sample))


def worse(*p_values: float) -> float:
    """One p-value for two of one statistic."""
    return min(1.0, len(p_values) * min(p_values))


def neighbours(sample: Sample) -> float:
    """The high half of each byte against that of the next."""
    high = sample >> 4
    return independence(np.bincount(high[:-1].astype(int) * 16 + high[1:], minlength=256).reshape(16, 16)).p


def _finds(df: int) -> str:
    return f"an effect of {smallest_effect(BYTES, df, BIT_FAMILY.each):.3g} a byte"


# Part of the rule → statistic → (p-value of bytes, the smallest fault that is found, in words).
BIT_TESTS: dict[str, dict[str, tuple[Callable[[Sample], float], str]]] = {
    "independent": {
        "serial, 8 bits": (of_bits(lambda row: worse(*bits.serial(row, 8))), _finds(128)),
        "serial, 16 bits": (of_bits(lambda row: worse(*bits.serial(row, 16))), _finds(32768)),
        "approximate entropy, 8 bits": (of_bits(lambda row: bits.approximate_entropy(row, 8)), _finds(256)),
        "byte after byte": (neighbours, _finds(225)),
    },
    "chi-square": {
        "bytes": (lambda sample: chi_square(np.bincount(sample, minlength=256)).p, _finds(255)),
        "blocks of 128 bits": (of_bits(lambda row: bits.block_frequency(row, 128)), "a block that leans"),
        "blocks of 8,192 bits": (of_bits(lambda row: bits.block_frequency(row, 8192)), "a stretch that leans"),
    },
    "mono-bit": {
        "mono-bit": (of_bits(bits.monobit), f"a bias of {smallest_bias(BITS, BIT_FAMILY.each):.3g}"),
        "cumulative sums": (of_bits(lambda row: worse(*bits.cumulative_sums(row))), "a stretch that leans"),
    },
    "runs": {
        "runs": (of_bits(bits.runs), f"a bias of {smallest_bias(BITS, BIT_FAMILY.each):.3g} of changes"),
        "longest run, blocks of 128": (of_bits(lambda row: bits.longest_run(row, 128)), "a shape of runs"),
        "longest run, blocks of 10,000": (of_bits(lambda row: bits.longest_run(row, 10_000)), "a shape of runs"),
    },
}
WORDS_PASS = tuple(f"NJ-1.28G(b)3/{part}" for part in BIT_TESTS)


@rule(*WORDS_PASS)
def test_a_million_bits(bench: DrawingBench, check: Check) -> None:
    check.stimulus("generator words read", bits=BITS)
    check.note("a generator with a fixed seed passes all of them: 1.28G(b)5 has cold starts")

    def take(size: int) -> Sample:
        return np.frombuffer(bench.words(size), np.uint8)

    inquire(check, BIT_FAMILY, BIT_TESTS, take, BYTES, unit="bytes", rule="NJ-1.28G(b)3")
    check.measure("bits", BITS)


# -- (b)4

# Seconds of idle device time, too far apart for a slow PC to make them equal.
WAITS = range(0, 71, 10)


@rule("NJ-1.28G(b)4/background")
def test_only_idle_steps_differ(fresh: DrawingBench, check: Check) -> None:
    samples, missing = [], 0
    unique = newly_fed(fresh, "idle").unique.hex()
    for seconds in WAITS:
        check.stimulus("a new start, the calendar at one second, idle", seconds=seconds)
        again(fresh)
        fresh.do("calendar", set=ONE_SECOND)
        fresh.advance(1000 * seconds)
        fresh.do("calendar", set=ONE_SECOND)
        samples.append(fresh.sample())
        steps = steps_before(fresh, Declared("idle", unique), samples[-1], IDLE)
        check.note("by the reference", idle_steps=steps)
        missing += seconds if steps is None else max(0, seconds - steps)
    check.measure("equal_draws", len(samples) - len(set(map(str, samples))))
    check.measure("steps_missing", missing)

"""What a generator gives, how much of it is fresh, and how it is rescaled: 13:69E-1.28G(a) and (b)1, 3, 4, 6.

The same for every device that draws; each suite has the tests, and these are what they do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np

from pitbench_hil.check import Check
from pitbench_hil.declared_generator import SEED, STATE, TESTED, Declared
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.fed import again, fed_by_itself, newly_fed, steps_before
from pitbench_hil.inquiry import Inquiry, Sample
from pitbench_hil.statistics import bits
from pitbench_hil.statistics.budget import Family
from pitbench_hil.statistics.counts import chi_square, independence
from pitbench_hil.statistics.power import POWER, smallest_bias, smallest_effect
from pitbench_hil.statistics.recovery import solved_by

# Idle seconds before a draw, at most: of games in a row, of the bench's own waits, of a slow PC.
IDLE = 600

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


def words_predicted(bench: DrawingBench, check: Check, order: str) -> None:
    """Recover a state from the first words after a start, predict the next. `order`: of a word's bytes, by numpy."""
    fed_by_itself(bench)
    check.stimulus("the first words after a start read", words=WORDS, order=order)
    found = solved_by(np.frombuffer(bench.words(4 * WORDS), order))
    check.note("solved", by=found or "no predictor")
    for name, solver in SOLVERS.items():
        check.measure("predicted", 4 if found == solver else 0, rule=f"NJ-1.28G(a)/not-predicted/{name}")


# -- (b)1


def bits_turned(bench: DrawingBench, check: Check) -> tuple[int, int]:
    """Turn over a bit in each byte that a game's fresh entropy has; how many were turned, and how many did nothing."""
    newly_fed(bench, "turned")
    plain = bench.sample()
    first = 8 * (TESTED + SEED)
    places = [first + 8 * byte + byte % 8 for byte in range(STATE)]
    without = 0
    for place in places:
        bench.board.rig.entropy_at_start("fixed", f"turned~{place}")
        again(bench)
        without += bench.sample() == plain
    check.stimulus("bits of the fresh entropy turned over, each from a new start", bits=len(places), first=first)
    return len(places), without


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


def million_bits(bench: DrawingBench, check: Check) -> None:
    """A million bits of generator words, judged by the whole family of bit tests."""
    check.stimulus("generator words read", bits=BITS)
    check.note("a generator with a fixed seed passes all of them: 1.28G(b)5 has cold starts")
    every = {name: row for rows in BIT_TESTS.values() for name, row in rows.items()}
    plans = [BIT_FAMILY.plan(name, BYTES, POWER, finds) for name, (_, finds) in every.items()]
    tests = {name: test for name, (test, _) in every.items()}
    inquiry = Inquiry(check, plans, tests, lambda size: np.frombuffer(bench.words(size), np.uint8), "bytes")
    inquiry.run()
    for part, rows in BIT_TESTS.items():
        inquiry.decide(f"NJ-1.28G(b)3/{part}", rows)
    check.measure("bits", BITS)


# -- (b)4

# Seconds of idle device time, too far apart for a slow PC to make them equal.
WAITS = range(0, 71, 10)
ONE_SECOND = 2_000_000_000


def idle_steps_differ(bench: DrawingBench, check: Check) -> None:
    """From one start, so many idle seconds and nothing else before a draw: samples differ, and are the reference's."""
    samples, missing = [], 0
    unique = newly_fed(bench, "idle").unique.hex()
    for seconds in WAITS:
        check.stimulus("a new start, the calendar at one second, idle", seconds=seconds)
        again(bench)
        bench.do("calendar", set=ONE_SECOND)
        bench.advance(1000 * seconds)
        bench.do("calendar", set=ONE_SECOND)
        samples.append(bench.sample())
        steps = steps_before(bench, Declared("idle", unique), samples[-1], IDLE)
        check.note("by the reference", idle_steps=steps)
        missing += seconds if steps is None else max(0, seconds - steps)
    check.measure("equal_draws", len(samples) - len(set(map(str, samples))))
    check.measure("steps_missing", missing)


# -- (b)6


def unequal(outcomes: Iterable[int | None], n: int) -> int:
    """Outcomes that another number of words leads to than to outcome 0, one beyond the range among them."""
    counts = Counter(outcome for outcome in outcomes if outcome is not None)
    return sum(counts[outcome] != counts[0] for outcome in range(n)) + sum(not 0 <= outcome < n for outcome in counts)

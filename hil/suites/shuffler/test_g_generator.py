"""13:69E-1.28G(a) and (b)1, 3, 6: what the generator gives, how much it holds, and how it is rescaled."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from pitbench_hil.check import Check
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_fed import again, fed_by_itself, newly_fed, set_as_declared
from pitbench_hil.shuffler_random import Inquiry, Sample
from pitbench_hil.shuffler_reference import SEED, STATE, TESTED, cycles_before
from pitbench_hil.statistics import bits
from pitbench_hil.statistics.budget import Family
from pitbench_hil.statistics.counts import chi_square, independence
from pitbench_hil.statistics.power import POWER, smallest_bias, smallest_effect
from pitbench_hil.statistics.recovery import solved_by

# -- (a)

# MT19937 takes 624 words; four more are to be predicted.
WORDS = 640
SOLVERS = {
    "mersenne-twister": "MT19937",
    "xorshift": "xorshift32",
    "lcg": "linear congruential, modulo 2^32",
    "yasmarang": "yasmarang (MicroPython's random), from its seed",
}


@rule(*(f"NJ-1.28G(a)/not-predicted/{name}" for name in SOLVERS))
@pytest.mark.parametrize("order", [">u4", "<u4"], ids=["high byte first", "low byte first"])
def test_state_recovered_from_words(fresh: ShufflerBench, check: Check, order: str) -> None:
    fed_by_itself(fresh)
    check.stimulus("the first words after a start read", words=WORDS, order=order)
    found = solved_by(np.frombuffer(fresh.words(4 * WORDS), order))
    check.note("solved", by=found or "no predictor")
    for name, solver in SOLVERS.items():
        check.measure("predicted", 4 if found == solver else 0, rule=f"NJ-1.28G(a)/not-predicted/{name}")


# -- (b)1

GAMES = [(decks, jokers) for decks in range(1, 9) for jokers in range(3)]
# Idle seconds that pass meanwhile, at most: by the bench's own waits, or a slow PC.
IDLE = 120


def log2_orders(decks: int, jokers: int) -> float:
    """Distinct orders: cards of one face are one another's equal."""
    alike = 52 * math.lgamma(decks + 1) + math.lgamma(decks * jokers + 1)
    return (math.lgamma(decks * (52 + jokers) + 1) - alike) / math.log(2)


@rule("NJ-1.28G(b)1/room", "HOUSE-fresh-entropy")
@needs("access")
def test_bits_of_every_game(fresh: ShufflerBench, check: Check) -> None:
    turned, without = bits_turned(fresh, check)
    part = 1 - without / turned
    declared = newly_fed(fresh, "room")
    fresh.commission("technician")
    margins = {}
    for decks, jokers in GAMES:
        set_as_declared(fresh, declared, decks=decks, jokers=jokers)
        order = fresh.orders(1, decks * (52 + jokers))[0].tolist()
        told = fresh.status()["bits"]
        known = cycles_before(declared, order, IDLE) is not None
        gathered = min(told, declared.bits) if known else told
        margins[f"{decks} decks, {jokers} jokers"] = round(part * gathered - log2_orders(decks, jokers), 1)
    least = min(margins, key=lambda game: margins[game])
    check.note("bits gathered for an order, less log2 of the orders", **margins)
    check.note("the least", game=least, part_of_turned_bits_with_effect=part)
    # What the state holds beside them (256 bits) isn't counted: it is known to who knew the order before.
    check.measure("fresh_bits_above_log2_orders", margins[least], rule="HOUSE-fresh-entropy")
    check.measure("bits_above_log2_orders", margins[least], rule="NJ-1.28G(b)1/room")
    check.measure("bits_without_effect", without, rule="NJ-1.28G(b)1/room")


def bits_turned(bench: ShufflerBench, check: Check) -> tuple[int, int]:
    """Turn over a bit in each byte that a game's fresh entropy has; how many were turned, and how many did nothing."""
    newly_fed(bench, "turned")
    plain = bench.orders(1).tolist()
    first = 8 * (TESTED + SEED)
    places = [first + 8 * byte + byte % 8 for byte in range(STATE)]
    without = 0
    for place in places:
        bench.board.rig.entropy_at_start("fixed", f"turned~{place}")
        again(bench)
        without += bench.orders(1).tolist() == plain
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


@rule(*(f"NJ-1.28G(b)3/{part}" for part in BIT_TESTS))
def test_a_million_bits(bench: ShufflerBench, check: Check) -> None:
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


# -- (b)6

EIGHT_DECKS, WIDEST = 416, 432


def unequal(outcomes: list[int | None], n: int) -> int:
    """Outcomes that another number of words leads to than to outcome 0, one beyond the range among them."""
    counts = Counter(outcome for outcome in outcomes if outcome is not None)
    return sum(counts[outcome] != counts[0] for outcome in range(n)) + sum(not 0 <= outcome < n for outcome in counts)


@rule("NJ-1.28G(b)6/rescaled/8-bit")
def test_every_byte(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("all 256 bytes, for each range", ranges="2 to 256")
    found = {n: unequal(bench.rescale(n, range(256)), n) for n in range(2, 257)}
    wrong = {n: number for n, number in found.items() if number}
    check.note("ranges with unequal outcomes", ranges=sorted(wrong))
    check.measure("unequal_outcomes", sum(wrong.values()))
    check.measure("ranges_not_tried", 255 - len(found))


@rule("NJ-1.28G(b)6/rescaled/16-bit")
def test_words_of_16_bits(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("all 65,536 words", range=EIGHT_DECKS)
    wrong = unequal(bench.rescale(EIGHT_DECKS, range(65536)), EIGHT_DECKS)
    check.stimulus("words at both ends of what is kept, for each range", ranges=f"257 to {WIDEST}")
    edges = {n: edge_counts(bench, n) for n in range(257, WIDEST + 1)}
    wrong += sum(edges.values())
    check.note("ranges that keep another number of words", ranges=[n for n, number in edges.items() if number])
    check.measure("unequal_outcomes", wrong)
    check.measure("ranges_not_tried", WIDEST - 256 - len(edges))


def edge_counts(bench: ShufflerBench, n: int) -> int:
    """The declared method keeps the words below the last whole multiple of the range: what differs from that."""
    end = 65536 - 65536 % n
    words = sorted({0, 1, n - 1, n, end - 1, min(end, 65535), 65535})
    expected = [word % n if word < end else None for word in words]
    found = bench.rescale(n, words)
    return sum(one != other for one, other in zip(found, expected, strict=True))

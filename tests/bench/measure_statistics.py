"""What the statistics cost: bit tests beside NIST's own C code, with the p-values of both, and a million decks."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pitbench_hil.statistics import bits, shuffles

BITS = 1_000_000
DECKS = 1_000_000
ROUNDS = 5
Row = Callable[..., None]
Call = Callable[[], Any]


def measure(row: Row) -> None:
    """Print a line a figure."""
    sample = np.random.default_rng(800_22).integers(0, 2, BITS).astype(np.uint8)
    try:
        suite = importlib.import_module("sp80022suite")
    except ImportError:
        row("SP 800-22, a million bits", "not measured", "sp80022suite is not installed")
    else:
        bit_tests(row, sample, suite)
    deck_tests(row)


def bit_tests(row: Row, sample: np.ndarray, suite: Any) -> None:
    """Each test on the same million bits, ours and NIST's in turn."""
    raw = sample.tobytes()
    pairs: dict[str, tuple[Call, Call]] = {
        "monobit": (lambda: bits.monobit(sample), lambda: suite.frequency(raw)),
        "block frequency, 128": (lambda: bits.block_frequency(sample, 128), lambda: suite.block_frequency(128, raw)),
        "runs": (lambda: bits.runs(sample), lambda: suite.runs(raw)),
        "longest run": (lambda: bits.longest_run(sample), lambda: suite.longest_run_of_ones(raw)),
        # NIST's code gives the lower of two p-values.
        "serial, 16": (lambda: min(bits.serial(sample, 16)), lambda: suite.serial(16, raw)),
        "approximate entropy, 10": (
            lambda: bits.approximate_entropy(sample, 10),
            lambda: suite.approximate_entropy(10, raw),
        ),
        "cumulative sums": (lambda: min(bits.cumulative_sums(sample)), lambda: suite.cumulative_sums(raw)),
    }
    total = np.zeros(2)
    for name, calls in pairs.items():
        (ours, p), (theirs, other) = in_turn(*calls)
        total += ours, theirs
        row(f"million bits, {name}", f"{ours:.2f} ms", f"NIST's C {theirs:.2f} ms", f"{ours / theirs:.2f}, ≤ 1")
        row("", f"p {p:.6f}", f"p {other:.6f}", "the same" if f"{p:.6f}" == f"{other:.6f}" else "DIFFERENT")
    row(
        "million bits, all seven",
        f"{total[0]:.1f} ms",
        f"NIST's C {total[1]:.1f} ms",
        f"{total[0] / total[1]:.3f}, ≤ 1",
    )


def in_turn(ours: Call, theirs: Call) -> tuple[tuple[float, float], tuple[float, float]]:
    """Median time of each, in ms, and what it returned."""
    times: tuple[list[float], list[float]] = ([], [])
    found = [0.0, 0.0]
    for _ in range(ROUNDS):
        for at, call in enumerate((ours, theirs)):
            start = time.perf_counter()
            found[at] = float(call())
            times[at].append((time.perf_counter() - start) * 1000)
    return (float(np.median(times[0])), found[0]), (float(np.median(times[1])), found[1])


def deck_tests(row: Row) -> None:
    """Every statistic of a million fair decks of 52."""
    decks = np.random.default_rng(52).permuted(np.tile(np.arange(52, dtype=np.uint8), (DECKS, 1)), axis=1)
    start = time.perf_counter()
    results = shuffles.judge(decks)
    took = time.perf_counter() - start
    least = min(result.p for result in results)
    row("million decks of 52, all judged", f"{took:.1f} s", f"{len(results)} statistics, least p {least:.3f}", "≤ 30 s")

"""All statistics of decks, in one call."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from pitbench_hil.statistics.adjacency import adjacency_test, separation_test
from pitbench_hil.statistics.cycles import cycle_test
from pitbench_hil.statistics.fixed_points import fixed_point_test
from pitbench_hil.statistics.guessing import guessing_test
from pitbench_hil.statistics.orders import log2_orders
from pitbench_hil.statistics.positions import position_test
from pitbench_hil.statistics.repeats import repeat_test
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.riffles import rising_test
from pitbench_hil.statistics.samples import decks_of
from pitbench_hil.statistics.valleys import peak_test, valley_test


def order_repeat_test(decks: ArrayLike) -> Result:
    """Whether an order comes back. Decks of one pack, every card another."""
    found = decks_of(decks)
    return repeat_test(found, log2_orders(1, found.shape[1]))


# Name → test of an array of decks. The name is that of the result, and of the plan (budget.py).
TESTS: dict[str, Callable[[ArrayLike], Result]] = {
    "valleys": valley_test,
    "peaks": peak_test,
    "right guesses, 10 shelves": guessing_test,
    "rising sequences": rising_test,
    "positions": position_test,
    "differences": adjacency_test,
    "separations": separation_test,
    "decks without fixed point": fixed_point_test,
    "cycles": cycle_test,
    "repeats": order_repeat_test,
}


def judge(decks: ArrayLike) -> list[Result]:
    """Every statistic of the decks, a result each. Raises SampleError where one of them takes more decks."""
    return [test(decks) for test in TESTS.values()]

"""13:69E-1.28P(j), any order of events: no round has two results, none comes without a reading, the chart holds."""

from __future__ import annotations

from functools import partial

import pytest
from pitbench_hil.check import Check
from pitbench_hil.dice_shaker import DiceBench
from pitbench_hil.dice_walk import STIMULI, Walk
from pitbench_hil.marks import rule
from pitbench_hil.walking import at_random

RULE = "NJ-1.28P(j)/any-order"
WALKS, LENGTH = 6, 16
# Orders that matter come up often enough only if they are helped.
ROUND = ["shake", "wait 1000 ms", "wait 1000 ms"]
ANEW = ["close lid", "close lock", "close latch", "mend", "clear with the key", "dice in", "clear with the key", "fill"]
PIECES = {
    "rounds": [*ROUND, "next", *ROUND, "recall", "recall", "next"],
    "void and again": ["leaning", "354", *ROUND, "wait 6000 ms", "next"],
    "cut in a shake": ["shake", "wait 400 ms", "power cut", "wait 1000 ms", *ROUND, "next"],
    "cut at rest": ["shake", "wait 1000 ms", "wait 400 ms", "power cut", "wait 1000 ms", *ROUND, "next"],
    "cut while shown": [*ROUND, "power cut", "wait 1000 ms", "next", *ROUND],
    "lid in a shake": ["shake", "wait 400 ms", "open lid", "wait 1000 ms", *ANEW, *ROUND],
    "latch while shown": [*ROUND, "open latch", "close latch", "clear with the key", "next", *ROUND],
    "impossible": ["impossible", *ROUND, "clear with the key", *ANEW, *ROUND],
    "a die gone": ["two dice", *ROUND, "clear with the key", *ANEW, *ROUND],
    "never at rest": ["break rest", "shake", "wait 6000 ms", "wait 6000 ms", "mend", "clear with the key", *ROUND],
    "knocked": ["shake", "wait 1000 ms", "wait 400 ms", "knock", "wait 400 ms", "knock", "wait 6000 ms"],
}


@pytest.mark.parametrize("piece", PIECES)
@rule(RULE)
def test_orders_that_matter(still: DiceBench, check: Check, piece: str) -> None:
    check.stimulus("twice in a row", steps=PIECES[piece])
    hold(still, check, PIECES[piece] * 2)


@rule(RULE)
def test_any_order_of_events(still: DiceBench, check: Check) -> None:
    at_random(check, partial(hold, still, check), STIMULI, PIECES, walks=WALKS, length=LENGTH, begins=11)


def hold(bench: DiceBench, check: Check, steps: list[str]) -> None:
    """One walk, and what must be so at its end."""
    walk = Walk(bench)
    walk.along(steps)
    good = [
        check.measure("steps_off_the_chart", len(walk.off_chart)),
        check.measure("unread_results", walk.unread),
        check.measure("results_twice", walk.twice),
    ]
    if not all(good):
        check.note("the walk that fails", steps=steps, off_chart=walk.off_chart)

"""13:69E-1.28P(j), any order of events: no round has two results, none comes without a reading, the chart holds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pitbench_hil.check import Check
from pitbench_hil.dice_shaker import DiceBench
from pitbench_hil.dice_walk import STIMULI, Walk
from pitbench_hil.marks import rule

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
steps = st.sampled_from(sorted(STIMULI)).map(lambda step: [step])
strolls = st.lists(st.one_of(steps, st.sampled_from(sorted(PIECES)).map(PIECES.__getitem__)), max_size=LENGTH)


@pytest.mark.parametrize("piece", PIECES)
@rule(RULE)
def test_orders_that_matter(still: DiceBench, check: Check, piece: str) -> None:
    check.stimulus("twice in a row", steps=PIECES[piece])
    still.start()
    hold(still, check, PIECES[piece] * 2)


@rule(RULE)
def test_any_order_of_events(still: DiceBench, check: Check) -> None:
    still.start()

    @seed(11)
    @settings(
        max_examples=WALKS,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(strolls)
    def every(stroll: list[list[str]]) -> None:
        hold(still, check, [step for steps in stroll for step in steps])

    check.note("random walks", walks=WALKS, stimuli=sorted(STIMULI))
    every()


def hold(bench: DiceBench, check: Check, steps: list[str]) -> None:
    """One walk, and what must be so at its end."""
    walk = Walk(bench)
    walk.begin()
    for step in steps:
        walk.take(step)
    good = [
        check.measure("steps_off_the_chart", len(walk.off_chart)),
        check.measure("unread_results", walk.unread),
        check.measure("results_twice", walk.twice),
    ]
    if not all(good):
        check.note("the walk that fails", steps=steps, off_chart=walk.off_chart)

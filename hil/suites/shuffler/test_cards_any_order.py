"""13:69E-1.18A(c)2ii, any order of events: no card is lost, none is dealt unshuffled, the chart holds."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_walk import STIMULI, Walk

RULE = "NJ-1.18A(c)2ii/any-order"
WALKS, LENGTH = 6, 16
# Orders that matter come up often enough only if they are helped.
SHUFFLE = ["deck", "start", "wait 9000 ms"]
CLEAR = ["close service", "close shroud", "clear with the key"]
PIECES = {
    "game": [*SHUFFLE, "hand", "wait 1000 ms", "deal", "wait 1000 ms"],
    "door in a shuffle": ["deck", "start", "wait 1000 ms", "open shroud", *CLEAR, "deal", "hand", "unload"],
    "cut in a shuffle": ["deck", "start", "wait 1000 ms", "power cut", "wait 1000 ms", "clear with the key", "deal"],
    "jam at the gate": ["few", "start", "wait 200 ms", "break insert", "wait 9000 ms", "mend", "clear with the key"],
    "jam in the exit": [*SHUFFLE, "hand", "wait 200 ms", "break eject", "wait 9000 ms", "mend", "clear with the key"],
    "door in a deal": [*SHUFFLE, "hand", "wait 200 ms", "open service", "wait 1000 ms", *CLEAR, "hand", "deal"],
    "cut in a deal": [*SHUFFLE, "hand", "wait 200 ms", "power cut", "wait 1000 ms", "clear with the key", "hand"],
    "cut while unloading": [*SHUFFLE, "unload", "wait 1000 ms", "power cut", "clear with the key", "unload"],
}
steps = st.sampled_from(sorted(STIMULI)).map(lambda step: [step])
strolls = st.lists(st.one_of(steps, st.sampled_from(sorted(PIECES)).map(PIECES.__getitem__)), max_size=LENGTH)


@pytest.mark.parametrize("piece", PIECES)
@rule(RULE)
def test_orders_that_matter(still: ShufflerBench, check: Check, piece: str) -> None:
    check.stimulus("twice in a row", steps=PIECES[piece])
    hold(still, check, PIECES[piece] * 2)


@rule(RULE)
def test_any_order_of_events(still: ShufflerBench, check: Check) -> None:
    @seed(7)
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


def hold(bench: ShufflerBench, check: Check, steps: list[str]) -> None:
    """One walk, and what must be so at its end."""
    walk = Walk(bench)
    walk.begin()
    for step in steps:
        walk.take(step)
    walk.end()
    lost, come = walk.laid_in - walk.came_out, walk.came_out - walk.laid_in
    good = [
        check.measure("different_cards", sum(lost.values()) + sum(come.values())),
        check.measure("cards_left_behind", walk.left_behind),
        check.measure("dealt_unshuffled", walk.unshuffled),
        check.measure("steps_off_the_chart", len(walk.off_chart)),
    ]
    check.note("a walk's end", cards=sum(walk.came_out.values()), steps=len(steps))
    if not all(good):
        check.note("the walk that fails", steps=steps, off_chart=walk.off_chart)

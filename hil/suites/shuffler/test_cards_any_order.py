"""13:69E-1.18A(c)2ii, any order of events: no card is lost, none is dealt unshuffled, the chart holds."""

from __future__ import annotations

from functools import partial

import pytest
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_walk import STIMULI, Walk
from pitbench_hil.walking import at_random

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


@pytest.mark.parametrize("piece", PIECES)
@rule(RULE)
def test_orders_that_matter(still: ShufflerBench, check: Check, piece: str) -> None:
    check.stimulus("twice in a row", steps=PIECES[piece])
    hold(still, check, PIECES[piece] * 2)


@rule(RULE)
def test_any_order_of_events(still: ShufflerBench, check: Check) -> None:
    at_random(check, partial(hold, still, check), STIMULI, PIECES, walks=WALKS, length=LENGTH, begins=7)


def hold(bench: ShufflerBench, check: Check, steps: list[str]) -> None:
    """One walk, and what must be so at its end."""
    walk = Walk(bench)
    walk.along(steps)
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

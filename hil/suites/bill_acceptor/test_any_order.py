"""13:69E-1.28N(f), any order of events: money, meters, paper and chart hold."""

from __future__ import annotations

from functools import partial

import pytest
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_walk import STIMULI, Walk
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.walking import at_random

WALKS = 12
LENGTH = 30
# Orders that matter come up often enough only if they are helped.
TO_ESCROW = ["twenty", "wait 400 ms", "wait 400 ms"]
INSERTION = [*TO_ESCROW, "stack-1", "wait 400 ms", "wait 210 ms", "acknowledge"]
PIECES = {
    "insertion": INSERTION,
    "ack while it stacks": [*INSERTION[:-1], "acknowledge unasked"],
    "reset while it stacks": [*TO_ESCROW, "stack-1", "reset unseen"],
    "inhibit in escrow": [*TO_ESCROW, "inhibit", "wait 210 ms", "stack-1", "wait 400 ms", "enable"],
    "stack after hold": [*TO_ESCROW, "hold", "stack-2", "wait 400 ms", "power cut", "reset"],
    "pulled after a hold": [
        "strung",
        "wait 400 ms",
        "wait 400 ms",
        "hold",
        "stack-1",
        "wait 210 ms",
        "wait 90 ms",
        "pull",
        "wait 400 ms",
        "reset",
    ],  # fmt: skip
    "cut at the lever": [*TO_ESCROW, "stack-1", "wait 400 ms", "wait 210 ms", "power cut", "power cut", "reset unseen"],
    "door at the lever": [
        *TO_ESCROW,
        "stack-2",
        "wait 400 ms",
        "wait 210 ms",
        "open stacker door",
        "close stacker door",
    ],
}


@pytest.mark.parametrize("piece", PIECES)
@rule("NJ-1.28N(f)/any-order")
def test_orders_that_matter(bench: AcceptorBench, check: Check, piece: str) -> None:
    check.stimulus("three times in a row", steps=PIECES[piece])
    hold(bench, check, PIECES[piece] * 3)


@pytest.mark.parametrize("number", range(3))
@rule("NJ-1.28N(f)/any-order")
def test_any_order_of_events(bench: AcceptorBench, check: Check, number: int) -> None:
    at_random(check, partial(hold, bench, check), STIMULI, PIECES, walks=WALKS, length=LENGTH, begins=number)


def hold(bench: AcceptorBench, check: Check, steps: list[str]) -> None:
    """One walk, and what must be so at its end."""
    walk = Walk(bench)
    walk.along(steps)
    walk.end()
    truth, meters = bench.truth(), bench.meters()
    stacked = bench.stacked_cents()
    known = truth["returned"] + truth["stacked"] + truth["removed"] + truth["in_path"]
    good = [
        check.measure("credited_minus_stacked", walk.credited - stacked),
        check.measure("metered_minus_stacked", meters["bill_in_value"] - stacked),
        check.measure("paper_lost", truth["inserted"] - known),
        check.measure("steps_off_the_chart", len(walk.off_chart)),
    ]
    check.note("a walk's end", stacked=truth["stacked"], returned=truth["returned"], removed=truth["removed"])
    if not all(good):
        check.note("the walk that fails", steps=steps, off_chart=walk.off_chart)

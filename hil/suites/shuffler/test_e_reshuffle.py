"""Around 13:69E-1.28X(e): what follows a door that was opened: a whole reshuffle, and nothing without the key."""

from __future__ import annotations

import pytest
from pitbench_hil.acts import afresh, restart, until_truth
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.shuffler_moves import DOORS, STATES, dealt, press_all

RESHUFFLE, RESUME = "HOUSE-abort-and-reshuffle", "HOUSE-authorised-resume"
MINUTE_MS = 60_000


def opened_and_closed(bench: ShufflerBench, which: str) -> None:
    bench.door(which, is_open=True)
    bench.advance(1000)
    bench.door(which, is_open=False)


def dealt_now(bench: ShufflerBench) -> int:
    """Ask for cards in every way but by unloading; how many came."""
    before = dealt(bench.truth())
    for button in ("deal", "hand"):
        bench.press(button)
        bench.advance(3000)
    return dealt(bench.truth()) - before


@pytest.mark.parametrize(
    "state", [pytest.param(state, marks=rule(f"{RESHUFFLE}/{state}")) for state in ("shuffling", "ready")]
)
def test_whole_reshuffle(still: ShufflerBench, check: Check, state: str) -> None:
    too_early = 0
    for which in DOORS:
        afresh(still)
        still.load(DECK)
        still.press("start")
        if state == "ready":
            still.until("ready", within=30_000)
        else:
            still.advance(3000)
            # A card stands at the gate: the unloading has to take it, too.
            until_truth(still, lambda truth: truth["gate"] == 1)
        check.stimulus("opened and closed, cleared with the key", which=which, state=state)
        opened_and_closed(still, which)
        still.clear()
        too_early += dealt_now(still)
        still.press("start")
        still.advance(10_000)
        too_early += dealt_now(still)
        check.expect("asks to unload", "unload" in still.status()["message"], True)
        with check.duty("serves again once it is unloaded", Unreached):
            still.unload()
            rest = still.truth()
            check.expect("all came out", (rest["rack"], rest["gate"], rest["exit"]), (0, 0, 0))
            still.load(DECK[: 52 - rest["hopper"]])
            still.press("start")
            still.until("ready", "error", within=30_000, step=1000)
    check.measure("dealt_before_reshuffle", too_early)


@rule(RESUME)
def test_nothing_without_the_key(still: ShufflerBench, check: Check) -> None:
    without = 0
    for which in DOORS:
        afresh(still)
        STATES["dealing"](still)
        still.advance(300)
        check.stimulus("opened and closed in a deal", which=which)
        still.door(which, is_open=True)
        before = dealt(still.truth())
        still.door(which, is_open=False)
        still.advance(MINUTE_MS)
        press_all(still)
        still.clear(key=False)
        press_all(still)
        restart(still)
        press_all(still)
        without += dealt(still.truth()) - before
        still.clear()
        check.expect("at rest once cleared with the key", still.status()["standing"], [])
    check.measure("cards_before_authority", without)

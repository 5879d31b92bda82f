"""Around 13:69E-1.28X(e): what follows a door that was opened: a whole reshuffle, and nothing without the key."""

from __future__ import annotations

import pytest
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import DECK, ShufflerBench, Unreached
from pitbench_hil.shuffler_moves import DOORS, STATES, afresh, dealt, press_all

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
def test_whole_reshuffle(fresh: ShufflerBench, check: Check, state: str) -> None:
    too_early = 0
    for which in DOORS:
        afresh(fresh)
        fresh.load(DECK)
        fresh.press("start")
        if state == "ready":
            fresh.until("ready", within=30_000)
        else:
            fresh.advance(3000)
        check.stimulus("opened and closed, cleared with the key", which=which, state=state)
        opened_and_closed(fresh, which)
        fresh.clear()
        too_early += dealt_now(fresh)
        fresh.press("start")
        fresh.advance(10_000)
        too_early += dealt_now(fresh)
        check.expect("asks to unload", "unload" in fresh.status()["message"], True)
        with check.duty("serves again once it is unloaded", Unreached):
            fresh.unload()
            rest = fresh.truth()
            check.expect("all came out", (rest["rack"], rest["gate"], rest["exit"]), (0, 0, 0))
            fresh.load(DECK[: 52 - rest["hopper"]])
            fresh.press("start")
            fresh.until("ready", "error", within=30_000, step=1000)
    check.measure("dealt_before_reshuffle", too_early)


@rule(RESUME)
def test_nothing_without_the_key(fresh: ShufflerBench, check: Check) -> None:
    without = 0
    for which in DOORS:
        afresh(fresh)
        STATES["dealing"](fresh)
        fresh.advance(300)
        check.stimulus("opened and closed in a deal", which=which)
        fresh.door(which, is_open=True)
        before = dealt(fresh.truth())
        fresh.door(which, is_open=False)
        fresh.advance(MINUTE_MS)
        press_all(fresh)
        fresh.clear(key=False)
        press_all(fresh)
        fresh.cut()
        fresh.power_on()
        fresh.advance(3000)
        press_all(fresh)
        without += dealt(fresh.truth()) - before
        fresh.clear()
        check.expect("at rest once cleared with the key", fresh.status()["standing"], [])
    check.measure("cards_before_authority", without)

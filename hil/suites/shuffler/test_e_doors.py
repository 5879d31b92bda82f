"""13:69E-1.28X(e): a door opened while cards are shuffled is detected, and halts dealing at once."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench_hil.acts import afresh
from pitbench_hil.check import Check
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_moves import (
    DEAL_MOMENTS,
    DOORS,
    SHUFFLE_STEPS,
    WAIT_MS,
    dealt,
    last_event,
    moved,
    press_all,
    to_continuous,
    to_moment,
    to_ready,
    to_step,
    to_step_of_recycling,
)

CLAUSE = "NJ-1.28X(e)"
# A card put into its slot is between two cards only if another one comes.
CARDS_BEFORE: dict[str, tuple[int, ...]] = {"loading": (0,), "between-cards": (0, 1, 3)}
FIRST_MIDDLE_LAST = (0, 2, 4)
SHORT_MS, MOMENTS = 100, range(0, 240, 20)
NEVER_MS = 10_000
LICENCE = {"what": "entry", "who": "A. Dealer", "licence": "1234", "reason": "dealing"}


def open_door(bench: ShufflerBench, check: Check, which: str, **where: Any) -> dict[str, Any]:
    """Open it, measure how long the device takes to tell, and return the plant's truth at the opening."""
    last = last_event(bench)
    check.stimulus("door opened", which=which, **where)
    since = bench.do("door", which=which, open=True)["now"]
    truth = bench.truth()
    bench.advance(100)
    told = bench.events(last)
    behind = [number for number, event in enumerate(told) if event[2] == DOORS[which]]
    ms = told[behind[0]][1] - since if behind else NEVER_MS
    check.measure("detected_after", ms, unit="ms", uncertainty=0.0)  # both by the device's own clock
    check.measure("events_before_it", behind[0] if behind else len(told), unit="events")
    return truth


def unnoticed(bench: ShufflerBench, which: str) -> int:
    """1 unless status, light, display and log tell of the door."""
    status = bench.status()
    logged = DOORS[which] in bench.logged()
    shown = DOORS[which] in status["standing"] and status["light"] == "red"
    return 0 if shown and logged else 1


@pytest.mark.parametrize(
    "step", [pytest.param(step, marks=rule(f"{CLAUSE}/shuffling/{step}")) for step in ("loading", *SHUFFLE_STEPS)]
)
def test_opened_while_shuffling(still: ShufflerBench, check: Check, step: str) -> None:
    undetected = 0
    for which in DOORS:
        for cards_before in CARDS_BEFORE.get(step, FIRST_MIDDLE_LAST):
            afresh(still)
            to_step(still, step, cards_before)
            open_door(still, check, which, step=step, cards_before=cards_before)
            undetected += unnoticed(still, which)
    check.measure("undetected", undetected)


@pytest.mark.parametrize(
    "step", [pytest.param(step, marks=rule(f"{CLAUSE}/shuffling/{step}")) for step in ("loading", *SHUFFLE_STEPS)]
)
@needs("access")
def test_opened_while_cards_come_back(still: ShufflerBench, check: Check, step: str) -> None:
    """The same in a device that recycles."""
    undetected = 0
    for which in DOORS:
        afresh(still)
        to_continuous(still)
        to_step_of_recycling(still, step)
        open_door(still, check, which, step=step, recycling=True)
        undetected += unnoticed(still, which)
    check.measure("undetected", undetected)


@rule(f"{CLAUSE}/short-opening")
def test_short_opening(still: ShufflerBench, check: Check) -> None:
    undetected = openings = 0
    for which in DOORS:
        for moment in MOMENTS:
            afresh(still)
            to_step(still, "feeding", 1)
            still.advance(moment)
            check.stimulus("opened and closed", which=which, within_ms=SHORT_MS, moment_ms=moment)
            still.door(which, is_open=True)
            still.advance(SHORT_MS)
            still.door(which, is_open=False)
            openings += 1
            undetected += unnoticed(still, which)
    check.measure("undetected", undetected)
    check.measure("openings", openings)


@pytest.mark.parametrize(
    "moment", [pytest.param(moment, marks=rule(f"{CLAUSE}/dealing/{moment}")) for moment in DEAL_MOMENTS]
)
def test_opened_while_dealing(still: ShufflerBench, check: Check, moment: str) -> None:
    left = 0
    for which, reach, mode in (("service", to_ready, "plain"), ("shroud", to_continuous, "continuous")):
        afresh(still)
        reach(still)
        to_moment(still, moment)
        before = open_door(still, check, which, moment=moment, mode=mode)
        still.advance(WAIT_MS)
        left += dealt(still.truth()) - dealt(before)
        check.expect("told", unnoticed(still, which), 0)
        if moment == "card-in-exit":
            check.expect("the card in the exit stays there", still.truth()["exit"], 1)
    check.measure("cards_after_opening", left)


@rule(f"{CLAUSE}/stays-halted")
def test_stays_halted_while_the_door_is_open(still: ShufflerBench, check: Check) -> None:
    still.commission()
    to_ready(still)
    to_moment(still, "card-in-exit")
    check.stimulus("service door opened in a deal, and left open")
    still.door("service", is_open=True)
    before = still.truth()
    for start in ("as it stands", "after a power cut"):
        check.stimulus("every button, the key and every role", when=start)
        still.do("key", turned=True)
        still.press("clear")
        press_all(still)
        for role in ("attendant", "technician", "regulator"):
            still.prove("service", role, f"entry|{' '.join(list(LICENCE.values())[1:])}", **LICENCE)
        still.power_cycle()
        still.advance(WAIT_MS)
    press_all(still)
    check.measure("cards_moved", moved(before, still.truth()))
    check.expect("standing", "service_door" in still.status()["standing"], True)

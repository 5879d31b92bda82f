"""13:69E-1.28X(b), and every door in every state: no card moves, and each opening is shown and logged."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench_hil.acts import afresh
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_moves import DOORS, STATES, WAIT_MS, moved, press_all

SENSED, OPENINGS, LOGGED = "NJ-1.28X(b)1/shroud-sensed", "NJ-1.28X(b)2/openings-sensed", "HOUSE-door-log"


def told_of(bench: ShufflerBench, name: str) -> list[tuple[str, str]]:
    """What the log tells of a door: entry and state that it met."""
    return [(entry[4], entry[5]) for entry in bench.log() if entry[4].startswith(name)]


def missing(found: list[Any], wanted: list[Any]) -> int:
    """How many of those wanted don't stand there, in that order."""
    rest = iter(found)
    return sum(entry not in rest for entry in wanted)


@pytest.mark.parametrize("state", STATES)
@rule(SENSED)
def test_shroud_open(still: ShufflerBench, check: Check, state: str) -> None:
    STATES[state](still)
    check.stimulus("shroud opened; then every button, with the key and without", state=state)
    still.door("shroud", is_open=True)
    before = still.truth()
    still.advance(WAIT_MS)
    press_all(still)
    still.do("key", turned=True)
    still.press("clear")
    press_all(still)
    check.measure("cards_moved", moved(before, still.truth()))
    check.expect("told", "shroud" in still.status()["standing"], True)


@pytest.mark.parametrize("which", DOORS)
@rule(OPENINGS, LOGGED)
def test_each_opening(still: ShufflerBench, check: Check, which: str) -> None:
    name = DOORS[which]
    unnoticed = lost = 0
    for state, reach in STATES.items():
        afresh(still)
        reach(still)
        before = told_of(still, name)
        check.stimulus("opened and closed, twice; power cut at once", which=which, state=state)
        for _ in range(2):
            still.door(which, is_open=True)
            status = still.status()
            unnoticed += name not in status["standing"] or status["light"] != "red"
            still.door(which, is_open=False)
        still.power_cycle()
        told = told_of(still, name)[len(before) :]
        wanted = [(name, state), (f"{name}_closed", "error"), (name, "error"), (f"{name}_closed", "error")]
        unnoticed += missing(told, [wanted[0], wanted[2]])
        lost += missing(told, wanted)
        status = still.status()
        check.expect(f"{state}: still told after the cut", name in status["standing"], True)
    check.measure("unnoticed", unnoticed, rule=OPENINGS)
    check.measure("missing_entries", lost, rule=LOGGED)

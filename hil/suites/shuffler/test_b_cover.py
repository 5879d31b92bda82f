"""13:69E-1.28X(b), and every door in every state: no card moves, and each opening is shown and logged."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_moves import DOORS, STATES, WAIT_MS, afresh, moved, press_all

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
def test_shroud_open(fresh: ShufflerBench, check: Check, state: str) -> None:
    fresh.start()
    STATES[state](fresh)
    check.stimulus("shroud opened; then every button, with the key and without", state=state)
    fresh.door("shroud", is_open=True)
    before = fresh.truth()
    fresh.advance(WAIT_MS)
    press_all(fresh)
    fresh.do("key", turned=True)
    fresh.press("clear")
    press_all(fresh)
    check.measure("cards_moved", moved(before, fresh.truth()))
    check.expect("told", "shroud" in fresh.status()["standing"], True)


@pytest.mark.parametrize("which", DOORS)
@rule(OPENINGS, LOGGED)
def test_each_opening(fresh: ShufflerBench, check: Check, which: str) -> None:
    name = DOORS[which]
    unnoticed = lost = 0
    for state, reach in STATES.items():
        afresh(fresh)
        reach(fresh)
        before = told_of(fresh, name)
        check.stimulus("opened and closed, twice; power cut at once", which=which, state=state)
        for _ in range(2):
            fresh.door(which, is_open=True)
            status = fresh.status()
            unnoticed += name not in status["standing"] or status["light"] != "red"
            fresh.door(which, is_open=False)
        fresh.cut()
        fresh.power_on()
        told = told_of(fresh, name)[len(before) :]
        wanted = [(name, state), (f"{name}_closed", "error"), (name, "error"), (f"{name}_closed", "error")]
        unnoticed += missing(told, [wanted[0], wanted[2]])
        lost += missing(told, wanted)
        status = fresh.status()
        check.expect(f"{state}: still told after the cut", name in status["standing"], True)
    check.measure("unnoticed", unnoticed, rule=OPENINGS)
    check.measure("missing_entries", lost, rule=LOGGED)

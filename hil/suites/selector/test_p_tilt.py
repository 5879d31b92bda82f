"""13:69E-1.28P(g): a malfunction ends it at once and alerts, until somebody with the key has seen to it."""

from __future__ import annotations

import pytest
from pitbench_hil.acts import restart
from pitbench_hil.check import Check
from pitbench_hil.errors_raised import Error, named, raised
from pitbench_hil.marks import rule
from pitbench_hil.selector import SelectorBench
from pitbench_hil.selector_errors import DISPLAY, DOOR, ERRORS, HOUSING, PROGRAM, SOURCE, STORE

TILT = "NJ-1.28P(g)/tilt"
EACH = [pytest.param(error, id=error.name, marks=rule(f"{TILT}/{error.name}")) for error in ERRORS]
# A self-test without its cause in sight passes: the key's holder is believed.
GONE = (PROGRAM, SOURCE)


def unalerted(bench: SelectorBench, error: Error) -> list[str]:
    """The alerts that are missing."""
    status = bench.status()
    there = {
        "state": status["state"] == "error",
        "condition": error.condition in status["standing"],
        "light": status["light"] == "red",
        "message": named(status, error),
        "event": error.condition in bench.told(),
        # A store that fails can't have it on its log.
        "log": error is STORE or error.condition in bench.logged(),
    }
    return [alert for alert, given in there.items() if not given]


@pytest.mark.parametrize("error", EACH)
def test_malfunction(still: SelectorBench, check: Check, error: Error) -> None:
    selections = figures = missing = 0
    for way in error.ways:
        check.stimulus(error.name, way=way)
        raised(still, error, way)
        missing += _noted(check, unalerted(still, error))
        before, shown = still.status()["round"], len(still.figures())
        still.press_all()
        still.clear(key=False)
        missing += _noted(check, unalerted(still, error))
        if error not in GONE:
            still.clear()
            missing += still.status()["light"] != "red"
        selections += still.status()["round"] - before
        # What a display that is stuck shows nobody can take away: red light and message say so.
        stuck = error is DISPLAY and way.startswith("stuck")
        figures += len(still.figures()) - shown + (still.display() > 0 and not stuck)
        error.end(still)
        missing += still.status()["light"] != "red" and error is not STORE
        still.clear()
        check.expect(f"{way}: cleared", still.status()["standing"], [])
    check.measure("selections", selections)
    check.measure("figures", figures)
    check.measure("unalerted", missing)


def _noted(check: Check, missing: list[str]) -> int:
    if missing:
        check.note("alerts missing", alerts=missing)
    return len(missing)


@pytest.mark.parametrize(
    "door", [pytest.param(door, id=door.name, marks=rule(f"{TILT}/{door.name}")) for door in (DOOR, HOUSING)]
)
def test_open_at_the_start(bench: SelectorBench, check: Check, door: Error) -> None:
    check.stimulus("started with it open")
    door.ways["idle"](bench)
    restart(bench)
    before = bench.status()["round"]
    check.measure("unalerted", len(set(unalerted(bench, door)) - {"event"}))
    bench.press_all()
    check.measure("selections", bench.status()["round"] - before)
    check.measure("figures", bench.display())
    door.end(bench)
    restart(bench)
    check.expect("stands until cleared", bench.status()["standing"], [door.condition])

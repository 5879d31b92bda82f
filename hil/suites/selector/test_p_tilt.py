"""13:69E-1.28P(g): a malfunction ends it at once and alerts, until somebody with the key has seen to it."""

from __future__ import annotations

import pytest
from pitbench_hil.board_bench import afresh
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.selector import SelectorBench
from pitbench_hil.selector_errors import MALFUNCTIONS, NOTICED_MS, OPEN, Malfunction, restart

EACH = [pytest.param(each, id=each.part, marks=rule(f"NJ-1.28P(g)/tilt/{each.part}")) for each in MALFUNCTIONS]


def unalerted(bench: SelectorBench, malfunction: Malfunction) -> list[str]:
    """The alerts that are missing."""
    status = bench.status()
    # A store that fails can't have it on its log.
    stored = malfunction.condition == "memory_error" or malfunction.condition in bench.logged()
    there = {
        "state": status["state"] == "error",
        "condition": malfunction.condition in status["standing"],
        "light": status["light"] == "red",
        "message": malfunction.says in status["message"],
        "event": malfunction.condition in bench.told(),
        "log": stored,
    }
    return [alert for alert, given in there.items() if not given]


@pytest.mark.parametrize("malfunction", EACH)
def test_malfunction(new: SelectorBench, check: Check, malfunction: Malfunction) -> None:
    selections = figures = missing = 0
    for way, act in malfunction.ways.items():
        for state, reach in OPEN.items():
            afresh(new)
            new.ready()
            reach(new)
            check.stimulus(malfunction.part, way=way, state=state)
            act(new)
            new.advance(NOTICED_MS)
            missing += _noted(check, unalerted(new, malfunction))
            before, shown = new.status()["round"], len(new.figures())
            new.press_all()
            new.clear(key=False)
            missing += _noted(check, unalerted(new, malfunction))
            if malfunction.part not in ("program", "source"):
                new.clear()
                missing += new.status()["light"] != "red"
            selections += new.status()["round"] - before
            dark = malfunction.part == "display" and way == "stuck"
            figures += len(new.figures()) - shown + (new.display() > 0 and not dark)
            malfunction.end(new)
            if malfunction.part not in ("source", "store"):
                missing += new.status()["light"] != "red"
            new.clear()
            check.expect(f"{way}, {state}: cleared", new.status()["standing"], [])
    check.measure("selections", selections)
    check.measure("figures", figures)
    check.measure("unalerted", missing)


def _noted(check: Check, missing: list[str]) -> int:
    if missing:
        check.note("alerts missing", alerts=missing)
    return len(missing)


@rule("NJ-1.28P(g)/tilt/door")
def test_open_at_the_start(bench: SelectorBench, check: Check) -> None:
    door = MALFUNCTIONS[0]
    check.stimulus("started with the door open")
    door.ways["opened"](bench)
    restart(bench)
    before = bench.status()["round"]
    check.measure("unalerted", len(set(unalerted(bench, door)) - {"event"}))
    bench.press_all()
    check.measure("selections", bench.status()["round"] - before)
    check.measure("figures", bench.display())
    door.end(bench)
    restart(bench)
    check.expect("stands until cleared", bench.status()["standing"], ["service_door"])

"""9 NYCRR 5321.12(f) and 5321.15(d): a signal stands as long as a door is open or something doesn't work."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_errors import (
    CAMERA_FAILED,
    JAM_AT_EXIT,
    SERVICE_DOOR,
    SHROUD,
    Error,
    named,
    raised,
    shown,
)

CLAUSES = ("NY-5321.12(f)/shuffler-signal", "NY-5321.15(d)/shuffler-signal")
MINUTE_MS = 60_000
# Cleared without a mend, it is the self-test that finds it again.
MALFUNCTION = replace(CAMERA_FAILED, says=(*CAMERA_FAILED.says, "Self-test failed"))
# Part of the rules -> error, its way, and what stands beside it.
CASES: dict[str, tuple[Error, str, Error]] = {
    "service-door": (SERVICE_DOOR, "shuffling", SHROUD),
    "shroud": (SHROUD, "shuffling", SERVICE_DOOR),
    "malfunction": (MALFUNCTION, "shuffling", SHROUD),
    "jam": (JAM_AT_EXIT, "dealing", SHROUD),
}


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=rule(*(f"{clause}/{part}" for clause in CLAUSES))) for part in CASES]
)
def test_signal(still: ShufflerBench, check: Check, part: str) -> None:
    error, way, other = CASES[part]
    check.expect("light before", still.status()["light"], "green")
    check.stimulus("raised", error=error.name)
    raised(still, error, way)
    unshown = is_unshown(still, error)
    check.stimulus("another beside it, whose cause goes again; clear pressed with the key", other=other.name)
    other.ways["idle"](still)
    unshown += still.status()["light"] != "red"
    other.end(still)
    still.clear()
    still.advance(MINUTE_MS)
    unshown += is_unshown(still, error)
    check.stimulus("cleared")
    error.end(still)
    still.clear()
    status = still.status()
    check.expect("no signal any more", (status["light"] == "red", named(status, error)), (False, False))
    for clause in CLAUSES:
        check.measure("unshown", unshown, rule=f"{clause}/{part}")


def is_unshown(bench: ShufflerBench, error: Error) -> bool:
    """Whether light or message doesn't tell of it."""
    status = bench.status()
    return not (shown(status, error) and named(status, error))

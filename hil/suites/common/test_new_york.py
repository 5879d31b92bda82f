"""9 NYCRR 5321.12(f) and 5321.15(d): a signal stands as long as a door is open or something doesn't work."""

from __future__ import annotations

from typing import Any

from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.errors_raised import Error, named, raised, shown

MINUTE_MS = 60_000


def test_signal(still: AttendedBench, device: Device[Any], check: Check, signal: str) -> None:
    error, way, other = device.signals[signal]
    check.expect("calm before", still.status()["light"] in device.calm, True)
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
    check.measure("unshown", unshown)


def is_unshown(bench: AttendedBench, error: Error) -> bool:
    """Whether light or message doesn't tell of it."""
    status = bench.status()
    return not (shown(status, error) and named(status, error))

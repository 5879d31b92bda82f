"""9 NYCRR 5321.11: memory is cleared after the meters were read, or an attempt was recorded, as they stand (HOUSE)."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench_hil.access_rights import ATTEMPT, CLEAR, WRONG, asked_by
from pitbench_hil.acts import Act, ask
from pitbench_hil.attended_bench import TECHNICIAN, AttendedBench
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.marks import needs, rule

READINGS: dict[str, Act] = {
    "meters read": ask("meters"),
    "attempt recorded": lambda bench: asked_by(bench, ATTEMPT, TECHNICIAN),
}


@pytest.mark.parametrize("how", READINGS)
@rule("HOUSE-memory-clear")
@needs("access")
def test_a_game_asks_for_a_new_reading(bench: AttendedBench, device: Device[Any], check: Check, how: str) -> None:
    bench.commission()
    check.expect("before the meters were read", asked_by(bench, CLEAR, TECHNICIAN), "refused")
    check.stimulus("games behind it", reading=how)
    READINGS[how](bench)
    device.play(bench, lambda: None)
    open_all(bench, device)
    check.expect("after the games", asked_by(bench, CLEAR, TECHNICIAN), "refused")
    check.stimulus("once more", reading=how)
    READINGS[how](bench)
    check.expect("without authority", asked_by(bench, CLEAR, TECHNICIAN, WRONG), "auth")
    check.expect("with authority", asked_by(bench, CLEAR, TECHNICIAN), "")
    check.expect("meters that are not zero", [name for name, value in bench.do("meters").items() if value], [])
    check.expect("on the log, by whom", CLEAR.seen(bench), [TECHNICIAN])


def open_all(bench: AttendedBench, device: Device[Any]) -> None:
    """Every door, lid and lock opened: nothing is under way any more that a clear would have to wait for."""
    for opening in device.openings:
        opening.ways["idle"](bench)

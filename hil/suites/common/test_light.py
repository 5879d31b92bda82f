"""13:69E-1.28K(f): the tower light shows every security event and malfunction until it is cleared."""

from __future__ import annotations

from typing import Any

from pitbench_hil.acts import restart
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.errors_raised import Error, Fault
from pitbench_hil.marks import rule

ALARM = "red"
LONG_MS = 60_000


def light(bench: AttendedBench) -> str:
    return str(bench.status()["light"])


@rule("NJ-1.28K(f)/tower-light")
def test_light_stands_until_cleared(bench: AttendedBench, device: Device[Any], check: Check, fault: Fault) -> None:
    check.expect("calm while idle", light(bench) in device.calm, True)
    check.stimulus("raised", fault=fault.name)
    fault.make(bench)
    check.expect("stands", fault.name in bench.status()["standing"], True)
    check.expect("light at once", light(bench), ALARM)
    for button in device.buttons:
        bench.press(button)
    bench.advance(LONG_MS)
    check.expect("light, whatever is pressed, a minute later", light(bench), ALARM)
    check.stimulus("cause taken away")
    fault.end(bench)
    if fault.by_clear:
        check.expect("light before it is cleared", light(bench), ALARM)
        bench.clear(key=False)
        check.expect("light when cleared without the key", light(bench), ALARM)
    bench.clear()
    check.expect("light cleared", light(bench) == ALARM, False)
    device.to_idle(bench)
    bench.advance(1000)
    check.expect("calm once idle again", light(bench) in device.calm, True)


@rule("NJ-1.28K(f)/tower-light")
def test_light_stays_for_the_other(bench: AttendedBench, device: Device[Any], check: Check, opening: Error) -> None:
    other = next(error for error in device.openings if error is not opening)
    check.stimulus("two opened, one closed and cleared", left=opening.name, cleared=other.name)
    for error in (opening, other):
        error.ways["idle"](bench)
    other.end(bench)
    bench.clear()
    check.expect("light with one left open", light(bench), ALARM)
    restart(bench)
    check.expect("light after a power cycle", light(bench), ALARM)


@rule("NJ-1.28K(f)/tower-light")
def test_a_working_device_raises_no_alarm(bench: AttendedBench, device: Device[Any], check: Check) -> None:
    check.stimulus("a whole game without a fault")
    seen = {light(bench)}
    device.play(bench, lambda: seen.add(light(bench)))
    seen.add(light(bench))
    check.expect("alarms", ALARM in seen, False)

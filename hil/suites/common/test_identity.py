"""13:69E-1.28(h): the device does what its identity says, and its version is one, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from pitbench.image import Image
from pitbench.link import LinkError
from pitbench_hil.access_rights import ATTEMPT
from pitbench_hil.acts import afresh
from pitbench_hil.attended_bench import TECHNICIAN, AttendedBench
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.claims import calendar_works, clock_works, expect_kept, says_bench, still_clock_works
from pitbench_hil.common_device import Device
from pitbench_hil.errors_raised import named
from pitbench_hil.marks import images, rule
from pitbench_hil.prototype import expect_one_version

Trial = Callable[[Any], bool]


def doors_work(device: Device[Any], bench: AttendedBench) -> bool:
    """Each that is opened is noticed, until it is closed and cleared."""
    for opening in device.openings:
        opening.ways["idle"](bench)
        noticed = bench.status()["standing"]
        opening.end(bench)
        bench.clear()
        if noticed != [opening.condition] or bench.status()["standing"]:
            return False
        device.to_idle(bench)
    return True


def display_works(device: Device[Any], bench: AttendedBench) -> bool:
    """What it displays is another text once something is open, and names it."""
    opening, before = device.openings[-1], bench.status()
    opening.ways["idle"](bench)
    after = bench.status()
    opening.end(bench)
    bench.clear()
    device.to_idle(bench)
    return after["message"] != before["message"] and named(after, opening)


def access_works(bench: AttendedBench) -> bool:
    """What takes a proof is done for who proves a role, and not without."""
    afresh(bench)
    bench.commission()
    without = refusal(bench.do, ATTEMPT.op, **ATTEMPT.by(TECHNICIAN, ""))
    return without == "auth" and not bench.prove(ATTEMPT.op, TECHNICIAN, ATTEMPT.asked)


def raw_entropy_works(bench: AttendedBench) -> bool:
    """A source that is stuck at the bench's word gives no challenge."""
    bench.do("entropy", how="stuck")
    dead = refusal(bench.do, "challenge")
    afresh(bench)
    return dead == "entropy"


def store_fault_works(device: Device[Any], bench: AttendedBench) -> bool:
    """A write that is made to fail is a memory error."""
    next(fault for fault in device.faults if fault.name == "memory_error").make(bench)
    broken = "memory_error" in bench.status()["standing"]
    afresh(bench)
    return broken


def trials(device: Device[Any]) -> dict[str, Trial]:
    """Capability -> whether the device has it."""
    return {
        "doors": partial(doors_work, device),
        "lcd": partial(display_works, device),
        "access": access_works,
        "bench": says_bench,
        "advance": clock_works,
        "calendar": calendar_works,
        "still_clock": still_clock_works,
        "raw_entropy": raw_entropy_works,
        "store_fault": partial(store_fault_works, device),
        **device.trials,
    }


@rule("NJ-1.28(h)/as-represented")
def test_identity_does_not_overstate(bench: AttendedBench, device: Device[Any], check: Check) -> None:
    known = trials(device)
    claims = {f"cap {cap}": known.get(cap) for cap in bench.link.hello()["caps"]}
    expect_kept(check, bench, claims, lambda: afresh(bench))


@rule("NJ-1.28(h)/as-represented")
def test_settings_are_taken_as_far_as_they_are_declared(
    bench: AttendedBench, device: Device[Any], check: Check
) -> None:
    bench.commission()
    overstated = 0
    for settings in (device.settings.most, device.settings.least):
        for name, value in settings.items():
            check.stimulus("declared setting made", name=name, value=value)
            taken = answer_to(bench, name, value)
            check.expect(f"{name} {value}", taken, "")
            overstated += taken != ""
    for name, value in device.settings.beyond:
        check.expect(f"{name} {value}", answer_to(bench, name, value), "refused")
    check.measure("overstated", overstated)


def answer_to(bench: AttendedBench, name: str, value: object) -> str:
    """The error code for a setting, "" where it was taken."""
    try:
        return "" if bench.configure(**{name: value})[name] == value else "another value"
    except LinkError as error:
        return error.code


@rule("NJ-1.28(h)/version-matches")
@images("bench", "release")
def test_version_is_one(fresh: AttendedBench, check: Check, image: Image) -> None:
    expect_one_version(check, fresh.board, image)
    check.expect("protocol", fresh.link.identity["wire"], image.wire)
    check.stimulus("power cycle")
    fresh.power_cycle()
    expect_one_version(check, fresh.board, image)

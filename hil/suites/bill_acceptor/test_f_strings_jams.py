"""13:69E-1.28N(f): credited is stacked, when a string pulls a note back, and when it jams near the lever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from pitbench import items
from pitbench.link import LinkError
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.acceptor_money import agrees
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

PULL_EVERY_MS = 80
# From the stack command to the lever, and on until a device has to notice the string.
STACKING_MS = 1500
# The leading edge where the lever is reached, and where the trailing edge has passed it; mm, notes of 156 mm.
LEVER_MM, PASSED_MM = 260, 416
RETURN_MS = 700


def pull(till: Till) -> bool:
    """A hand pulls. False when there is nothing to be had."""
    try:
        till.bench.do("pull")
    except LinkError:
        return False
    return True


def strung_and_stacking(till: Till) -> None:
    """A note on a string, on its way from escrow."""
    till.insert(items.strung(20))
    till.until(Status.STACKING)


@rule("NJ-1.28N(f)/pulled-before-vend-valid")
@pytest.mark.parametrize("first", [0, PULL_EVERY_MS])
def test_pulled_on_the_way_to_the_lever(till: Till, check: Check, first: int) -> None:
    for moment in range(first, STACKING_MS, 2 * PULL_EVERY_MS):
        strung_and_stacking(till)
        till.bench.advance(moment)
        position = till.bench.truth()["position"]
        check.stimulus("string pulled before the host polls again", ms_after_stack=moment, mm=position)
        begin = len(till.heard)
        pulled = pull(till)
        till.run(600)
        check.expect("pulled out", pulled, True)
        reported = Status.CHEATED in {frame.cmd for frame in till.heard[begin:]}
        check.expect(f"cheat reported, pulled at {position} mm", reported, True)
        till.attend()
        if not agrees(check, till, f"pulled at {position} mm") or not reported:
            return


@rule("NJ-1.28N(f)/pulled-before-vend-valid")
def test_pulled_from_escrow(till: Till, check: Check) -> None:
    till.vouchers.unanswered = 1000
    till.insert(replace(till.voucher(), string=1))
    till.until(Status.HOLDING, Status.ESCROW)
    check.stimulus("string pulled while the item is held in escrow")
    begin = len(till.heard)
    pull(till)
    till.run(600)
    check.expect("cheat reported", Status.CHEATED in {frame.cmd for frame in till.heard[begin:]}, True)
    till.attend()
    agrees(check, till, "pulled from escrow")


@rule("NJ-1.28N(f)/pulled-after-vend-valid")
@pytest.mark.parametrize("paper", [items.strung(20), items.genuine(20)], ids=["strung", "plain"])
def test_what_was_reported_valid_stays(till: Till, check: Check, paper: items.Item) -> None:
    returned = 0
    for moment in range(0, STACKING_MS, 4 * PULL_EVERY_MS):
        before, begin = till.bench.truth()["returned"], len(till.heard)
        till.insert(paper)
        till.until(Status.VEND_VALID, Status.CHEATED, step=50)
        valid = Status.VEND_VALID in {frame.cmd for frame in till.heard[begin:]}
        till.run(moment)
        check.stimulus("pulled", ms_after_report=moment, reported_valid=valid, got_hold=pull(till))
        returned += (till.bench.truth()["returned"] - before) * valid
        till.run(1000)
        till.attend()
        if not agrees(check, till, f"pulled {moment} ms after the report") or returned:
            break
    check.measure("returned_after_vend", returned)


def _stuck_pusher(till: Till) -> None:
    till.insert(till.note(20))
    till.until(Status.STACKING)
    till.bench.do("break", part="stack_motor", how="stall")


def _heard(till: Till) -> None:
    till.run(3000)


def _unheard(till: Till) -> None:
    till.bench.advance(3000)


def _unheard_for_long(till: Till) -> None:
    till.bench.advance(8000)


def _cut(till: Till) -> None:
    till.bench.advance(3000)
    till.cut()
    till.power_on()
    till.run(2000)


MEANWHILE: dict[str, Callable[[Till], None]] = {
    "host polls": _heard,
    "host silent": _unheard,
    "host silent for long": _unheard_for_long,
    "power cut": _cut,
}


@rule("NJ-1.28N(f)/jam-after-lever")
@pytest.mark.parametrize("stack", [Command.STACK_1, Command.STACK_2], ids=["stack-1", "stack-2"])
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_the_pusher_jams_behind_the_lever(till: Till, check: Check, meanwhile: str, stack: Command) -> None:
    till.adopt(stack=stack)
    check.stimulus("pusher stalls with the note past the lever; an attendant clears it", meanwhile=meanwhile)
    _stuck_pusher(till)
    MEANWHILE[meanwhile](till)
    till.run(1000)
    till.attend()
    check.expect("stacked", till.bench.truth()["stacked"], 1)
    agrees(check, till, meanwhile)
    till.take(till.note(5))
    agrees(check, till, "the next note")


@rule("NJ-1.28N(f)/jam-after-lever")
@pytest.mark.parametrize("first", [LEVER_MM + 1, LEVER_MM + 13])
def test_a_note_jams_under_the_lever(till: Till, check: Check, first: int) -> None:
    for sticks_at in range(first, PASSED_MM, 24):
        check.stimulus("note sticks, its trailing edge before the lever; an attendant takes it out", mm=sticks_at)
        till.insert(replace(till.note(20), sticks_at=sticks_at))
        till.run(4000)
        till.attend()
        if not agrees(check, till, f"stuck at {sticks_at} mm"):
            return


@rule("NJ-1.28N(f)/jam-while-returning")
@pytest.mark.parametrize("way_out", ["front", "door"])
def test_a_jam_on_the_way_back_is_no_credit(till: Till, check: Check, way_out: str) -> None:
    for moment in range(0, RETURN_MS, 90):
        till.insert(till.note(20))
        till.until(Status.ACCEPTING)
        till.kiosk.inhibit()
        till.until(Status.RETURNING, Status.REJECTING, step=20)
        till.kiosk.allow()
        till.run(moment, step=30)
        till.bench.do("break", part="transport_motor", how="stall")
        till.run(600)
        check.stimulus("jam on the way back, which then gives way", mm=till.bench.truth()["position"], way_out=way_out)
        till.mend("transport_motor")
        till.run(2500)
        if way_out == "front":
            pull(till)
        till.attend()
        check.expect("stacked", till.bench.truth()["stacked"], 0)
        if not agrees(check, till, f"jam {moment} ms into the return"):
            return


@rule("NJ-1.28N(f)/sensor-fails-while-stacking")
@pytest.mark.parametrize(
    ("sensor", "how"),
    [
        ("entry", "stuck_1"),
        ("centre", "stuck_1"),
        ("exit", "stuck_0"),
        ("exit", "stuck_1"),
        ("lever", "stuck_0"),
        ("lever", "stuck_1"),
    ],
)
def test_a_sensor_sticks_under_the_note(till: Till, check: Check, sensor: str, how: str) -> None:
    for moment in range(0, 601, 200):
        check.stimulus("sensor fails with the note on its way", sensor=sensor, how=how, ms_after_stack=moment)
        till.insert(till.note(20))
        till.until(Status.STACKING, step=50)
        till.run(moment, step=50)
        till.bench.do("break", part=sensor, how=how)
        till.run(3000)
        till.mend(sensor)
        till.attend()
        if not agrees(check, till, f"{sensor} {how} after {moment} ms"):
            return

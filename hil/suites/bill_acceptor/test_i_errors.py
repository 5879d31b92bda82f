"""13:69E-1.28N(i)2 to 5: nothing is accepted with a door open, the stacker removed or full."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench.protocols.id003 import Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_errors import BOX_FULL, IN_FLIGHT, PHASES, STANDING, Act, Error, expect_signal, signal_rules
from pitbench_hil.acceptor_tempter import NEXT, difference, next_stacked, settle, tempt
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.record_file import forget_data

# The catalogue has no part for it: a box doesn't fill while an item is on its way in.
NO_SUCH_PART = ("stacker-full", "accepting")


def in_every_phase() -> list[Any]:
    cases = []
    for error in STANDING:
        for phase, part, reach in PHASES:
            if (error.name, part) != NO_SUCH_PART:
                mark = rule(f"{error.clause}/{part}", *signal_rules(error))
                cases.append(pytest.param(error, phase, reach, marks=mark, id=f"{error.name}-{phase}"))
    return cases


def of_every_error(part: str) -> list[Any]:
    return [
        pytest.param(error, marks=rule(f"{error.clause}/{part}", *signal_rules(error)), id=error.name)
        for error in STANDING
    ]


@pytest.mark.parametrize(("error", "phase", "reach"), in_every_phase())
def test_error(bench: AcceptorBench, check: Check, error: Error, phase: str, reach: Act) -> None:
    bench.start()
    reach(bench)
    check.stimulus(error.name, phase=phase)
    error.make(bench)
    expect_signal(bench, check, error, "at once")
    tempt(bench)
    expect_signal(bench, check, error, "later")
    truth = bench.truth()["values"]
    before_lever = phase in ("accepting", "escrow")
    check.measure("accepted", next_stacked(bench) + before_lever * truth.get(str(IN_FLIGHT.worth), 0))
    check.measure("credited_minus_stacked", difference(bench))
    check.expect("status", bench.status().cmd, error.status)
    if phase == "idle":
        error.end(bench)
        with check.duty("accepts again once it is cleared", Unreached):
            settle(bench)
            bench.stack(NEXT)


@pytest.mark.parametrize("error", of_every_error("boot"))
def test_standing_at_the_first_start(bench: AcceptorBench, check: Check, error: Error) -> None:
    """The board knows nothing of it: its memory is new."""
    error.make(bench)
    bench.cut()
    forget_data(bench.board.supervisor.flash)
    check.stimulus("first start", with_=error.name)
    bench.power_on()
    tempt(bench)
    check.measure("accepted", bench.truth()["stacked"])
    check.measure("credited_minus_stacked", difference(bench))
    check.expect("standing", bench.state()["standing"], [error.condition])


@pytest.mark.parametrize("error", of_every_error("power-cycle"))
@pytest.mark.parametrize("raised_in", [phase for phase in PHASES if phase[0] in ("idle", "escrow")], ids=lambda p: p[0])
def test_standing_over_a_power_cycle(
    bench: AcceptorBench, check: Check, error: Error, raised_in: tuple[str, str, Act]
) -> None:
    bench.start()
    raised_in[2](bench)
    check.stimulus(error.name, phase=raised_in[0])
    error.make(bench)
    bench.power_cycle()
    expect_signal(bench, check, error, "at the start")
    tempt(bench)
    check.expect("standing", bench.state()["standing"], [error.condition])
    check.measure("accepted", bench.truth()["stacked"])
    check.measure("credited_minus_stacked", difference(bench))


@rule("NJ-1.28N(i)4/stacking")
def test_item_that_fills_the_stacker(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("one place left, two items", count=BOX_FULL - 1)
    bench.do("box", count=BOX_FULL - 1)
    bench.stack(IN_FLIGHT)
    with check.duty("tells that it is full", Unreached):
        bench.until(Status.STACKER_FULL)
    tempt(bench)
    check.measure("accepted", next_stacked(bench))
    check.measure("credited_minus_stacked", difference(bench))
    check.expect("items in the box", bench.truth()["box"], BOX_FULL)


@rule("NJ-1.28N(i)4/idle")
def test_full_box_taken_out_and_put_back_full(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.do("box", count=BOX_FULL)
    check.stimulus("box taken out and put back, not emptied")
    bench.do("box", present=False)
    tempt(bench)
    bench.do("box", present=True)
    tempt(bench)
    check.measure("accepted", bench.truth()["stacked"])
    check.stimulus("box taken out, emptied, put back")
    bench.do("box", present=False)
    bench.do("empty")
    bench.do("box", present=True)
    with check.duty("comes back to idle", Unreached):
        settle(bench)
    check.measure("credited_minus_stacked", difference(bench))

"""13:69E-1.28N(i)1: nothing is accepted while an item can't move on."""

from __future__ import annotations

import pytest
from pitbench.protocols.id003 import ERRORS, Command, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_errors import IN_FLIGHT, JAM_IN_ACCEPTOR, JAM_IN_STACKER, Error, stuck_at
from pitbench_hil.acceptor_tempter import NEXT, difference, next_stacked, settle, tempt
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.record_file import forget_data

JAM = "NJ-1.28N(i)1"
JAMS = {error.name: error for error in (JAM_IN_ACCEPTOR, JAM_IN_STACKER)}
# mm of travel: in the mouth, at the scan head; from escrow (226) to the lever; under the lever (260 to 416).
DRAWN_IN, TO_LEVER, UNDER_LEVER = (20, 100, 200), (226, 245), (262, 300, 414)


def shown(bench: AcceptorBench, check: Check) -> None:
    with check.duty("reports the jam", Unreached):
        bench.until(*ERRORS)


def judge(bench: AcceptorBench, check: Check, before: int = 0) -> None:
    check.measure("accepted", bench.truth()["stacked"] - before)
    check.measure("credited_minus_stacked", difference(bench))


@rule(f"{JAM}/idle")
@pytest.mark.parametrize("name", JAMS)
def test_jam_while_nothing_else_is_under_way(bench: AcceptorBench, check: Check, name: str) -> None:
    bench.start()
    check.stimulus(name)
    JAMS[name].make(bench)
    before = bench.truth()["stacked"]
    tempt(bench)
    judge(bench, check, before)
    JAMS[name].end(bench)
    with check.duty("accepts again once it is cleared", Unreached):
        settle(bench)
        bench.stack(NEXT)
    check.expect("credited minus stacked", difference(bench), 0)


@rule(f"{JAM}/idle")
def test_jam_taken_away_by_the_customer(bench: AcceptorBench, check: Check) -> None:
    """In reach: he pulls it out. Until the host has heard of it and resets, nothing more is taken."""
    bench.start()
    bench.do("insert", item=stuck_at(100))
    shown(bench, check)
    check.stimulus("pulled out of the mouth, another pushed in")
    bench.do("pull")
    tempt(bench, reset=False)
    judge(bench, check)
    check.expect("status", bench.status().cmd, Status.JAM_IN_ACCEPTOR)


@rule(f"{JAM}/accepting")
@pytest.mark.parametrize("at", DRAWN_IN)
def test_jam_while_drawn_in(bench: AcceptorBench, check: Check, at: int) -> None:
    bench.start()
    check.stimulus("item wedges", at_mm=at)
    bench.do("insert", item=stuck_at(at))
    shown(bench, check)
    tempt(bench)
    judge(bench, check)


@rule(f"{JAM}/escrow")
@pytest.mark.parametrize("decision", [Command.STACK_1, Command.STACK_2, Command.RETURN])
def test_jam_with_an_item_in_escrow(bench: AcceptorBench, check: Check, decision: Command) -> None:
    bench.start()
    bench.do("insert", item=stuck_at(226))
    bench.until(Status.ESCROW)
    check.stimulus("wedged where it lies", host=decision.name)
    bench.command(decision)
    shown(bench, check)
    tempt(bench)
    judge(bench, check)


@rule(f"{JAM}/stacking")
@pytest.mark.parametrize(
    ("at", "command"), [(at, Command.STACK_1) for at in (*TO_LEVER, *UNDER_LEVER)] + [(300, Command.STACK_2)]
)
def test_jam_on_the_way_to_the_stacker(bench: AcceptorBench, check: Check, at: int, command: Command) -> None:
    bench.start()
    bench.do("insert", item=stuck_at(at))
    bench.until(Status.ESCROW)
    check.stimulus("item wedges", at_mm=at)
    bench.command(command)
    shown(bench, check)
    tempt(bench)
    judge(bench, check)
    JAM_IN_ACCEPTOR.end(bench)
    with check.duty("accepts again once it is cleared", Unreached):
        settle(bench)
    check.expect("credited minus stacked", difference(bench), 0)


@rule(f"{JAM}/stacking")
@pytest.mark.parametrize("command", [Command.STACK_1, Command.STACK_2])
def test_jam_past_the_lever(bench: AcceptorBench, check: Check, command: Command) -> None:
    """What is irretrievable is credited, though the pusher stalls; nothing more is taken."""
    bench.start()
    check.stimulus("pusher stalls", how=command.name)
    bench.do("break", part="stack_motor", how="stall")
    bench.escrow(IN_FLIGHT)
    bench.command(command)
    with check.duty("reports the item, then the jam", Unreached):
        bench.until(Status.VEND_VALID)
        bench.ack()
        bench.until(Status.JAM_IN_STACKER)
    tempt(bench)
    check.measure("accepted", next_stacked(bench))
    check.measure("credited_minus_stacked", difference(bench))


@pytest.mark.parametrize(
    ("part", "knows"),
    [
        pytest.param("boot", False, marks=rule(f"{JAM}/boot")),
        pytest.param("power-cycle", True, marks=rule(f"{JAM}/power-cycle")),
    ],
)
@pytest.mark.parametrize("name", JAMS)
def test_jam_at_a_start(bench: AcceptorBench, check: Check, name: str, part: str, knows: bool) -> None:
    bench.start()
    JAMS[name].make(bench)
    if not knows:
        # A jam that the start itself could push away is none: the part that made it is still broken.
        bench.do("break", part="stack_motor", how="stall")
    restart(bench, knows)
    check.stimulus("started with it", jam=name, memory="kept" if knows else "new")
    before = bench.truth()["stacked"]
    tempt(bench)
    judge_start(bench, check, before, JAMS[name], knows)


def restart(bench: AcceptorBench, knows: bool) -> None:
    bench.cut()
    if not knows:
        forget_data(bench.board.supervisor.flash)
    bench.power_on()


def judge_start(bench: AcceptorBench, check: Check, before: int, error: Error, knows: bool) -> None:
    judge(bench, check, before)
    if knows:
        check.expect("standing", bench.state()["standing"], [error.condition])
    else:
        check.expect("an error stands", bool(bench.state()["standing"]), True)

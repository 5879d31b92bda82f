"""House rules on escrow time, on telling jams apart, and on clearing errors by a positive act."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pitbench import items
from pitbench.protocols.id003 import ERRORS, Command, Status
from pitbench_hil import acceptor_drives as drives
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

ESCROW_TIME = rule("HOUSE-escrow-time")
JAM_REACH = rule("HOUSE-jam-reach")
POSITIVE_CLEAR = rule("HOUSE-positive-clear")
STEP_MS = 50
# mm of travel: in the mouth, the scan head and before the lever (260); under the lever.
IN_REACH = (30, 100, 200, 240)
BEYOND = (270, 350, 410)


@ESCROW_TIME
@pytest.mark.parametrize("reach", [drives.escrow, drives.holding])
def test_silent_host(bench: AcceptorBench, check: Check, reach: drives.Drive) -> None:
    bench.start()
    reach(bench)
    place, start = bench.truth()["position"], bench.state()["now"]
    check.stimulus("host silent", state=reach.__name__)
    while bench.truth()["position"] == place and bench.state()["now"] - start < 6000:
        bench.advance(STEP_MS)
    waited = (bench.state()["now"] - start) / 1000
    check.measure("returned_after", waited, unit="s", uncertainty=STEP_MS / 1000)
    bench.advance(3000)
    check.expect("returned", bench.truth()["returned"], 1)
    check.expect("reason on the log", [entry[5] for entry in bench.log() if entry[4] == "given_back"], ["host silent"])
    with check.duty("goes on when the host polls again", Unreached):
        bench.until(Status.IDLE)


@ESCROW_TIME
def test_polling_host_keeps_the_item_in_escrow(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(items.genuine(20))
    start = bench.state()["now"]
    check.stimulus("host polls every 2.5 s and silently waits after 7.5 s")
    for _ in range(3):
        bench.advance(2400)
        check.expect("status", bench.status().cmd, Status.ESCROW)
    polled, place = bench.state()["now"], bench.truth()["position"]
    check.note("in escrow", ms=polled - start)
    bench.command(Command.HOLD)
    while bench.truth()["position"] == place and bench.state()["now"] - polled < 6000:
        bench.advance(STEP_MS)
    waited = (bench.state()["now"] - polled) / 1000
    check.measure("returned_after", waited, unit="s", uncertainty=STEP_MS / 1000)


def jam(bench: AcceptorBench, at: int) -> int:
    """Insert a note that sticks at `at` mm and stack it if it comes so far; the error shown."""
    bench.insert(replace(drives.NOTE, sticks_at=at))
    if bench.until(Status.ESCROW, *ERRORS).cmd == Status.ESCROW:
        bench.command(Command.STACK_1)
    return bench.until(*ERRORS).cmd


@JAM_REACH
@pytest.mark.parametrize(
    ("at", "status"),
    [(at, Status.JAM_IN_ACCEPTOR) for at in IN_REACH] + [(at, Status.JAM_IN_STACKER) for at in BEYOND],
)
def test_jam_is_told_by_its_place(bench: AcceptorBench, check: Check, at: int, status: Status) -> None:
    bench.start()
    check.stimulus("note sticks", at_mm=at)
    with check.duty("reports the jam", Unreached):
        check.expect("status", jam(bench, at), status)
    check.expect("place of the note in mm", bench.truth()["position"], at)
    names = {Status.JAM_IN_ACCEPTOR: "jam_acceptor", Status.JAM_IN_STACKER: "jam_stacker"}
    check.expect("standing", bench.state()["standing"], [names[status]])
    check.expect("on the log", [name for name in bench.logged() if name.startswith("jam")], [names[status]])


@JAM_REACH
def test_jam_of_the_pusher(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("pusher stalls with a note on the chute")
    bench.escrow(drives.NOTE)
    bench.do("break", part="stack_motor", how="stall")
    bench.command(Command.STACK_1)
    bench.until(Status.VEND_VALID)
    bench.ack()
    with check.duty("reports the jam", Unreached):
        check.expect("status", bench.until(*ERRORS).cmd, Status.JAM_IN_STACKER)


@POSITIVE_CLEAR
@pytest.mark.parametrize("raised", [drives.stacker_full, drives.cheated, drives.jam_in_acceptor, drives.jam_in_stacker])
def test_cause_gone_is_not_enough(bench: AcceptorBench, check: Check, raised: drives.Drive) -> None:
    bench.start()
    raised(bench)
    check.stimulus("cause taken away, nothing else done", condition=raised.__name__)
    take_cause_away(bench)
    check.measure("accepted_before_act", bench.attempt(drives.NOTE, ms=4000))
    check.expect("still an error", bench.status().cmd in ERRORS, True)
    take_cause_away(bench)
    check.stimulus("reset by the host")
    bench.command(Command.RESET)
    with check.duty("accepts after the act", Unreached):
        bench.ready()
        bench.stack(drives.NOTE)


def take_cause_away(bench: AcceptorBench) -> None:
    """Path cleared through the acceptor's door, box emptied, door closed."""
    bench.do("door", which="acceptor", open=True)
    bench.do("clear_path")
    bench.do("box", count=0)
    bench.do("door", which="acceptor", open=False)
    bench.advance(2000)


@POSITIVE_CLEAR
@pytest.mark.parametrize("raised", [drives.stacker_full, drives.cheated])
def test_power_cycle_is_no_positive_act(bench: AcceptorBench, check: Check, raised: drives.Drive) -> None:
    bench.start()
    raised(bench)
    check.stimulus("cause taken away, power cut and restored", condition=raised.__name__)
    take_cause_away(bench)
    bench.power_cycle()
    check.expect("still standing", bench.state()["standing"], [raised.__name__])
    check.measure("accepted_before_act", bench.attempt(drives.NOTE, ms=3000))


@POSITIVE_CLEAR
def test_reset_with_the_cause_standing_clears_nothing(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    drives.stacker_full(bench)
    check.stimulus("reset and settings with the stacker still full")
    bench.command(Command.RESET)
    bench.configure()
    check.measure("accepted_before_act", bench.attempt(drives.NOTE, ms=3000))
    check.expect("status", bench.status().cmd, Status.STACKER_FULL)

"""13:69E-1.28N(c), (d): the stacker holds what was validated, and its lock is sensed."""

from __future__ import annotations

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, Frame, Status
from pitbench_hil import acceptor_drives as drives
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_outcome import feed
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

STACKER = rule("NJ-1.28N(c)/stacker-holds-what-was-validated")
LOCK = rule("NJ-1.28N(d)/lock-sensed")
VOUCHER, COUPON = "000000012345678901", "000000000500123456"
# Good and bad ones, both stack commands, an item that is returned.
MIXED = (
    (items.genuine(1), Command.STACK_1),
    (items.photocopy(), Command.STACK_1),
    (items.genuine(100, 3), Command.STACK_2),
    (items.voucher(VOUCHER), Command.STACK_2),
    (items.genuine(20, 1), Command.RETURN),
    (items.half(), Command.STACK_1),
    (items.coupon(COUPON), Command.STACK_1),
    (items.voucher(VOUCHER), Command.RETURN),
    (items.genuine(1), Command.STACK_2),
)


@STACKER
def test_stacker_holds_what_was_reported(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    worth = {code: slot.cents for code, slot in bench.speech.table().items()}
    reported: list[Frame] = []
    for item, decision in MIXED:
        check.stimulus("item inserted", item=item.record(), decision=decision.name)
        outcome = feed(bench, item, decision)
        if outcome.said == "validated":
            reported += outcome.escrowed
    truth = bench.truth()
    check.measure("stacked_minus_reported", truth["stacked"] - len(reported))
    notes = [worth[frame.data[0]] for frame in reported if frame.barcode is None]
    check.expect("stacked by worth, notes", notes_of(truth["values"]), sorted(notes))
    check.expect("stacked by number", truth["barcodes"], [frame.barcode for frame in reported if frame.barcode])
    check.expect("reported", len(reported), 5)
    check.expect("on the chute, in the box", [truth["chute"], truth["box"]], [0, truth["stacked"]])


def notes_of(values: dict[str, int]) -> list[int]:
    """Worth of each note in the plant's stacker; a ticket is worth nothing to it."""
    return sorted(int(worth) for worth, count in values.items() for _ in range(count) if int(worth))


@LOCK
def test_unlocked_stacker_stops_acceptance(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("stacker unlocked, item offered")
    bench.do("lock", locked=False)
    check.measure("accepted", bench.attempt(items.genuine(20), ms=3000))
    check.expect("status", bench.status().cmd, Status.STACKER_OPEN)
    check.expect("light", bench.state()["light"], "red")
    check.expect("entries on the log", bench.logged().count("stacker_unlocked"), 1)
    if bench.truth()["in_path"]:
        bench.do("pull")
    check.stimulus("stacker locked again, item offered")
    bench.do("lock", locked=True)
    with check.duty("accepts again", Unreached):
        bench.until(Status.IDLE)
        bench.stack(items.genuine(20))
    check.expect("stacked", bench.truth()["stacked"], 1)


@LOCK
@pytest.mark.parametrize("reach", [drives.accepting, drives.escrow, drives.holding])
def test_unlocked_with_an_item_under_way(bench: AcceptorBench, check: Check, reach: drives.Drive) -> None:
    bench.start()
    reach(bench)
    check.stimulus("stacker unlocked, the host stacks what it is offered", state=reach.__name__)
    bench.do("lock", locked=False)
    bench.command(Command.STACK_1)
    check.measure("accepted", bench.attempt(items.genuine(20), ms=4000))
    check.expect("status", bench.status().cmd, Status.STACKER_OPEN)


@LOCK
def test_unlocked_while_stacking(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    drives.stacking(bench)
    check.stimulus("stacker unlocked while a note is on its way there")
    bench.do("lock", locked=False)
    bench.attempt(items.genuine(20), ms=4000)
    reported = any(frame.cmd == Status.VEND_VALID for frame in bench.seen)
    check.expect("reported, stacked", [int(reported)], [bench.truth()["stacked"]])
    check.stimulus("another note")
    check.measure("accepted", bench.attempt(items.genuine(20), ms=4000))


@LOCK
@pytest.mark.parametrize("is_locked", [False, True])
def test_lock_at_power_up(bench: AcceptorBench, check: Check, is_locked: bool) -> None:
    check.stimulus("started with the stacker unlocked", locked_after_the_start=is_locked)
    bench.do("lock", locked=False)
    bench.power_cycle()
    bench.status()
    bench.command(Command.RESET)
    bench.configure()
    check.measure("accepted", bench.attempt(items.genuine(20), ms=3000))
    if is_locked:
        bench.do("lock", locked=True)
        with check.duty("opens for business once locked", Unreached):
            bench.until(Status.IDLE, Status.ACCEPTING, Status.ESCROW)

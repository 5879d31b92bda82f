"""13:69E-1.28N(f): credited is stacked, wherever the power is cut, and wherever it is cut again during recovery."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.acceptor_line import Fault
from pitbench_hil.acceptor_money import agrees, agrees_on
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

TORN = ("torn_prefix", "torn_zeros", "torn_ff")
CUTS = ("before", *TORN, "after")
# A note takes two seconds from the mouth to the box; a cut every so many ms of it.
INSERTION_MS, CUT_EVERY_MS = 2200, 120
# No device writes so often for one item, nor in one recovery.
MOST_WRITES = 60
NEVER = 1_000_000


def restore(till: Till) -> None:
    """Power on, and let host and device settle."""
    if till.power_on():
        till.settle()


@rule("NJ-1.28N(f)/cut-in-every-state")
@pytest.mark.parametrize(("kind", "first"), [("note", 0), ("note", CUT_EVERY_MS), ("voucher", CUT_EVERY_MS // 2)])
def test_cut_at_any_moment_of_an_insertion(till: Till, check: Check, kind: str, first: int) -> None:
    for moment in range(first, INSERTION_MS, 2 * CUT_EVERY_MS):
        paper = till.paper(kind)
        till.insert(paper)
        till.run(moment)
        check.stimulus("power cut", item=kind, ms_after_insertion=moment, shown=till.bench.state()["state"])
        till.cut()
        restore(till)
        if not agrees_on(check, till, paper, f"cut after {moment} ms"):
            return


@rule("NJ-1.28N(f)/cut-in-every-state")
def test_cut_at_any_moment_when_valid_means_stored(till: Till, check: Check) -> None:
    till.adopt(stack=Command.STACK_2)
    for moment in range(1000, INSERTION_MS, CUT_EVERY_MS):
        check.stimulus("power cut of a note that is stacked by stack-2", ms_after_insertion=moment)
        till.insert(till.note(20))
        till.run(moment)
        till.cut()
        restore(till)
        if not agrees(check, till, f"stack-2, cut after {moment} ms"):
            return


def _returning(till: Till) -> None:
    till.insert(items.voucher("000000000000000001"))
    till.until(Status.RETURNING)


def _rejecting(till: Till) -> None:
    till.insert(items.counterfeit())
    till.until(Status.REJECTING)


def _holding(till: Till) -> None:
    till.vouchers.unanswered = NEVER
    till.insert(till.voucher())
    till.until(Status.HOLDING)
    till.vouchers.unanswered = 0


def _valid_and_unheard(till: Till) -> None:
    """Past the lever, stored, and the host polls no more."""
    till.insert(till.note(20))
    till.until(Status.STACKING)
    till.bench.advance(1500)


def _valid_and_lost(till: Till) -> None:
    """The same, polled once, and the reply is lost."""
    _valid_and_unheard(till)
    till.to_host.count_anew(Fault("lost", 0))
    till.step()
    till.bench.state()  # what followed from the poll is done before the power goes


def _valid_and_unacknowledged(till: Till) -> None:
    till.acknowledges = False
    till.insert(till.note(20))
    till.until(Status.VEND_VALID)
    till.acknowledges = True


def _initialise(till: Till) -> None:
    till.kiosk.reset()
    till.until(Status.INITIALISE, Status.POWER_UP)


def _disabled(till: Till) -> None:
    till.kiosk.inhibit()
    till.until(Status.DISABLED)
    till.kiosk.allow()


def _jammed(till: Till) -> None:
    till.insert(till.note(20))
    till.until(Status.STACKING)
    till.bench.do("break", part="transport_motor", how="stall")
    till.run(1000)
    till.mend("transport_motor")


def _stacker_jammed(till: Till) -> None:
    till.insert(till.note(20))
    till.until(Status.STACKING)
    till.bench.do("break", part="stack_motor", how="stall")
    till.bench.advance(2500)
    till.mend("stack_motor")


REACHED: dict[str, Callable[[Till], None]] = {
    "returning": _returning,
    "rejecting": _rejecting,
    "holding": _holding,
    "vend valid, unheard": _valid_and_unheard,
    "vend valid, reply lost": _valid_and_lost,
    "vend valid, unacknowledged": _valid_and_unacknowledged,
    "initialise": _initialise,
    "disabled": _disabled,
    "jam in acceptor": _jammed,
    "jam in stacker": _stacker_jammed,
}


@rule("NJ-1.28N(f)/cut-in-every-state")
@pytest.mark.parametrize("state", REACHED)
def test_cut_in(till: Till, check: Check, state: str) -> None:
    for host_dies in (False, True):
        REACHED[state](till)
        check.stimulus("power cut", state=state, host_dies=host_dies)
        till.cut()
        if host_dies:
            till.die()
        if till.power_on():
            till.run(2000)
            if till.bench.state()["standing"]:
                till.attend()
            till.settle()
        if not agrees(check, till, f"{state}, host dies: {host_dies}"):
            return
    till.take(till.note(5))
    agrees(check, till, "the next note")


@rule("NJ-1.28N(f)/three-in-a-row")
@pytest.mark.parametrize("moment", range(300, INSERTION_MS, 600))
def test_three_values_and_a_cut_in_the_last(till: Till, check: Check, moment: int) -> None:
    for usd in (5, 20):
        till.take(till.note(usd))
    check.stimulus("5 and 20 stacked, power cut in the 100", ms_after_insertion=moment)
    till.insert(till.note(100))
    till.run(moment)
    till.cut()
    restore(till)
    values = till.bench.truth()["values"]
    check.expect("credits", sorted(c.cents for c in till.kiosk.credits), sorted(int(worth) for worth in values))
    agrees(check, till, "three in a row")


def cut_at(till: Till, kind: str, write: int, how: str) -> items.Item | None:
    """Insert, with the power cut at that store write from now. None when the insertion has fewer writes."""
    paper = till.paper(kind)
    till.insert(paper)
    till.bench.do("store_fault", at=write, how=how)
    till.settle()
    return None if till.on else paper


# Before the n-th write is after the one before it, but for the first. The record has one shape for every kind of item,
# so that tickets are torn in each way in turn.
WRITE_CUTS = [("note", how) for how in CUTS] + [
    (kind, how) for kind in ("coupon", "voucher") for how in ("torn", "after")
]
RECOVERY_CUTS = [("note", "torn"), ("note", "after"), ("coupon", "torn"), ("voucher", "after")]


def how_at(how: str, write: int) -> str:
    """The kind of cut at a write: "torn" takes each way of tearing in turn."""
    return TORN[write % len(TORN)] if how == "torn" else how


def for_rule(rule_id: str, cases: list[tuple[str, str]]) -> pytest.MarkDecorator:
    """Cases of (kind, how), each for the rule's part of that kind."""
    params = [pytest.param(kind, how, marks=rule(f"{rule_id}/{kind}")) for kind, how in cases]
    return pytest.mark.parametrize(("kind", "how"), params)


@for_rule("NJ-1.28N(f)/cut-at-every-write", WRITE_CUTS)
def test_cut_at_every_write(till: Till, check: Check, kind: str, how: str) -> None:
    for write in range(1, MOST_WRITES):
        check.stimulus("power cut at a store write", item=kind, write=write, how=how_at(how, write))
        paper = cut_at(till, kind, write, how_at(how, write))
        if paper is None:
            break
        restore(till)
        if not agrees_on(check, till, paper, f"{how} at write {write}"):
            return
        if how == "before":
            break
    check.expect("store writes of one insertion were cut", write > (how != "before"), True)


@for_rule("NJ-1.28N(f)/second-cut-in-recovery", RECOVERY_CUTS)
def test_cut_again_at_every_write_of_the_recovery(till: Till, check: Check, kind: str, how: str) -> None:
    for write in range(1, MOST_WRITES, 1 if kind == "note" else 2):
        check.stimulus("power cut at a store write", item=kind, write=write, how=how_at(how, write))
        paper = cut_at(till, kind, write, how_at(how, write))
        if paper is None:
            break
        cuts = cut_recoveries(till, write)
        check.stimulus("and again at the first write of the recovery, at the second of the next one …", cuts=cuts)
        if not agrees_on(check, till, paper, f"{how} at write {write}, then {cuts} cuts"):
            return
    check.expect("store writes of one insertion were cut", write > 1, True)


def cut_recoveries(till: Till, turn: int) -> int:
    """Cut each recovery one write later than the one before, until one needs fewer writes. Returns the cuts made."""
    for write in count(1):
        till.bench.board.rig.fault_at_start(write, CUTS[(write + turn) % len(CUTS)])
        restore(till)
        if till.on:
            till.bench.do("store_fault", at=NEVER, how="before")
            return write - 1
    raise AssertionError


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "first byte changed": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "sequence changed": lambda data: data[:4] + bytes([data[4] ^ 0x80]) + data[5:],
    "middle changed": lambda data: data[: len(data) // 2] + b"7" + data[len(data) // 2 + 1 :],
    "last byte changed": lambda data: data[:-1] + bytes([data[-1] ^ 0x10]),
    "shortened": lambda data: data[: len(data) * 2 // 3],
    "zeroed": lambda data: bytes(len(data)),
    "empty": lambda data: b"",
}


@rule("NJ-1.28N(f)/one-damaged-copy")
@pytest.mark.parametrize("copy", ["a", "b"])
def test_one_copy_damaged_while_the_board_is_off(till: Till, check: Check, copy: str) -> None:
    flash, path = till.bench.board.supervisor.flash, f"/data/{copy}"
    for name, damage in DAMAGE.items():
        _valid_and_unheard(till)
        till.cut()
        check.stimulus("one copy of the record damaged", copy=copy, damage=name)
        flash.change({path: damage(flash.read()[path])})
        restore(till)
        if not agrees(check, till, f"{copy}, {name}"):
            return

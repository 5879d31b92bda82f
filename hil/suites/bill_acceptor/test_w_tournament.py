"""13:69E-1.28W: the host switches acceptance off for a tournament, what runs is finished, and no meter moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.acceptor_money import agrees_on
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

EVERY_KIND = {
    "note": items.genuine(20),
    "voucher": items.voucher("730051962840173355"),
    "coupon": items.coupon("310001000500730051"),
    "counterfeit": items.counterfeit(),
    "strung": items.strung(100),
}


def offered(bench: AcceptorBench, item: items.Item) -> int:
    """Insert an item, stack it if it is offered, take it away again if not. Returns how many were stacked."""
    stacked = bench.attempt(item, ms=3000)
    if bench.truth()["in_path"]:
        bench.do("pull")
        bench.advance(500)
    return stacked


@rule("NJ-1.28W(a)1/host-switches-off")
@pytest.mark.parametrize("how", ["power", "watchdog", "soft", "host reset"])
def test_switched_off_until_switched_on(bench: AcceptorBench, check: Check, how: str) -> None:
    bench.start()
    check.stimulus("switched off by the host, items inserted; restarted, inserted again; switched on", restart=how)
    bench.command(Command.SET_INHIBIT, b"\x01")
    check.measure("accepted", offered(bench, items.genuine(20)) + offered(bench, EVERY_KIND["voucher"]))
    if how != "host reset":
        bench.do("restart", how=how)
        bench.reconnect()
        check.measure("accepted", offered(bench, items.genuine(20)))
        if not bench.speech.starts_once:
            bench.until(Status.POWER_UP, Status.POWER_UP_BILL_IN_ACCEPTOR)
    bench.command(Command.RESET)
    bench.advance(1500)
    check.measure("accepted", offered(bench, items.genuine(20)))
    bench.ready(enabled=False)
    check.measure("accepted", offered(bench, items.genuine(20)))
    bench.command(Command.SET_INHIBIT, b"\0")
    bench.until(Status.IDLE)
    check.expect("stacked once it is on", offered(bench, items.genuine(20)), 1)


def _by_kiosk(till: Till) -> None:
    till.kiosk.inhibit("tournament")


def _at_once(till: Till) -> None:
    """C3 on the wire at this moment, whatever is under way; where the wire is the kiosk's alone, by the kiosk."""
    if till.bench.speech.one_host:
        _by_kiosk(till)
        return
    if till.bench.speech.host_restores:
        _by_kiosk(till)
    till.bench.speech.say(Command.SET_INHIBIT, b"\x01")
    till.bench.receive()


def _on_again(till: Till) -> None:
    till.kiosk.allow("tournament")
    if not till.bench.speech.one_host:
        till.bench.command(Command.SET_INHIBIT, b"\0")
    till.until(Status.IDLE)


SWITCHES: dict[str, Callable[[Till], None]] = {"by the kiosk": _by_kiosk, "at once": _at_once}


@rule("NJ-1.28W(c)/running-transaction-finishes")
@pytest.mark.parametrize(("kind", "switch"), [("note", "by the kiosk"), ("note", "at once"), ("voucher", "at once")])
def test_what_runs_is_finished(till: Till, check: Check, kind: str, switch: str) -> None:
    for moment in range(50, 2000, 150):
        paper = till.paper(kind)
        till.insert(paper)
        till.run(moment)
        check.stimulus("switched off", how=switch, item=kind, ms_after_insertion=moment, shown=till.status)
        SWITCHES[switch](till)
        till.settle()
        till.until(Status.DISABLED)
        check.measure("in_path", till.bench.truth()["in_path"])
        if not agrees_on(check, till, paper, f"off after {moment} ms"):
            return
        _on_again(till)


@rule("NJ-1.28W(c)/running-transaction-finishes")
def test_a_held_voucher_is_finished(till: Till, check: Check) -> None:
    for status in (Status.ESCROW, Status.HOLDING):
        paper = till.voucher()
        till.vouchers.unanswered = 1_000_000
        till.insert(paper)
        till.until(status)
        check.stimulus("switched off with a voucher that the host hasn't decided about", shown=status.name)
        _at_once(till)
        till.run(1000)
        till.vouchers.unanswered = 0
        till.settle()
        check.measure("in_path", till.bench.truth()["in_path"])
        if not agrees_on(check, till, paper, status.name):
            return
        _on_again(till)


@rule("NJ-1.28W(d)/no-live-meters")
def test_no_meter_moves_while_it_is_off(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    for _ in range(2):
        bench.stack(items.genuine(5))
    bench.command(Command.SET_INHIBIT, b"\x01")
    before = bench.meters()
    for kind, item in EVERY_KIND.items():
        check.stimulus("inserted while off", item=kind)
        offered(bench, item)
    after = bench.meters()
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    check.note("meters that changed", names=changed)
    check.measure("changed_meters", len(changed))
    check.expect("meters had moved before", before["bill_in_value"], 1000)

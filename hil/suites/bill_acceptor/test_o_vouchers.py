"""13:69E-1.28O(e)3 and 1.40(n)1, (p)1: what the voucher system doesn't authorise goes back to the patron."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench import items
from pitbench.kiosk.voucher import VoucherStatus
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

UNKNOWN = "730051962840173355"
# Questions that the voucher system leaves open: the host asks again with each poll, and holds the item meanwhile.
ANSWERED_AFTER, SILENT = (0, 5), 1_000_000
ESCROW_MS = 10_000


def came_back(check: Check, till: Till, paper: items.Item, *, credited: bool = False) -> None:
    """Insert an item, and record that the plant has it back at the front."""
    before = till.bench.truth()
    till.take(paper)
    after = till.bench.truth()
    check.measure("stacked", after["stacked"] - before["stacked"])
    if credited:
        check.measure("credited", till.credited())
    check.expect("back at the front", after["returned"] - before["returned"], 1)
    check.expect("credits", till.kiosk.credits, [])
    check.expect("disputes", len(till.kiosk.disputes), 0)


def _unknown(till: Till) -> items.Item:
    return items.voucher(UNKNOWN)


def _system_down(till: Till) -> items.Item:
    paper = till.voucher()
    till.vouchers.up = False
    return paper


def _not_enrolled(till: Till) -> items.Item:
    return items.coupon(UNKNOWN, 500)


def _coupons_off(till: Till) -> items.Item:
    till.adopt(coupons=False)
    return till.coupon()


UNVALIDATED: dict[str, Callable[[Till], items.Item]] = {
    "number unknown": _unknown,
    "system down": _system_down,
    "coupon not enrolled": _not_enrolled,
    "coupons not taken": _coupons_off,
}


@rule("NJ-1.28O(e)3/unvalidated-returned")
@pytest.mark.parametrize("case", UNVALIDATED)
def test_an_unvalidated_ticket_goes_back(till: Till, check: Check, case: str) -> None:
    paper = UNVALIDATED[case](till)
    for till.vouchers.unanswered in ANSWERED_AFTER:
        check.stimulus("ticket inserted", case=case, questions_unanswered=till.vouchers.unanswered)
        came_back(check, till, paper)


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(s, marks=rule(f"NJ-1.40(n)1/rejected-at-once/{s}"))
        for s in ("expired", "void", "redeemed", "pending")
    ],
)
def test_a_voucher_of_that_status_is_not_redeemed(till: Till, check: Check, status: str) -> None:
    paper = till.voucher()
    till.vouchers.mark(paper.barcode or "", VoucherStatus(status))
    for till.vouchers.unanswered in ANSWERED_AFTER:
        check.stimulus("voucher inserted", status=status, questions_unanswered=till.vouchers.unanswered)
        came_back(check, till, paper, credited=True)
    check.expect("its status stays", till.vouchers.status(paper.barcode or "").value, status)


@rule("NJ-1.40(p)1/system-down")
@pytest.mark.parametrize("how", ["refuses", "silent"])
def test_with_the_system_down_a_voucher_goes_back(till: Till, check: Check, how: str) -> None:
    paper = till.voucher()
    till.vouchers.up = how == "silent"
    till.vouchers.unanswered = SILENT if how == "silent" else 0
    check.stimulus("voucher inserted with the voucher system down", system=how)
    came_back(check, till, paper)
    till.vouchers.up, till.vouchers.unanswered = True, 0
    till.run(1500)
    till.take(paper)
    check.expect("redeemed once the system is back", till.redeemed(paper), True)


@rule("NJ-1.40(p)1/system-down")
@pytest.mark.parametrize("says", [Command.HOLD, Command.WAIT, None], ids=["hold", "wait", "nothing"])
def test_a_host_without_a_decision_never_gets_a_voucher_stacked(
    bench: AcceptorBench, check: Check, says: Command | None
) -> None:
    says = says if says in bench.speech.sayable(Command.HOLD, Command.WAIT) else None
    bench.start()
    bench.escrow(items.voucher(UNKNOWN))
    check.stimulus(
        "voucher in escrow, the host polls and has no decision", says=says.name.lower() if says else "nothing"
    )
    for _ in range(ESCROW_MS * 3 // 200):
        if says is not None and bench.status().cmd in (Status.ESCROW, Status.HOLDING):
            bench.command(says)
        bench.advance(200)
        if bench.status().cmd not in (Status.ESCROW, Status.HOLDING):
            break
    if says is not None or bench.speech.looks_by_holding:
        bench.command(Command.RETURN)
    bench.until(Status.IDLE, within=ESCROW_MS)
    truth = bench.truth()
    check.measure("stacked", truth["stacked"])
    check.expect("back at the front", truth["returned"], 1)

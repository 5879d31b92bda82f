"""What a kiosk takes: the decision about an item in escrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pitbench.kiosk.voucher import Authorised, Refused, VoucherKind, VoucherSystem, VoucherSystemDown
from pitbench.masking import mask_number
from pitbench.protocols.id003 import Command, Denomination


@dataclass(frozen=True)
class Policy:
    """What is taken, and how.

    Args:
        denominations: notes that are taken, in cents; None takes all of the device's currency table.
        vouchers: the voucher system; None takes no barcodes.
        coupons: barcodes that the voucher system calls coupons are taken too.
        stack: STACK_1 (vend valid past the lever) or STACK_2 (vend valid when stored).
        decision_ms: after this time in escrow without a decision the item goes back; the device allows 10 s.
        name: of the kiosk, part of its claims at the voucher system.
        idle_means_returned: the device is known to hold vend valid until ACK, over a power cut too, so an item whose
            outcome nobody saw went back. Without, such an item is a dispute.
    """

    denominations: frozenset[int] | None = None
    vouchers: VoucherSystem | None = None
    coupons: bool = True
    stack: Command = Command.STACK_1
    decision_ms: int = 9000
    name: str = "kiosk"
    idle_means_returned: bool = False

    def takes(self, denomination: Denomination) -> bool:
        """Whether notes of this denomination are taken."""
        return self.denominations is None or denomination.cents in self.denominations

    def codes(self, table: dict[int, Denomination]) -> frozenset[int]:
        """Escrow codes of a currency table's notes that are taken."""
        return frozenset(code for code, denomination in table.items() if self.takes(denomination))


@dataclass
class Item:
    """What stands in escrow: its code, a barcode's digits, since when (ms).

    `asked` tells that the voucher system was asked about it, `note` which item of the ledger it is, once decided.
    """

    code: int
    number: str | None
    since_ms: int
    asked: bool = False
    note: int | None = None

    def like(self, other: Item) -> bool:
        """Whether both may be the same piece of paper."""
        return (self.code, self.number) == (other.code, other.number)


@dataclass(frozen=True)
class Decision:
    """Stack or return, what the item is worth (cents, None if unknown), and why it goes back."""

    stack: bool
    kind: str
    cents: int | None = None
    why: str = ""
    claimed: bool = False

    def entry(self, item: Item) -> dict[str, Any]:
        """The fields of its journal entry; the number is masked."""
        number = None if item.number is None else mask_number(item.number)
        return {**vars(self), "code": item.code, "number": number}


def decide_note(policy: Policy, item: Item, table: dict[int, Denomination] | None) -> Decision | None:
    """Decide about a note; None while the currency table isn't known."""
    if table is None:
        return None
    denomination = table.get(item.code)
    if denomination is None:
        return Decision(False, "note", why=f"code {item.code:02x} isn't in the currency table")
    stack = policy.takes(denomination)
    return Decision(stack, "note", denomination.cents, "" if stack else "the denomination isn't taken")


def decide_voucher(policy: Policy, item: Item, claim: str) -> Decision | None:
    """Decide about a barcode by asking the voucher system; None while its answer is under way."""
    number = item.number or ""
    if policy.vouchers is None or not number.isdecimal() or not number.isascii():
        why = "no vouchers are taken" if policy.vouchers is None else "the barcode isn't a number"
        return Decision(False, "voucher", why=why)
    item.asked = True
    try:
        answer = policy.vouchers.validate(number, claim)
    except VoucherSystemDown:
        return Decision(False, "voucher", why="the voucher system is down", claimed=True)
    return None if answer is None else _decide_answer(policy, answer)


def _decide_answer(policy: Policy, answer: Authorised | Refused) -> Decision:
    if isinstance(answer, Refused):
        return Decision(False, "voucher", why=f"the voucher is {answer.status.value}")
    stack = policy.coupons or answer.kind != VoucherKind.COUPON
    why = "" if stack else "no coupons are taken"
    return Decision(stack, answer.kind.value, answer.cents, why, claimed=True)

"""What 13:69E-1.28N(f) asks after every case: credited is stacked, and nothing was called stacked twice."""

from __future__ import annotations

from pitbench.items import Item

from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.check import Check


def agrees(check: Check, till: Till, case: str) -> bool:
    """Record credits against the plant after a case. False ends a sweep: later cases would repeat the difference."""
    same = check.measure("credited_minus_stacked", till.difference())
    once = check.expect(f"stacked reports without an escrow, {case}", till.unexplained(), 0)
    return same and once


def agrees_on(check: Check, till: Till, paper: Item, case: str) -> bool:
    """The same, and by number: a voucher or coupon is paid if and only if this very one is past the lever."""
    if paper.barcode is None:
        return agrees(check, till, case)
    by_number = check.expect(f"paid by number, {case}", till.redeemed(paper), till.holds(paper))
    return agrees(check, till, case) and by_number


def frames_of_insertion(till: Till, kind: str) -> tuple[int, int]:
    """Frames of one undisturbed insertion: to the device, to the host."""
    till.to_device.count_anew()
    till.to_host.count_anew()
    till.take(till.paper(kind))
    return till.to_device.count, till.to_host.count

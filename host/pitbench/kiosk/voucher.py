"""The voucher system that a kiosk asks, as N.J.A.C. 13:69E-1.40(h), (i), (n) and (p) describe it.

A kiosk never keeps a validation number: it validates under a claim (its own name for the transaction), and from then
on speaks of the claim. Under a claim a voucher is pending, so that nobody else can redeem it meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pitbench.errors import PitbenchError


class VoucherStatus(Enum):
    """1.40(i), and a number that isn't found."""

    ACTIVE = "active"
    REDEEMED = "redeemed"
    EXPIRED = "expired"
    VOID = "void"
    PENDING = "pending"
    UNKNOWN = "unknown"


class VoucherKind(Enum):
    """1.40(h), as far as a redeeming machine tells them apart."""

    VOUCHER = "voucher"
    COUPON = "coupon"


@dataclass(frozen=True)
class Authorised:
    """The voucher is pending under the caller's claim and worth `cents`."""

    cents: int
    kind: VoucherKind = VoucherKind.VOUCHER


@dataclass(frozen=True)
class Refused:
    """The voucher stays as it is."""

    status: VoucherStatus


class VoucherSystemDown(PitbenchError):
    """The voucher system doesn't answer; nothing may be redeemed until it does (1.40(p)1)."""


class VoucherSystem(Protocol):
    """What a kiosk needs. Every call may be repeated, and does once what it does. Raises VoucherSystemDown."""

    def validate(self, number: str, claim: str) -> Authorised | Refused | None:
        """Claim a voucher; None while the answer is still under way.

        The same claim and number get the same answer; a claim that holds one voucher is refused for another.
        """

    def redeem(self, claim: str) -> Refused | None:
        """The voucher under this claim is stacked: it is paid. Refused if it is no longer under the claim."""

    def release(self, claim: str) -> None:
        """The voucher under this claim went back to the patron: it is active again. No such claim: nothing to do."""


@dataclass(eq=False)
class _Voucher:
    cents: int
    kind: VoucherKind
    status: VoucherStatus
    claim: str | None = None


class VoucherBook:
    """A voucher system in memory, for tests and demonstrations. `up = False` makes it fall silent."""

    def __init__(self) -> None:
        self.up = True
        self._vouchers: dict[str, _Voucher] = {}

    def issue(self, number: str, cents: int, kind: VoucherKind = VoucherKind.VOUCHER) -> None:
        """Make a voucher known and active."""
        self._vouchers[number] = _Voucher(cents, kind, VoucherStatus.ACTIVE)

    def mark(self, number: str, status: VoucherStatus) -> None:
        """Void or expire a voucher, or set it to any other status."""
        self._vouchers[number].status = status

    def status(self, number: str) -> VoucherStatus:
        """Return a voucher's status, UNKNOWN if there is none."""
        voucher = self._vouchers.get(number)
        return voucher.status if voucher else VoucherStatus.UNKNOWN

    def validate(self, number: str, claim: str) -> Authorised | Refused:
        self._answer()
        voucher = self._vouchers.get(number)
        if voucher is None:
            return Refused(VoucherStatus.UNKNOWN)
        if self._under(claim) not in (None, voucher):
            return Refused(voucher.status)
        if voucher.status == VoucherStatus.ACTIVE:
            voucher.status, voucher.claim = VoucherStatus.PENDING, claim
        elif voucher.status != VoucherStatus.PENDING or voucher.claim != claim:
            return Refused(voucher.status)
        return Authorised(voucher.cents, voucher.kind)

    def redeem(self, claim: str) -> Refused | None:
        self._answer()
        voucher = self._under(claim)
        if voucher is None:
            return Refused(VoucherStatus.UNKNOWN)
        if voucher.status not in (VoucherStatus.PENDING, VoucherStatus.REDEEMED):
            return Refused(voucher.status)
        voucher.status = VoucherStatus.REDEEMED
        return None

    def release(self, claim: str) -> None:
        self._answer()
        voucher = self._under(claim)
        if voucher is not None and voucher.status == VoucherStatus.PENDING:
            voucher.status, voucher.claim = VoucherStatus.ACTIVE, None

    def _under(self, claim: str) -> _Voucher | None:
        return next((v for v in self._vouchers.values() if v.claim == claim), None)

    def _answer(self) -> None:
        if not self.up:
            raise VoucherSystemDown("The voucher system doesn't answer.", "Look at its network, then try again.")

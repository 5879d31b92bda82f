"""Numbers of vouchers that nobody may read whole before they are redeemed (N.J.A.C. 13:69E-1.40(l))."""

from __future__ import annotations

SHOWN = 4
LEAST_MASKED = 3


def mask_number(number: str) -> str:
    """Return a validation number with all but its last four characters hidden, and never fewer than three hidden."""
    shown = max(0, min(SHOWN, len(number) - LEAST_MASKED))
    hidden = len(number) - shown
    return "*" * hidden + number[hidden:]

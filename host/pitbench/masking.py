"""Numbers of vouchers that nobody may read whole before they are redeemed (N.J.A.C. 13:69E-1.40(l))."""

from __future__ import annotations

import re

SHOWN = 4
LEAST_MASKED = 3
# On a wire, where no digest can be mistaken for a number.
_IN_WIRE = re.compile(rb"[0-9]{8,}")


def mask_number(number: str) -> str:
    """Return a validation number with all but its last four characters hidden, and never fewer than three hidden."""
    shown = max(0, min(SHOWN, len(number) - LEAST_MASKED))
    hidden = len(number) - shown
    return "*" * hidden + number[hidden:]


def mask_wire(data: bytes) -> bytes:
    """Return the bytes of a wire with every run of eight ASCII digits or more masked, as long as before."""
    return _IN_WIRE.sub(lambda match: mask_number(match[0].decode()).encode(), data)

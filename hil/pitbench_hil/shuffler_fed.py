"""How cards that were dealt are judged where the bench fed the entropy."""

from __future__ import annotations

from pitbench_hil.check import Check


def dealt_as_drawn(check: Check, off: int) -> None:
    """Record, for both rules on it, how many cards didn't come out as they were drawn."""
    check.measure("cards_out_of_place", off, rule="NJ-1.28G(c)1/out-as-drawn")
    check.measure("other_places", off, rule="NJ-1.28X(g)/order-is-the-generators")

"""A new shuffler whose entropy the bench feeds, beside the generator that it declares, and how the two are compared."""

from __future__ import annotations

from typing import Any

from pitbench_hil.check import Check
from pitbench_hil.shuffler import TECHNICIAN, ShufflerBench
from pitbench_hil.shuffler_moves import afresh
from pitbench_hil.shuffler_reference import CHALLENGE, Declared


def newly_fed(bench: ShufflerBench, seed: str) -> Declared:
    """A new board whose entropy is fed from its first word on, idle; returns the generator that it declares."""
    bench.board.rig.entropy_at_start("fixed", seed)
    return Declared(seed, again(bench))


def again(bench: ShufflerBench) -> str:
    """A new board, fed as it was told last, idle; returns its unique id."""
    return str(afresh(bench)["uid"])


def fed_by_itself(bench: ShufflerBench) -> None:
    """A new board with its own source again, idle."""
    bench.board.rig.entropy_at_start("board")
    afresh(bench)


def set_as_declared(bench: ShufflerBench, declared: Declared, **settings: Any) -> dict[str, Any]:
    """Set what is to be played; the challenge to it is taken from the declared generator's source too."""
    now = bench.configure(TECHNICIAN, **settings)
    declared.source.read(CHALLENGE)
    return now


def dealt_as_drawn(check: Check, off: int) -> None:
    """Record, for both rules on it, how many cards didn't come out as they were drawn."""
    check.measure("cards_out_of_place", off, rule="NJ-1.28G(c)1/out-as-drawn")
    check.measure("other_places", off, rule="NJ-1.28X(g)/order-is-the-generators")

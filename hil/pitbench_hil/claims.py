"""13:69E-1.28(h): what a device's identity declares, each thing tried. Each suite has the trials of its own device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pitbench.link import LinkError

from pitbench_hil.board_bench import BoardBench
from pitbench_hil.check import Check

SET_TO = 1_700_000_000


Bench = TypeVar("Bench", bound=BoardBench)
Trial = Callable[[Bench], bool]


def says_bench(bench: BoardBench) -> bool:
    """It calls itself a bench image."""
    return bool(bench.link.identity["image"] == "bench")


def clock_works(bench: BoardBench) -> bool:
    """Time that is let pass is past."""
    before = bench.do("status")["now"]
    bench.advance(1234)
    return bool(bench.do("status")["now"] - before >= 1234)


def calendar_works(bench: BoardBench) -> bool:
    """A calendar that was set runs on from there."""
    bench.do("calendar", set=SET_TO)
    return bool(0 <= bench.do("status")["calendar"] - SET_TO < 60)


def still_clock_works(bench: BoardBench) -> bool:
    """A clock that stands from the start moves by `advance` alone; idle again afterwards."""
    rig = bench.board.rig
    rig.clock_at_start(0, SET_TO)
    bench.power_cycle()
    stood = len({bench.do("status")["now"] for _ in range(20)}) == 1 and bench.do("status")["calendar"] == SET_TO
    moves = clock_works(bench)
    rig.clock_at_start(None)
    bench.power_cycle()
    bench.start()
    return stood and moves


def kept(bench: Bench, trial: Trial[Bench] | None) -> bool:
    """Whether a declared thing is there; what nobody can try isn't."""
    try:
        return trial is not None and trial(bench)
    except (AssertionError, LinkError, TypeError):
        return False


def expect_kept(
    check: Check, bench: Bench, claims: Mapping[str, Trial[Bench] | None], recover: Callable[[], object]
) -> None:
    """Try each claim, and measure how many the device doesn't keep.

    Args:
        claims: what is declared, and how it is tried.
        recover: brings the device back to idle after a claim that it didn't keep.
    """
    overstated = []
    for claim, trial in claims.items():
        check.stimulus("declared thing tried", claim=claim)
        if not kept(bench, trial):
            overstated.append(claim)
            recover()
    check.note("claims", tried=len(claims), overstated=overstated)
    check.measure("overstated", len(overstated))

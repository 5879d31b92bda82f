"""What is done to any attended device, as acts that tables can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from pitbench.errors import BeyondRig
from pitbench.targets import Board

from pitbench_hil.attended_bench import START_MS, AttendedBench
from pitbench_hil.board_bench import Unreached

LOOK_MS = 5
START_AT_MS, NOON = 5000, 1_800_000_000
# Something done on the bench of one kind of device.
Act = Callable[[Any], object]


@contextmanager
def standing_clock(board: Board) -> Iterator[None]:
    """Starts in here begin at one time, and time passes by `advance` alone: how late the PC is changes nothing.

    Where the rig can't tell the board so at its start, the clock runs.
    """
    with suppress(BeyondRig):
        board.rig.clock_at_start(START_AT_MS, NOON)
    yield
    with suppress(BeyondRig):
        board.rig.clock_at_start(None)


def afresh(bench: AttendedBench) -> dict[str, Any]:
    """A new device in a new world, idle; returns its identity. Raises Unreached."""
    identity = bench.board.start_over()
    bench.start()
    return identity


def restart(bench: AttendedBench) -> None:
    """Power off and on, and a self-test's time."""
    bench.power_cycle()
    bench.advance(START_MS)


def until_truth(
    bench: AttendedBench, holds: Callable[[dict[str, Any]], bool], within: int = 5000, step: int = LOOK_MS
) -> dict[str, Any]:
    """Let time pass in small steps until the plant is so; returns its truth. Raises Unreached. Times in ms."""
    for _ in range(within // step):
        truth = bench.truth()
        if holds(truth):
            return truth
        bench.advance(step)
    raise Unreached(f"not seen in {within} ms; at last {truth}")


def crash(bench: AttendedBench) -> None:
    """A program error, and the start that follows from it."""
    bench.do("crash")
    bench.board.reconnect()
    bench.advance(START_MS)


def nothing(bench: AttendedBench) -> None:
    """Where a table asks for an act, and there is nothing to do."""


def ask(op: str, **args: Any) -> Act:
    """One operation of the bench."""
    return lambda bench: bench.do(op, **args)


def in_turn(*acts: Act) -> Act:
    """One after the other."""

    def act(bench: AttendedBench) -> None:
        for each in acts:
            each(bench)

    return act

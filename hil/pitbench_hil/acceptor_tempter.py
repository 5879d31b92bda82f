"""A host that wants an acceptor to take money at any price, and what it would credit."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from pitbench import items
from pitbench.link import LinkError
from pitbench.protocols.id003 import ERRORS, POWER_UPS, Command, Frame, Status

from pitbench_hil.acceptor import ENABLE_ALL, POLL_MS, AcceptorBench
from pitbench_hil.board_bench import Unreached

# What is pushed in while an error stands; the plant's counts tell it from the item that was under way.
NEXT = items.genuine(5)
CENTS_OF = {0x61 + index: usd * 100 for index, usd in enumerate(items.DENOMINATIONS)}
# Every command that asks for something: actions first, then all settings.
ACTIONS = ((Command.STACK_1, b""), (Command.STACK_2, b""), (Command.HOLD, b""), (Command.WAIT, b""))
EVERY_COMMAND = (*ACTIONS, *ENABLE_ALL)
# A self-test, an item drawn in, and an item stacked.
PATIENCE_MS = 2700
STEP_MS = 300


def credited(seen: Iterable[Frame]) -> int:
    """What a host that keeps its books credits from these replies, in cents: each item that it was offered, once."""
    cents = offered = 0
    for frame in seen:
        if frame.cmd == Status.ESCROW:
            offered = CENTS_OF.get(frame.data[0], 0)
        elif frame.cmd in (Status.VEND_VALID, Status.POWER_UP_BILL_IN_STACKER):
            cents, offered = cents + offered, 0
    return cents


def difference(bench: AcceptorBench) -> int:
    """Credited minus stacked since the board was new, in cents."""
    return credited(bench.seen) - bench.stacked_cents()


def next_stacked(bench: AcceptorBench) -> int:
    """How many of the items pushed in by `tempt` are stacked."""
    return int(bench.truth()["values"].get(str(NEXT.worth), 0))


def tempt(bench: AcceptorBench, *, reset: bool = True, ms: int = PATIENCE_MS) -> None:
    """Push the next item in where there is room, and do everything to have it stacked; once more after a reset.

    Args:
        reset: False leaves the reset out.
        ms: device time given to each try.
    """
    offer(bench)
    press(bench, ms=ms)
    if reset:
        bench.command(Command.RESET)
        offer(bench)
        press(bench, ms=ms)


def offer(bench: AcceptorBench) -> None:
    """Push the next item in, unless something is in the way or the mouth is shut."""
    with suppress(LinkError):
        bench.insert(NEXT)


def say_each(bench: AcceptorBench, commands: Iterable[tuple[int, bytes]]) -> None:
    """Send those of the commands that the wire has a word for."""
    for command, data in commands:
        if bench.speech.sayable(command):
            bench.exchange(command, data)


def short_of_reset(bench: AcceptorBench) -> Iterable[tuple[int, bytes]]:
    """Every command that doesn't bring a device back that told of a power-up."""
    return ACTIONS if bench.speech.resets_by_any else EVERY_COMMAND


def press(bench: AcceptorBench, commands: Iterable[tuple[int, bytes]] = EVERY_COMMAND, ms: int = PATIENCE_MS) -> None:
    """Send all these commands, then stack and acknowledge whatever comes."""
    say_each(bench, commands)
    for _ in range(ms // STEP_MS):
        oblige(bench)
        bench.advance(STEP_MS)
    oblige(bench)


def oblige(bench: AcceptorBench) -> None:
    """Poll, and do what brings an item on."""
    frame = bench.status()
    if frame.cmd in (Status.ESCROW, Status.HOLDING):
        bench.exchange(Command.STACK_1)
    elif frame.cmd == Status.VEND_VALID:
        bench.ack()


def settle(bench: AcceptorBench, within: int = 20_000) -> None:
    """As a host does it: bring a device back to idle with nothing in its path. Raises Unreached."""
    start, frame = bench.ms, bench.status()
    while frame.cmd != Status.IDLE or bench.truth()["in_path"]:
        if bench.ms - start > within:
            raise Unreached(f"not idle {within} ms after the cause was gone: {frame!r}")
        if frame.cmd in POWER_UPS or frame.cmd in ERRORS:
            bench.exchange(Command.RESET)
        elif frame.cmd in bench.speech.unset:
            bench.configure()
        elif frame.cmd == Status.ESCROW:
            bench.exchange(Command.RETURN)
        elif frame.cmd == Status.VEND_VALID:
            bench.ack()
        bench.advance(2 * POLL_MS)
        frame = bench.status()

"""Ways to bring a bill acceptor on the bench into each state that the wire can tell, and out again.

Each is a function of the bench alone that begins at idle; it polls as little as it must, so that the state is still
there when it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pitbench import items
from pitbench.protocols.id003 import Command, Status

from pitbench_hil.acceptor import AcceptorBench

Drive = Callable[[AcceptorBench], object]
NOTE = items.genuine(20)


def accepting(bench: AcceptorBench) -> None:
    """A note on its way in."""
    bench.insert(NOTE)
    bench.until(Status.ACCEPTING)


def drawn_in(bench: AcceptorBench) -> None:
    """A note that is out of the mouth, and not yet measured."""
    accepting(bench)
    bench.advance(200)


def escrow(bench: AcceptorBench) -> None:
    """A note in escrow."""
    bench.escrow(NOTE)


def holding(bench: AcceptorBench) -> None:
    """A note held in escrow."""
    bench.escrow(NOTE)
    bench.command(Command.HOLD)
    bench.until(Status.HOLDING)


def stacking(bench: AcceptorBench) -> None:
    """A note on its way from escrow to the stacker."""
    bench.escrow(NOTE)
    bench.command(Command.STACK_1)
    bench.until(Status.STACKING)


def vend_valid(bench: AcceptorBench) -> None:
    """A note past the lever, the host's ACK outstanding."""
    stacking(bench)
    bench.until(Status.VEND_VALID)


def storing(bench: AcceptorBench) -> None:
    """A note reported and acknowledged, the pusher still at work."""
    vend_valid(bench)
    bench.ack()


def rejecting(bench: AcceptorBench) -> None:
    """A bad note on its way out."""
    bench.insert(items.photocopy())
    bench.until(Status.REJECTING)


def returning(bench: AcceptorBench) -> None:
    """A note on its way back."""
    bench.escrow(NOTE)
    bench.command(Command.RETURN)
    bench.until(Status.RETURNING)


def disabled(bench: AcceptorBench) -> None:
    """Inhibited by the host."""
    bench.command(Command.SET_INHIBIT, b"\x01")
    bench.until(Status.DISABLED)


def initialise(bench: AcceptorBench) -> None:
    """Reset by the host, settings outstanding."""
    bench.command(Command.RESET)
    bench.until(Status.INITIALISE)


def stacker_open(bench: AcceptorBench) -> None:
    """The stacker's door open."""
    bench.do("door", which="stacker", open=True)
    bench.until(Status.STACKER_OPEN)


def failure(bench: AcceptorBench) -> None:
    """The acceptor's door open."""
    bench.do("door", which="acceptor", open=True)
    bench.until(Status.FAILURE)


def jam_in_acceptor(bench: AcceptorBench) -> None:
    """A note stuck on its way in."""
    bench.insert(replace(NOTE, sticks_at=100))
    bench.until(Status.JAM_IN_ACCEPTOR)


def jam_in_stacker(bench: AcceptorBench) -> None:
    """A note stuck under the lever."""
    bench.escrow(replace(NOTE, sticks_at=300))
    bench.command(Command.STACK_1)
    bench.until(Status.JAM_IN_STACKER)


def cheated(bench: AcceptorBench) -> None:
    """A note pulled out of escrow, by its string."""
    bench.escrow(items.strung())
    bench.do("pull")
    bench.until(Status.CHEATED)


def stacker_full(bench: AcceptorBench) -> None:
    """A box that holds no more."""
    bench.do("box", count=FULL)
    bench.until(Status.STACKER_FULL)


def recover(bench: AcceptorBench) -> None:
    """From any standing condition to idle: an attendant puts everything right, and the host resets."""
    bench.do("door", which="acceptor", open=True)
    bench.do("clear_path")
    bench.do("box", count=0)
    for which in ("acceptor", "stacker"):
        bench.do("door", which=which, open=False)
    bench.advance(2000)
    bench.status()
    bench.command(Command.RESET)
    bench.ready()


# As many items as the plant's box holds.
FULL = 200
WORKING: tuple[Drive, ...] = (
    accepting,
    escrow,
    holding,
    stacking,
    vend_valid,
    storing,
    rejecting,
    returning,
    disabled,
    initialise,
)
STANDING: tuple[Drive, ...] = (
    stacker_open,
    stacker_full,
    failure,
    jam_in_acceptor,
    jam_in_stacker,
    cheated,
)

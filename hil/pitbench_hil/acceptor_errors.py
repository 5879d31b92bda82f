"""The errors and security events of a bill acceptor: how each is raised, how its cause is taken away, what tells of it.

Rows are data: the suites pair every error with every phase of an insertion. A new error is a new row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pitbench import items
from pitbench.protocols.id003 import ERRORS as ERROR_STATUSES
from pitbench.protocols.id003 import Command, Status

from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.check import Check

# The item under way when an error comes: another value than the item that is pushed in afterwards.
IN_FLIGHT = items.genuine(20)
BOX_FULL = 200
# More than the set time of a communication error.
SILENCE_MS = 5100
Act = Callable[[AcceptorBench], object]


@dataclass(frozen=True)
class Error:
    """One row.

    Args:
        clause: the rule that forbids acceptance while it stands.
        condition: its name on the link.
        status: how the wire tells of it.
        make: what a person or fate does, at any moment unless `at_idle`.
        end: takes the cause away; sends nothing to the wire.
        says: a word of the message.
        latched: it takes a host reset besides, once its cause is gone.
        at_idle: `make` wants an idle device.
    """

    name: str
    clause: str
    condition: str
    status: Status
    make: Act
    end: Act
    says: str
    latched: bool = False
    at_idle: bool = False


def ask(op: str, **args: Any) -> Act:
    """One operation of the bench."""
    return lambda bench: bench.do(op, **args)


def clear_path(bench: AcceptorBench) -> None:
    """An attendant opens the acceptor, takes out what is in the path or off the chute, and closes what was closed."""
    shut = "acceptor_door" not in bench.state()["standing"]
    bench.do("door", which="acceptor", open=True)
    bench.do("clear_path")
    if shut:
        bench.do("door", which="acceptor", open=False)


def silence(bench: AcceptorBench) -> None:
    """The host sends nothing for the set time. Its next frame ends that: there is nothing else to take away."""
    bench.advance(SILENCE_MS)


def jam_in_stacker(bench: AcceptorBench) -> None:
    """The pusher stalls behind a credited item, which stays on the chute; then the motor is free again."""
    bench.do("break", part="stack_motor", how="stall")
    bench.stack(IN_FLIGHT)
    bench.until(*ERROR_STATUSES)
    bench.do("mend", part="stack_motor")


def jam_in_acceptor(bench: AcceptorBench) -> None:
    """An item wedges on its way in."""
    bench.do("insert", item=stuck_at(100))
    bench.until(*ERROR_STATUSES)


def failed_self_test(bench: AcceptorBench) -> None:
    """The scan head fails, and a reset finds it."""
    bench.do("break", part="scanner")
    bench.command(Command.RESET)
    bench.until(*ERROR_STATUSES)


def stuck_at(mm: int, item: items.Item = IN_FLIGHT) -> dict[str, object]:
    """The record of an item that wedges there: it moves neither on nor back."""
    return {**replace(item, sticks_at=mm).record(), "wedged": 1}


# They can come at any moment.
STANDING = (
    Error(
        "stacker-door", "NJ-1.28N(i)2", "stacker_door", Status.STACKER_OPEN, says="Stacker door open",
        make=ask("door", which="stacker", open=True), end=ask("door", which="stacker", open=False),
    ),
    Error(
        "stacker-removed", "NJ-1.28N(i)3", "stacker_removed", Status.STACKER_OPEN, says="removed",
        make=ask("box", present=False), end=ask("box", present=True),
    ),
    Error(
        "stacker-unlocked", "NJ-1.28N(i)3", "stacker_unlocked", Status.STACKER_OPEN, says="not locked",
        make=ask("lock", locked=False), end=ask("lock", locked=True),
    ),
    Error(
        "stacker-full", "NJ-1.28N(i)4", "stacker_full", Status.STACKER_FULL, says="full", latched=True,
        make=ask("box", count=BOX_FULL), end=ask("box", count=0),
    ),
    Error(
        "acceptor-door", "NJ-1.28N(i)5", "acceptor_door", Status.FAILURE, says="Acceptor door open",
        make=ask("door", which="acceptor", open=True), end=ask("door", which="acceptor", open=False),
    ),
)  # fmt: skip
JAM_IN_STACKER = Error(
    "jam-in-stacker", "NJ-1.28N(i)1", "jam_stacker", Status.JAM_IN_STACKER, says="Jam",
    make=jam_in_stacker, end=clear_path, latched=True, at_idle=True,
)  # fmt: skip
JAM_IN_ACCEPTOR = Error(
    "jam-in-acceptor", "NJ-1.28N(i)1", "jam_acceptor", Status.JAM_IN_ACCEPTOR, says="Jam",
    make=jam_in_acceptor, end=clear_path, latched=True, at_idle=True,
)  # fmt: skip
FAILED_SELF_TEST = Error(
    "failed-self-test", "NJ-1.28N(i)8", "post_failed", Status.FAILURE, says="Self-test failed",
    make=failed_self_test, end=ask("mend", part="scanner"), latched=True, at_idle=True,
)  # fmt: skip
SILENT_HOST = Error(
    "comm-error", "NJ-1.28N(i)6", "comm_error", Status.COMMUNICATION_ERROR, says="Communication error",
    make=silence, end=lambda bench: None,
)  # fmt: skip


EVERY = (*STANDING, JAM_IN_STACKER, JAM_IN_ACCEPTOR, FAILED_SELF_TEST, SILENT_HOST)
# The part of the New York rules on a visible signal that an error shows.
SIGNAL_PART = {
    "acceptor-door": "acceptor-door",
    "stacker-door": "stacker-door",
    "failed-self-test": "malfunction",
    "jam-in-stacker": "jam",
    "jam-in-acceptor": "jam",
}


def signal_rules(error: Error) -> list[str]:
    """Rules that ask for a visible signal of it: 13:69E-1.28K(f), 9 NYCRR 5321.12(f), 5321.15(d)."""
    part = SIGNAL_PART.get(error.name)
    new_york = [f"{clause}/signal/{part}" for clause in ("NY-5321.12(f)", "NY-5321.15(d)")] if part else []
    return [*new_york, "NJ-1.28K(f)/tower-light"]


def expect_signal(bench: AcceptorBench, check: Check, error: Error, when: str) -> None:
    """The light is red and the message names the error; recorded under each rule that asks for it."""
    state = bench.state()
    for rule in signal_rules(error):
        check.expect(f"light {when}", state["light"], "red", rule=rule)
        check.expect(f"message {when} names it", error.says in state["message"], True, rule=rule)


# -- phases of one insertion, from idle ---------------------------------------------------------------------


def to_idle(bench: AcceptorBench) -> None:
    """Nothing is in the path."""


def to_accepting(bench: AcceptorBench) -> None:
    """The item is being drawn in."""
    bench.insert(IN_FLIGHT)
    bench.advance(300)


def to_escrow(bench: AcceptorBench) -> None:
    """The item is offered to the host."""
    bench.escrow(IN_FLIGHT)


def to_stacking(bench: AcceptorBench) -> None:
    """The item is on its way, and not past the lever."""
    bench.escrow(IN_FLIGHT)
    bench.command(Command.STACK_1)
    bench.advance(200)


def to_past_lever(bench: AcceptorBench) -> None:
    """The item is irretrievable, and the host hasn't been told."""
    bench.escrow(IN_FLIGHT)
    bench.command(Command.STACK_1)
    bench.advance(800)


def to_past_lever_unreported(bench: AcceptorBench) -> None:
    """The item is irretrievable, and by stack-2 not yet due for its report."""
    bench.escrow(IN_FLIGHT)
    bench.command(Command.STACK_2)
    bench.advance(800)


# Phase, the part of a rule that it belongs to, the way there.
PHASES: tuple[tuple[str, str, Act], ...] = (
    ("idle", "idle", to_idle),
    ("accepting", "accepting", to_accepting),
    ("escrow", "escrow", to_escrow),
    ("stacking", "stacking", to_stacking),
    ("past-lever", "stacking", to_past_lever),
    ("past-lever-stack-2", "stacking", to_past_lever_unreported),
)

"""The self-test of a bill acceptor, watched from outside: what it says, and parts that fail while nobody looks.

A device's word that it tested itself is not enough: a part that only a self-test looks at is broken before, and a
self-test that is real must find it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pitbench import items
from pitbench.deadline import Deadline
from pitbench.protocols.id003 import Command, Status, status_text

from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_pins import PinBench
from pitbench_hil.board_bench import Unreached

# Nothing but a self-test looks at the scan head's reference patch.
UNWATCHED = "scanner"
PASSED_MS, STEP_MS = 4000, 100
MOVED_MM = 16
NOTE = items.genuine(20)
EVERY_ACT = (Command.STACK_1, Command.STACK_2, Command.HOLD, Command.RETURN, Command.STACK_1)
TAKING = (Status.ACCEPTING, Status.ESCROW, Status.STACKING, Status.VEND_VALID)


def break_part(bench: AcceptorBench, part: str = UNWATCHED, how: str = "dead") -> None:
    """From now on the part doesn't work."""
    if isinstance(bench, PinBench):
        _pin(bench, part, 1 if how == "stuck_1" else 0, broken=True)
    else:
        bench.do("break", part=part, how=how)


def mend(bench: AcceptorBench, part: str = UNWATCHED) -> None:
    """It works again."""
    if isinstance(bench, PinBench):
        _pin(bench, part, RESTING.get(part, 0), broken=False)
    else:
        bench.do("mend", part=part)


# The pin by which each part is known to work, and levels of pins at rest.
PIN_OF = {"transport_motor": "moving", "stack_motor": "home"}
RESTING = {"scanner": 1, "home": 1, "stack_motor": 1}


def _pin(bench: PinBench, part: str, level: int, *, broken: bool) -> None:
    pin = PIN_OF.get(part, part)
    responder = bench.pins.responder
    (responder.broken.add if broken else responder.broken.discard)(pin)
    bench.pins.pins(pin, RESTING.get(part, level) if part in PIN_OF else level)


def result(bench: AcceptorBench, within: int = PASSED_MS) -> dict[str, Any]:
    """What `post` says once there is a result. Raises Unreached."""
    start = bench.ms
    while (post := bench.do("post"))["ok"] is None:
        if bench.ms - start >= within:
            raise Unreached(f"the self-test had no result after {within} ms: {post}")
        bench.advance(STEP_MS)
    return post


def steps_of(post: dict[str, Any]) -> list[str]:
    """Names of the steps, in order."""
    return [step[0] for step in post["steps"]]


def failed_steps(post: dict[str, Any]) -> list[str]:
    """Names of the steps that failed."""
    return [name for name, ok, _ in post["steps"] if not ok]


def early(bench: AcceptorBench, act: Callable[[], None], runs: int, within: int = 4000) -> int:
    """Call `act` (what a host sends) every 20 ms; how often the device takes the item at the mouth before run number
    `runs` of its self-test has passed. Ends when it takes it."""
    for _ in range(within // 20):
        taken = _taken(bench)
        post = bench.do("post")
        if taken:
            return 0 if post["ok"] and post["run"] >= runs else 1
        act()
        bench.advance(20)
    raise Unreached(f"the item at the mouth was not taken within {within} ms: {bench.state()}")


def _taken(bench: AcceptorBench) -> bool:
    if isinstance(bench, PinBench):
        if len(bench.speech.words.any_of(Status.ACCEPTING)) > 1:
            bench.speech.unsayable(status_text(Status.ACCEPTING))
        return bench.status().cmd in TAKING
    truth = bench.truth()
    return not truth["in_path"] or truth["position"] > MOVED_MM


def ready_within(bench: AcceptorBench, ms: int = PASSED_MS) -> bool:
    """Whether it comes to idle in that time."""
    deadline, start = Deadline(10, bench.board.clock), bench.ms
    while bench.ms - start < ms and not deadline.passed:
        if bench.status().cmd == Status.IDLE:
            return True
        bench.advance(STEP_MS)
    return False


def tempt(bench: AcceptorBench, *, reset: bool = True, ms: int = 1500) -> int:
    """A host that wants money at any price, a customer who pushes a note in; returns items stacked meanwhile."""
    before = bench.truth()["stacked"]
    for command in (*[Command.RESET] * reset, *EVERY_ACT):
        if not bench.truth()["in_path"] and "acceptor_door" not in bench.state()["standing"]:
            bench.insert(NOTE)
        bench.exchange(command)
        bench.configure()
        for _ in range(ms // len(EVERY_ACT) // STEP_MS + 1):
            bench.advance(STEP_MS)
            if bench.status().cmd == Status.VEND_VALID:
                bench.ack()
    return int(bench.truth()["stacked"]) - int(before)

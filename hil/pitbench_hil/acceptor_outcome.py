"""What became of an inserted item: the plant's count of it, and what the wire said meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pitbench.items import Item
from pitbench.protocols.id003 import Command, Frame, Status

from pitbench_hil.acceptor import AT_REST, POLL_MS, AcceptorBench
from pitbench_hil.board_bench import Unreached
from pitbench_hil.speech import Unsaid

# From the mouth to the box, or out again after the whole way in.
INSERTION_MS = 4000


@dataclass(frozen=True)
class Outcome:
    """One insertion. Plant: `stacked`, `returned` (items), `in_path`. Wire: the frames polled meanwhile."""

    stacked: int
    returned: int
    in_path: int
    frames: tuple[Frame, ...]

    @property
    def ends(self) -> int:
        """How many of the two ends the item came to, by the plant: 1 is right."""
        return self.stacked + self.returned

    @property
    def escrowed(self) -> list[Frame]:
        """The distinct escrow reports."""
        return list(dict.fromkeys(frame for frame in self.frames if frame.cmd == Status.ESCROW))

    @property
    def valid(self) -> list[int]:
        """The distinct codes of vend valid, where the wire has it name what it is about: hosts credit by them."""
        data = [frame.data for frame in self.frames if frame.cmd == Status.VEND_VALID]
        return list(dict.fromkeys(one[0] for one in data if not isinstance(one, Unsaid) and one))

    @property
    def reasons(self) -> list[Any]:
        """The distinct reasons of rejection; of those that the wire doesn't tell, the first."""
        data = [frame.data for frame in self.frames if frame.cmd == Status.REJECTING]
        unsaid = [one for one in data if isinstance(one, Unsaid)]
        return [*dict.fromkeys(one[0] for one in data if not isinstance(one, Unsaid)), *unsaid[:1]]

    @property
    def said(self) -> str:
        """What the wire said of the item's end: validated, rejected, both or nothing."""
        words = {Status.VEND_VALID: "validated", Status.REJECTING: "rejected"}
        return " and ".join(word for status, word in words.items() if any(f.cmd == status for f in self.frames))


def feed(bench: AcceptorBench, item: Item, decision: int = Command.STACK_1) -> Outcome:
    """Insert an item, decide on what is offered and acknowledge what is reported, until the device is at rest.

    Args:
        decision: what the host decides in escrow: stack-1, stack-2 or return.

    Raises Unreached when the item before is still in the way.
    """
    before, begin, start = bench.truth(), len(bench.seen), bench.ms
    if before["in_path"]:
        raise Unreached("the device is done with an item that is still in its path")
    bench.insert(item)
    bench.advance()
    while bench.ms - start < INSERTION_MS:
        frame = bench.status()
        if frame.cmd in AT_REST and bench.seems(frame):
            break
        if frame.cmd == Status.ESCROW:
            bench.command(decision)
        elif frame.cmd == Status.VEND_VALID:
            bench.ack()
        bench.advance(POLL_MS)
    after = bench.truth()
    stacked, returned = (after[name] - before[name] for name in ("stacked", "returned"))
    return Outcome(stacked, returned, after["in_path"], tuple(bench.seen[begin:]))

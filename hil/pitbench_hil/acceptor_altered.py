"""A bill acceptor whose image is altered: started, looked at on both ports, tempted, and put right again.

An altered image counts as found when the wire says failure, ROM, before and after a host has done all that makes a
sound device ready; as booted on when it says anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pitbench import items
from pitbench.deadline import Deadline
from pitbench.image import Image
from pitbench.protocols.id003 import Command, FailureCode, Frame, Status, status_text

from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_pins import LOOK_S, PinBench
from pitbench_hil.altered_board import AlteredBoard
from pitbench_hil.check import Check
from pitbench_hil.mutations import Files, Mutation, sealed_alike
from pitbench_hil.speech import Unsaid

NOTE = items.genuine(20)
ROM_FAILURES = (FailureCode.BOOT_ROM, FailureCode.EXTERNAL_ROM, FailureCode.ROM)
TEMPTATION = ((Command.RESET, b""), (Command.SET_ENABLE, b"\0\0"), (Command.SET_INHIBIT, b"\0"), (Command.STACK_1, b""))


def is_inoperable(frame: Frame | None) -> bool:
    """Whether a reply is failure, ROM; failure, where the wire doesn't tell which."""
    if frame is None or frame.cmd != Status.FAILURE:
        return False
    return isinstance(frame.data, Unsaid) or frame.data[:1] in [bytes([code]) for code in ROM_FAILURES]


REFUSAL_S = 3.0
# Until the slowest board has verified its image, and how often it is asked meanwhile.
START_S, AGAIN_S = 5.0, 0.2


@dataclass
class Count:
    """What a series of altered images came to."""

    mutations: int = 0
    booted_on: int = 0
    silent: int = 0


class Altered(AlteredBoard):
    """An acceptor's board whose image is sealed as if its key's holder had altered it.

    So it is the signature of 1.28N(h) alone that tells it from the sound image, and not the signed manifest. A test is
    skipped by that reason where the image is signed with a key that this bench hasn't got.

    Args:
        bench: the board's bench.
        image: what the board holds.
    """

    def __init__(self, bench: AcceptorBench, image: Image) -> None:
        super().__init__(bench.board, image)
        self.bench = bench

    def write(self, files: Files, *, sealed: bool = True) -> None:
        """The board's folder holds these files from now on, sealed by the key's holder.

        A board that runs holds on to the manifest of its start, and takes no other: under it they aren't `sealed`.
        """
        super().write(sealed_alike(files, self.good) if sealed else files)

    def start(self, files: Files, cause: str = "power") -> None:
        """Off, altered, on again, and nothing waited for."""
        super().start(files, cause)
        self.bench.forget()

    def restore(self) -> None:
        """Off, put right, on again; waits until the board answers."""
        super().restore()
        self.bench.forget()

    def offer(self) -> None:
        """A note waits at the mouth."""
        if isinstance(self.bench, PinBench):
            self.bench.pins.pins("entry", 1)
        else:
            self.bench.insert(NOTE)

    def accepted(self) -> int:
        """Notes taken since `offer`, once the image is restored: by the plant, or by the motors that were driven."""
        if isinstance(self.bench, PinBench):
            return 1 if self._drawn_in() else 0
        return int(self.bench.truth()["stacked"])

    def _drawn_in(self) -> bool:
        return ("transport_motor", 1) in self.virtual.responder.driven

    def first_answer(self) -> Frame | None:
        """What a board that was just started says to its first polls: those before its UART is set are lost."""
        for frame in self._polled(START_S, AGAIN_S):
            if frame:
                self.bench.speech.quiet()
                return frame
        return None

    def _polled(self, seconds: float, each: float) -> Iterator[Frame | None]:
        """What comes after one poll after the other, each waited for so many seconds."""
        deadline = Deadline(seconds, self.bench.board.clock)
        while not deadline.passed:
            with self.bench.impatient(each):
                frame = self.bench.exchange(Command.STATUS_REQUEST)
            yield frame

    def becomes_inoperable(self, seconds: float = REFUSAL_S) -> tuple[bool, str]:
        """Poll until the board is inoperable, or real time is up; and what it said last."""
        shown = None
        for shown in self._polled(seconds, 0.05):
            if is_inoperable(shown):
                self.bench.speech.quiet()
                return True, "failure, ROM"
        return False, said_text(shown)

    def refuses(self, path: str) -> tuple[bool, str]:
        """Whether the board refuses to go on for this path, at least on its console; what the wire said."""
        deadline = Deadline(REFUSAL_S, self.bench.board.clock)
        while not deadline.passed and not self.ran():
            with self.bench.impatient(LOOK_S):
                frame = self.bench.exchange(Command.STATUS_REQUEST)
            if frame:
                return is_inoperable(frame), said_text(frame)
            _, _, named = self.console().rpartition("extra file ")
            if named and path.startswith(named.split()[0]):
                return True, "nothing"
        return False, "nothing"

    def looks(self) -> tuple[bool, str]:
        """Whether it is inoperable, before and after temptation, at its first start; and what it said last.

        A board that ran the altered image, and gave up after some restarts, was not inoperable.
        """
        inoperable, said = self.tempted()
        starts = self.starts
        return inoperable and starts == 1, said if starts == 1 else f"{said} after {starts} starts"

    def tempted(self) -> tuple[bool, str]:
        """Whether it is inoperable, before and after temptation; and what it said last."""
        shown = self.first_answer()
        for command, data in TEMPTATION:
            if shown is None or not is_inoperable(shown):
                break
            self.bench.exchange(command, data)
            shown = self.bench.exchange(Command.STATUS_REQUEST)
        return is_inoperable(shown), said_text(shown)


def said_text(frame: Frame | None) -> str:
    """What a reply says, in words."""
    if frame is None:
        return "nothing"
    return status_text(frame.cmd) if isinstance(frame.data, Unsaid) else status_text(frame.cmd, frame.data)


def find_all(check: Check, altered: Altered, mutations: Iterable[Mutation]) -> Count:
    """Start the board once with each; stops at the first that isn't found."""
    count, crashes = Count(), altered.virtual.crashes
    for mutation in mutations:
        check.stimulus("image altered while off, power on", mutation=mutation.name)
        altered.start(mutation.files)
        count.mutations += 1
        inoperable, said = altered.looks()
        if not inoperable:
            check.note("not found", mutation=mutation.name, said=said)
            count.silent += said == "nothing"
            count.booted_on += said != "nothing"
            break
    check.expect(
        "mutations that crash the board or leave it silent", altered.virtual.crashes - crashes + count.silent, 0
    )
    return count

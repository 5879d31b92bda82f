"""The same ID-003 host, twice: on a board whose link is open and in use, and on one whose link nobody ever opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pitbench.image import Image
from pitbench.protocols.id003 import Command, Frame, Reply, Status
from pitbench.targets import Board
from pitbench.transport import TraceSink

from pitbench_hil.acceptor import ANSWER_S, AcceptorBench
from pitbench_hil.acceptor_pins import bench_of
from pitbench_hil.comparing import differing
from pitbench_hil.left_alone import left_alone


@contextmanager
def unattended(attended: Board, image: Image, root: Path, trace: TraceSink) -> Iterator[AcceptorBench]:
    """A second board of the same make, nothing but its wire open."""
    with left_alone(attended, image, root, trace) as board:
        yield bench_of(board, "release")


Act = Callable[[AcceptorBench], object]


class Pair:
    """Does the same to both boards and keeps what each answers, repeated statuses once."""

    def __init__(self, attended: AcceptorBench, alone: AcceptorBench) -> None:
        self.attended, self.alone = attended, alone
        self.answers: dict[str, list[str]] = {"attended": [], "alone": []}

    @property
    def both(self) -> tuple[tuple[str, AcceptorBench], ...]:
        """Names and benches."""
        return ("attended", self.attended), ("alone", self.alone)

    def send(self, command: int, data: bytes = b"") -> None:
        """A command to each."""
        for name, bench in self.both:
            self._keep(name, bench.exchange(command, data))

    def until(self, status: Status) -> None:
        """Poll each until it shows the status, the link of the first in use meanwhile."""
        for name, bench in self.both:
            bench.until(status)
            if name == "attended":
                bench.state()
            self._keep(name, bench.status())

    def act(self, act: Act) -> None:
        """Something done to each."""
        for _, bench in self.both:
            act(bench)

    def enq(self) -> None:
        """Each has to announce news by itself; the host polls after it."""
        for name, bench in self.both:
            frame = bench.receive(ANSWER_S)
            while frame and frame.cmd == Reply.ENQ and (more := bench.receive(0)):
                frame = more
            self._keep(name, frame)
            self._keep(name, bench.exchange(Command.STATUS_REQUEST))

    def differences(self) -> int:
        """Answers that differ."""
        return differing(self.answers["attended"], self.answers["alone"])

    def _keep(self, name: str, frame: Frame | None) -> None:
        self.answers[name].append(f"{frame.cmd:02x} {frame.data.hex()}".strip() if frame else "nothing")

"""A bill acceptor on the bench: a host's wire, the link's stimuli, and time that the bench lets pass.

Device time moves by `advance` and hardly by itself, so a whole insertion takes milliseconds and a test means the same
on a busy PC: every wait here is in device milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pitbench.deadline import Deadline
from pitbench.items import Item
from pitbench.protocols.id003 import ERRORS, POWER_UPS, Command, Decoder, Frame, Reply, Status, encode, status_text
from pitbench.targets import Board

from pitbench_hil.board_bench import BoardBench, Unreached

ANSWER_S = 2.0
# What was sent before the link's last reply is here by then.
NEWS_S = 0.01
POLL_MS = 200
ENABLE_ALL = (
    (Command.SET_ENABLE, b"\0\0"),
    (Command.SET_SECURITY, b"\0\0"),
    (Command.SET_COMMUNICATION_MODE, b"\0"),
    (Command.SET_DIRECTION, b"\0"),
    (Command.SET_OPTIONS, b"\0\0"),
    (Command.SET_BARCODE, b"\x01\x12"),
    (Command.SET_BARCODE_INHIBIT, b"\0"),
    (Command.SET_INHIBIT, b"\0"),
)


class AcceptorBench(BoardBench):
    """Host and bench for one board.

    Args:
        board: an open target that runs a bill acceptor.
    """

    def __init__(self, board: Board) -> None:
        super().__init__(board)
        self.ms = 0
        self.seen: list[Frame] = []
        self.enqs = 0
        self._decoder = Decoder()
        self._frames: list[Frame] = []

    # -- link --------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What `status` on the link says."""
        return self.do("status")

    def stacked_cents(self) -> int:
        """Worth of what the plant has past the lever, in cents."""
        return sum(int(worth) * count for worth, count in self.truth()["values"].items())

    def meters(self) -> dict[str, int]:
        """The device's meters."""
        return self.do("meters")

    # -- time --------------------------------------------------------------------------------

    def advance(self, ms: int = POLL_MS) -> None:
        """Let device time pass, event by event."""
        self.ms += ms
        super().advance(ms)

    # -- wire --------------------------------------------------------------------------------

    def send(self, data: bytes) -> None:
        """Bytes to the board's wire, as they are."""
        self.board.wire.write(data)

    def receive(self, seconds: float = ANSWER_S) -> Frame | None:
        """The next frame from the board's wire, or None when it stays silent that long (real time)."""
        deadline = Deadline(seconds, self.board.clock)
        while not self._frames and not deadline.passed:
            self._frames += self._decoder.feed(self.board.wire.read(deadline.remaining))
        return self._frames.pop(0) if self._frames else None

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Send a command and return the reply, None if there was none. ENQs that come first are counted apart."""
        self.send(encode(command, data))
        frame = self.receive()
        while frame and frame.cmd == Reply.ENQ:
            self.enqs += 1
            frame = self.receive()
        return frame

    def status(self) -> Frame:
        """Poll once. Raises Unreached when nothing answers."""
        frame = self.exchange(Command.STATUS_REQUEST)
        if frame is None:
            raise Unreached("a status request was not answered")
        self.seen.append(frame)
        return frame

    def announced(self) -> bool:
        """Whether an ENQ came since the last exchange. Raises Unreached when anything else did."""
        heard = False
        while (frame := self.receive(NEWS_S)) is not None:
            if frame.cmd != Reply.ENQ:
                raise Unreached(f"frame {frame.cmd:02x} came without a request")
            heard = True
        return heard

    def ack(self) -> None:
        """Acknowledge vend valid: no reply follows."""
        self.send(encode(Command.ACK))

    def command(self, command: int, data: bytes = b"") -> bool:
        """Send a command; True if the device obeyed (ACK or echo), False if it called it invalid."""
        frame = self.exchange(command, data)
        if frame is None:
            raise Unreached(f"command {command:02x} was not answered")
        return frame.cmd != Reply.INVALID_COMMAND

    def until(self, *wanted: int, within: int = 5000, step: int = POLL_MS) -> Frame:
        """Poll every `step` ms of device time until one of the statuses is seen. Raises Unreached after `within` ms."""
        start = self.ms
        frame = self.status()
        while frame.cmd not in wanted:
            if self.ms - start >= within:
                names = " or ".join(status_text(status) for status in wanted)
                raise Unreached(f"{names} not reached in {within} ms: {status_text(frame.cmd, frame.data)} instead")
            self.advance(step)
            frame = self.status()
        return frame

    # -- a host's errands --------------------------------------------------------------------------------

    def configure(self, settings: Iterable[tuple[int, bytes]] = ENABLE_ALL) -> None:
        """Send settings, in order."""
        for command, data in settings:
            self.command(command, data)

    def start(self, *, enabled: bool = True) -> None:
        """Bring a board that has just started to idle (or disabled), as a host does."""
        self.until(*POWER_UPS, *ERRORS)
        self.advance(1000)
        self.command(Command.RESET)
        self.ready(enabled=enabled)

    def ready(self, *, enabled: bool = True) -> None:
        """From initialise to idle (or disabled): settings, then waiting."""
        self.until(Status.INITIALISE)
        self.configure()
        if not enabled:
            self.command(Command.SET_INHIBIT, b"\x01")
        self.until(Status.IDLE if enabled else Status.DISABLED)

    def insert(self, item: Item) -> None:
        """Push an item into the mouth."""
        self.do("insert", item=item.record())

    def escrow(self, item: Item) -> Frame:
        """Insert and wait for escrow."""
        self.insert(item)
        return self.until(Status.ESCROW)

    def stack(self, item: Item, command: int = Command.STACK_1) -> None:
        """A whole insertion, acknowledged, back to idle."""
        self.escrow(item)
        self.command(command)
        self.until(Status.VEND_VALID)
        self.ack()
        self.until(Status.IDLE, Status.DISABLED, *ERRORS)

    def attempt(self, item: Item, *, poll: bool = True, ms: int = 6000) -> int:
        """Insert where that is possible and stack whatever is offered; returns how many items the plant has more.

        Ends early once the path is empty and the device at rest.

        Args:
            poll: False keeps the host silent meanwhile.
            ms: device time given to it at most.
        """
        before = self.truth()
        if not before["in_path"] and not self._shut():
            self.insert(item)
        for _ in range(ms // POLL_MS):
            self.advance(POLL_MS)
            if poll and self._sealed(self.status()):
                break
        return self.truth()["stacked"] - before["stacked"]

    def _shut(self) -> bool:
        return "acceptor_door" in self.state()["standing"]

    def _sealed(self, frame: Frame) -> bool:
        """Do what the host has to do; whether the item's fate is sealed and the device at rest."""
        self._oblige(frame)
        return frame.cmd in (Status.IDLE, Status.DISABLED) and not self.truth()["in_path"]

    def _oblige(self, frame: Frame) -> None:
        if frame.cmd in (Status.ESCROW, Status.HOLDING):
            self.command(Command.STACK_1)
        elif frame.cmd == Status.VEND_VALID:
            self.ack()

    # -- power --------------------------------------------------------------------------------

    def power_on(self) -> dict[str, Any]:
        """Give it back; returns the new identity."""
        self.forget()
        return super().power_on()

    def reconnect(self) -> dict[str, Any]:
        """After a restart that the board was told to make; returns the new identity."""
        self.forget()
        return self.board.reconnect()

    def forget(self) -> None:
        """Drop what came before a restart."""
        self._decoder = Decoder()
        self._frames = []

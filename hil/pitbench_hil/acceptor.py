"""A bill acceptor on the bench: a host's wire, the link's stimuli, and time that the bench lets pass.

Device time moves by `advance` and hardly by itself, so a whole insertion takes milliseconds and a test means the same
on a busy PC: every wait here is in device milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pitbench.deadline import Deadline
from pitbench.items import Item
from pitbench.protocols import protocol_named
from pitbench.protocols.id003 import ERRORS, POWER_UPS, Command, Frame, Reply, Status, status_text
from pitbench.targets import Board

from pitbench_hil.board_bench import BoardBench, Unreached
from pitbench_hil.speech import Unsaid, speech_class

ANSWER_S = 2.0
POLL_MS = 200
AT_REST = (Status.IDLE, Status.DISABLED)
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
        # The last bytes that went to the wire.
        self.sent = b""
        self.answer_s = ANSWER_S
        self.wire = str(board.identity["wire"])
        self.speech = speech_class(self.wire)(self)
        self._decoder = protocol_named(self.wire).Decoder()
        self._frames: list[tuple[Any, bytes]] = []
        self._part = b""
        self._before = b""

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
        self.sent = data
        self.speech.overhear(data)
        self.board.wire.write(self._before + data)
        self._before = b""

    @contextmanager
    def behind(self, noise: bytes) -> Iterator[None]:
        """What is sent first in here goes out in one piece with `noise`, behind it."""
        self._before = noise
        yield
        self._before = b""

    def receive(self, seconds: float | None = None) -> Any:
        """The next frame from the board's wire, as its protocol has it; None when it stays silent that long (real
        time, `answer_s` unless given)."""
        return self._next(self.answer_s if seconds is None else seconds)[0]

    @contextmanager
    def impatient(self, seconds: float) -> Iterator[None]:
        """Wait for each answer no longer than that, in here (real time)."""
        usual, self.answer_s = self.answer_s, seconds
        try:
            yield
        finally:
            self.answer_s = usual

    def receive_bytes(self, seconds: float = ANSWER_S) -> bytes:
        """The bytes of the next frame, noise before it included; b"" when none comes (real time)."""
        return self._next(seconds)[1]

    def unreceive(self, frame: Any) -> None:
        """Put a frame back: it is the next one again."""
        self._frames.insert(0, (frame, b""))

    def _next(self, seconds: float) -> tuple[Any, bytes]:
        deadline = Deadline(seconds, self.board.clock)
        while not self._frames and not deadline.passed:
            for byte in self.board.wire.read(deadline.remaining):
                self._take(bytes((byte,)))
        return self._frames.pop(0) if self._frames else (None, b"")

    def _take(self, byte: bytes) -> None:
        self._part += byte
        for frame in self._decoder.feed(byte):
            self._frames.append((frame, self._part))
            self._part = b""

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Say a command and return the answer in ID-003's words, None if there was none."""
        return self.speech.exchange(command, data)

    def status(self) -> Frame:
        """Poll once. Raises Unreached when nothing answers."""
        frame = self.exchange(Command.STATUS_REQUEST)
        if frame is None:
            raise Unreached("a status request was not answered")
        self.seen.append(frame)
        return frame

    def announced(self) -> bool:
        """Whether the device announced news since the last exchange. Raises Unreached when anything else came."""
        return self.speech.announced()

    def ack(self) -> None:
        """Acknowledge vend valid."""
        self.speech.ack()

    def command(self, command: int, data: bytes = b"") -> Any:
        """Send a command; True if the device obeyed (ACK or echo), False if it called it invalid; else `Unsaid`."""
        frame = self.exchange(command, data)
        if frame is None:
            raise Unreached(f"command {command:02x} was not answered")
        return frame.cmd if isinstance(frame.cmd, Unsaid) else frame.cmd != Reply.INVALID_COMMAND

    def until(self, *wanted: int, within: int = 5000, step: int = POLL_MS) -> Frame:
        """Poll every `step` ms of device time until one of the statuses is seen. Raises Unreached after `within` ms.

        Skips the test where the wire tells none of them.
        """
        names = " or ".join(status_text(status) for status in wanted)
        told = {status for one in wanted if self.speech.words.told(one) for status in self.speech.words.any_of(one)}
        if not told:
            self.speech.unsayable(names)
        start = self.ms
        frame = self.status()
        while frame.cmd not in told or not (Status.ACCEPTING in wanted or self.seems(frame)):
            if self.ms - start >= within:
                raise Unreached(f"{names} not reached in {within} ms: {status_text(frame.cmd)} instead")
            self.advance(step)
            frame = self.status()
        return frame

    def seems(self, frame: Frame) -> bool:
        """Whether the device looks as the frame says: a wire that tells an item's way in as rest needs a look."""
        tells = len(self.speech.words.any_of(Status.ACCEPTING)) == 1
        return tells or frame.cmd not in AT_REST or self._is_clear()

    def _is_clear(self) -> bool:
        truth = self.truth()
        return not truth["in_path"] and not truth["chute"]

    # -- a host's errands --------------------------------------------------------------------------------

    def configure(self, settings: Iterable[tuple[int, bytes]] = ENABLE_ALL) -> None:
        """Send settings, in order."""
        for command, data in settings:
            self.command(command, data)

    def start(self, *, enabled: bool = True) -> None:
        """Bring a board that has just started to idle (or disabled), as a host does."""
        told_before = self.speech.unset if self.speech.starts_once else ()
        self.until(*POWER_UPS, *ERRORS, *told_before)
        self.advance(1000)
        self.command(Command.RESET)
        self.ready(enabled=enabled)

    def ready(self, *, enabled: bool = True) -> None:
        """From initialise to idle (or disabled): settings, then waiting."""
        self.until(*self.speech.unset)
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
        self._decoder = protocol_named(self.wire).Decoder()
        self._frames = []
        self._part = b""
        self.speech.forget()

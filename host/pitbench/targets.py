"""Targets: open one, and get a board with its link, its wire and its power."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pitbench import image as images
from pitbench.addresses import EMULATED, EMULATED_BOARD, LINK, Target, parse_target
from pitbench.deadline import Deadline
from pitbench.errors import BeyondRig, PitbenchError
from pitbench.found_port import FoundPort
from pitbench.framing import Framing
from pitbench.link import LinkClient, LinkTimeout
from pitbench.protocols import Protocol, protocol_named
from pitbench.real_rig import VIRTUAL_ONLY, RealRig, open_rig
from pitbench.sources import wire_of
from pitbench.transport import LINK_FRAMING, TraceSink, Transport, TransportGone, open_transport
from pitbench.tunnel import TunnelTransport
from pitbench.uf2 import find_uf2, read_uf2
from pitbench.virtual import VirtualBoard, find_interpreter
from pitbench.virtual.board import NOTE_MARK
from pitbench.virtual.flash import FLASH_FILE

__all__ = ["Board", "NotOneBoard", "Target", "board_of", "open_target", "parse_target", "prove_same_board"]

READY_S = 20.0
# A board that restarted by itself has its USB port back within this time.
BACK_S = 10.0
WIRE_ANSWER_S = 1.0
PTYS = "/dev/pts/"
REAL_RUNG = "board"
START_OVER = "start_over"
# How power is cut, for the report.
CUTS = {"unix": "process killed", "wasm": "process killed", "emu": "emulated chip's power"}


class NotOneBoard(PitbenchError):
    """The link and the wire belong to different boards, or one of them to none."""


class Board:
    """One board, virtual or real, held by this bench until it is closed.

    Args:
        target: where it is.
        rung: what it stands on, for the report: "unix", "wasm", "emu" or "board".
        link: client of its link, session open.
        wire: its second port, as a slot machine would hold it.
        virtual: its supervisor, None on a real board.
        real: what stands around a real board, None on a virtual one.
    """

    def __init__(
        self,
        target: Target,
        rung: str,
        link: LinkClient,
        wire: Transport,
        virtual: VirtualBoard | None = None,
        real: RealRig | None = None,
    ) -> None:
        self.target = target
        self.rung = rung
        self.link = link
        self.wire = wire
        self.virtual = virtual
        self.real = real
        self._held = ExitStack()
        if virtual is None:
            link.come_back = self._ports_are_back

    @property
    def clock(self) -> Callable[[], float]:
        """Seconds by which to measure waits: an emulated board's own, which goes slower than the wall."""
        return self.virtual.clock if self.virtual else time.monotonic

    @property
    def byte_ms(self) -> float:
        """Time that one byte takes on the wire, in ms; none on a pty alone."""
        is_pty = self.rung != EMULATED and (self.virtual is not None or self.wire.url.startswith(PTYS))
        return 0.0 if is_pty or self.wire.url == LINK else self.protocol.FRAMING.byte_ms

    @property
    def identity(self) -> dict[str, Any]:
        """What the board last said of itself in hello."""
        return self.link.identity

    @property
    def protocol(self) -> Protocol:
        """The protocol on its wire. Raises UnknownName."""
        return protocol_named(str(self.identity["wire"]))

    @property
    def rig(self) -> VirtualBoard | RealRig:
        """What cuts its power and sets its sensors. Raises BeyondRig where nothing does."""
        rig = self.virtual or self.real
        if rig is None:
            raise BeyondRig("cut the board's power", "Name it in the target: rig=PORT,power=hub.")
        return rig

    @property
    def has_power(self) -> bool:
        """Whether it has power, as far as its rig took it away."""
        rig = self.virtual or self.real
        return rig is None or rig.alive

    @property
    def supervisor(self) -> VirtualBoard:
        """The supervisor of a virtual board, with its files. Raises BeyondRig on a real one."""
        if self.virtual is None:
            raise BeyondRig("reach into the board from outside", VIRTUAL_ONLY)
        return self.virtual

    @property
    def cut_kind(self) -> str:
        """Which kind of power cut its rig makes, for the report; "" where it makes none."""
        return self.real.cut_kind if self.real else CUTS.get(self.rung, "")

    def cut(self) -> None:
        """Take its power away; nothing that was under way arrives. Raises BeyondRig where the rig can't."""
        self.rig.cut()
        if self.real:
            self.wire.flush_input()

    def power_on(self, cause: str = "power") -> dict[str, Any]:
        """Give it power again and wait until it answers; returns its identity.

        On a real board a cut counts only if its boot counter moved. Raises BeyondRig, LinkTimeout, PitbenchError.
        """
        was_off, before = self.real is not None and not self.has_power, self.link.boot
        self.rig.power_on(cause)
        identity = self.reconnect()
        if was_off and identity.get("boot") == before:
            raise PitbenchError(
                f"The {self.cut_kind} was switched off and on, and the board's boot counter stayed {before}.",
                "Look whether something else feeds the board, its wire's adapter perhaps.",
            )
        return identity

    def start_over(self) -> dict[str, Any]:
        """Have a bench image forget all that it keeps, and restart in a new world; returns its new identity.

        Raises LinkError where the image has no bench, LinkTimeout, PitbenchError.
        """
        self.link.do(START_OVER)
        identity = self.reconnect()
        if identity.get("reset") != START_OVER:
            raise PitbenchError(
                f"The board was to start over, and says that it started by '{identity.get('reset')}'.",
                "Look whether something else resets it.",
            )
        return identity

    def reconnect(self, seconds: float = READY_S) -> dict[str, Any]:
        """Wait until it answers after a restart, under whatever name its ports then have; returns its identity.

        Raises LinkTimeout, PitbenchError.
        """
        deadline = Deadline(seconds, self.clock)
        try:
            return self._greeted(deadline)
        except LinkTimeout as error:
            if self.virtual and self._is_hopeless():
                raise _crash_report(self.virtual) from error
            raise

    def _greeted(self, deadline: Deadline) -> dict[str, Any]:
        while True:
            try:
                return self.link.reconnect(deadline, self._is_hopeless)
            except TransportGone:
                if self.virtual or deadline.passed:
                    raise
                self._open_again(deadline)

    def _open_again(self, deadline: Deadline) -> None:
        for port in (self.link.transport, self.wire):
            again = getattr(port, "open_again", None)
            if again:
                again(deadline)

    def _ports_are_back(self) -> bool:
        """Whether ports that went away under a request are there again: the board restarted, and wasn't unplugged."""
        if not self.has_power:
            return False
        try:
            self._open_again(Deadline(BACK_S))
        except PitbenchError:
            return False
        return True

    def holds(self, held: ExitStack) -> None:
        """Hand it what `close` has to close."""
        self._held = held

    def close(self) -> None:
        """Give the ports back, and end a virtual board."""
        self._held.close()

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _is_hopeless(self) -> bool:
        return self.virtual is not None and not self.virtual.alive


class NoPower(PitbenchError):
    """A virtual board is off that was to answer: nobody switched it on, or it was cut at its start."""


def open_target(
    target: str | Target,
    *,
    device: str = "bill-acceptor",
    kind: str = "bench",
    wire: str | None = None,
    image: images.Image | None = None,
    root: Path | None = None,
    trace: TraceSink | None = None,
    timeout: float = 2.0,
) -> Board:
    """Open a board, starting it first where it is virtual.

    Args:
        target: as typed, or parsed.
        device: what it is, for the settings of its wire, and the image to build for a virtual board.
        kind: of that image.
        wire: the protocol, None for the device's usual one; an image that is given says it by itself.
        image: built image for a virtual board.
        root: folder that is a virtual board's flash, with console.log beside it; laid out from the image unless it
            holds a boot.py already. Without it, a temporary folder that goes with the board.
        trace: sink for both ports.
        timeout: seconds for each reply on the link.

    Raises: PitbenchError of many kinds, each one sentence.
    """
    where = parse_target(target) if isinstance(target, str) else target
    with ExitStack() as held:
        wire = wire_of(device, image.wire if image else wire)
        framing = protocol_named(wire).FRAMING
        if where.virtual:
            virtual = _virtual_board(where, device, kind, wire, image, root, held)
            board = _open_virtual(virtual, where, framing, timeout, trace, held)
        else:
            board = _open_real(where, framing, timeout, trace, held)
        board.holds(held.pop_all())
        return board


def _open_virtual(
    virtual: VirtualBoard,
    where: Target,
    framing: Framing,
    timeout: float,
    trace: TraceSink | None,
    held: ExitStack,
) -> Board:
    held.enter_context(virtual)
    link = held.enter_context(open_transport(virtual.link_path, name="link", trace=trace))
    client = LinkClient(link, timeout, virtual.clock)
    wire: Transport = TunnelTransport(client, trace)
    if where.wire != LINK:
        wire = held.enter_context(open_transport(virtual.wire_path, name="wire", framing=framing, trace=trace))
    board = Board(where, virtual.interpreter.kind, client, wire, virtual)
    board.reconnect()
    return board


def _open_real(where: Target, framing: Framing, timeout: float, trace: TraceSink | None, held: ExitStack) -> Board:
    link = held.enter_context(FoundPort(where.link, "link", LINK_FRAMING, trace))
    client = LinkClient(link, timeout)
    wire: Transport = TunnelTransport(client, trace)
    if where.wire != LINK:
        wire = held.enter_context(FoundPort(where.wire, "wire", framing, trace))
    board = Board(where, REAL_RUNG, client, wire)
    board.reconnect()
    if where.rig or where.power:
        board.real = open_rig(where, str(board.identity.get("board")), held)
    return board


def _virtual_board(
    target: Target, device: str, kind: str, wire: str, image: images.Image | None, root: Path | None, held: ExitStack
) -> VirtualBoard:
    if root is None:
        root = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="pitbench-"))) / "board"
    if not any((root / name).exists() for name in ("boot.py", FLASH_FILE)):
        image = image or images.build_image(
            device, kind, root.parent / "image", board=board_of(target), wire=wire, tunnel=target.wire == LINK
        )
    return make_board(target, root, image)


def make_board(target: Target, root: Path, image: images.Image | None = None) -> VirtualBoard:
    """Return a virtual or emulated board whose flash is in the folder `root`; it is off.

    `image` is put on it, in place of the one there; data of an earlier life are left alone. Raises PitbenchError.
    """
    if target.interpreter == EMULATED:
        # Only here: whoever asks for no emulator waits for none to load.
        from pitbench.emulated.board import make_emulated

        _refuse_another(image, target, EMULATED_BOARD)
        return make_emulated(root, image, micropython_of(target))
    interpreter = find_interpreter(target.interpreter)
    _refuse_another(image, target, interpreter.kind)
    if image:
        images.install(image, root)
    return VirtualBoard(root, interpreter)


def _refuse_another(image: images.Image | None, target: Target, board: str) -> None:
    if image and image.board not in ("", board):
        raise PitbenchError(
            f"The image is built for {image.board}, and {target.text} is a {board}.", f"Build it with --board {board}."
        )


def _crash_report(virtual: VirtualBoard) -> PitbenchError:
    if not virtual.gave_up:
        return NoPower("The board has no power.", "Switch it on first.")
    lines = virtual.console.read_text(errors="replace").splitlines()
    last = next((line for line in reversed(lines) if not line.startswith(NOTE_MARK)), "it wrote nothing")
    return PitbenchError(f"The board crashes at every start: {last}.", f"Read {virtual.console}.")


def board_of(target: str | Target) -> str:
    """Return the name of the board (`boards/NAME.toml`) that a virtual target is. Raises PitbenchError."""
    where = parse_target(target) if isinstance(target, str) else target
    return EMULATED_BOARD if where.interpreter == EMULATED else find_interpreter(where.interpreter).kind


def prove_startable(target: Target) -> None:
    """Look for what a virtual target runs on, before anything is built for it.

    Raises PitbenchError for an interpreter or a UF2 that isn't there or won't do, saying how to get one.
    """
    if target.interpreter == EMULATED:
        read_uf2(micropython_of(target))
    else:
        find_interpreter(target.interpreter)


def micropython_of(target: Target) -> Path:
    """Return the UF2 that an emulated board boots. Raises PitbenchError where none is found, saying how to get one."""
    return Path(target.uf2) if target.uf2 else find_uf2()


def prove_same_board(board: Board) -> str:
    """Show that link and wire are one board, before any rule is judged on both.

    The link's counter of wire frames must have moved by the one frame sent; where the answer tells a signature (a
    version text of ID-003), it must be the one that the link reports. Returns what the wire answered. Raises
    NotOneBoard, PitbenchError.
    """
    if board.identity.get("inoperable"):
        raise PitbenchError(f"The board is inoperable: {board.identity['inoperable']}.", "Give it a sound image.")
    _prepare(board)
    before = board.link.do("status")["frames"]
    text = _answer_over_wire(board)
    moved = board.link.do("status")["frames"] - before
    crc = str(board.identity["crc"])
    if board.protocol.TELLS_SIGNATURE and crc.lower() not in text.lower():
        raise _not_one(board, f"the wire says '{text}' and the link says signature {crc}")
    if moved != 1:
        raise _not_one(board, f"one frame was sent over the wire and the board counted {moved}")
    return text


def _prepare(board: Board) -> None:
    """Where an answer may be the last one again, have another one before it."""
    first = getattr(board.protocol, "BEFORE_WHO", b"")
    if first:
        board.wire.flush_input()
        board.wire.write(first)
        board.wire.read(WIRE_ANSWER_S)


def _answer_over_wire(board: Board) -> str:
    protocol, deadline = board.protocol, Deadline(WIRE_ANSWER_S, board.clock)
    decoder = protocol.Decoder()
    board.wire.flush_input()
    board.wire.write(protocol.WHO)
    while not deadline.passed:
        for frame in decoder.feed(board.wire.read(deadline.remaining)):
            text = protocol.who_text(frame)
            if text is not None:
                return text
    raise _not_one(board, f"nothing answered on its {protocol.TITLE} wire within {WIRE_ANSWER_S:g} s")


def _not_one(board: Board, why: str) -> NotOneBoard:
    return NotOneBoard(
        f"Link and wire of {board.target.text} are not one board: {why}.", "Look at the cables and the target."
    )

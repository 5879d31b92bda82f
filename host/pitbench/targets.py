"""Targets: open one, and get a board with its link, its wire and its power."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pitbench import image as images
from pitbench.addresses import Target, parse_target, port_of
from pitbench.deadline import Deadline
from pitbench.errors import NotBuilt, PitbenchError
from pitbench.link import LinkClient, LinkTimeout
from pitbench.protocols import id003
from pitbench.transport import ID003_FRAMING, TraceSink, Transport, open_transport
from pitbench.virtual import VirtualBoard, find_interpreter
from pitbench.virtual.board import NOTE_MARK

__all__ = ["Board", "NotOneBoard", "Target", "board_of", "open_target", "parse_target", "prove_same_board"]

READY_S = 20.0
WIRE_ANSWER_S = 1.0
REAL_RUNG = "board"


class NotOneBoard(PitbenchError):
    """The link and the wire belong to different boards, or one of them to none."""


class Board:
    """One board, virtual or real, held by this bench until it is closed.

    Args:
        target: where it is.
        rung: what it stands on, for the report: "unix", "wasm" or "board".
        link: client of its link, session open.
        wire: its second port, as a slot machine would hold it.
        virtual: its supervisor, None on a real board.
    """

    def __init__(
        self, target: Target, rung: str, link: LinkClient, wire: Transport, virtual: VirtualBoard | None = None
    ) -> None:
        self.target = target
        self.rung = rung
        self.link = link
        self.wire = wire
        self.virtual = virtual
        self._held = ExitStack()

    @property
    def identity(self) -> dict[str, Any]:
        """What the board last said of itself in hello."""
        return self.link.identity

    def cut(self) -> None:
        """Take its power away. Raises NotBuilt on a real board."""
        self._supervisor().cut()

    def power_on(self, cause: str = "power") -> dict[str, Any]:
        """Give it power again and wait until it answers; returns its identity. Raises NotBuilt, LinkTimeout."""
        self._supervisor().power_on(cause)
        return self.reconnect()

    def reconnect(self, seconds: float = READY_S) -> dict[str, Any]:
        """Wait until it answers after a restart; returns its identity. Raises LinkTimeout, PitbenchError."""
        try:
            return self.link.reconnect(Deadline(seconds), self._is_hopeless)
        except LinkTimeout as error:
            if self.virtual and self._is_hopeless():
                raise _crash_report(self.virtual) from error
            raise

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

    def _supervisor(self) -> VirtualBoard:
        if self.virtual is None:
            raise NotBuilt("Cutting the power of a real board", "Run rules that need it on a virtual board.")
        return self.virtual


def open_target(
    target: str | Target,
    *,
    device: str = "bill-acceptor",
    kind: str = "bench",
    image: images.Image | None = None,
    root: Path | None = None,
    trace: TraceSink | None = None,
    timeout: float = 2.0,
) -> Board:
    """Open a board, starting it first where it is virtual.

    Args:
        target: as typed, or parsed.
        device, kind: image to build for a virtual board when none is handed in.
        image: built image for a virtual board.
        root: folder that is a virtual board's flash, with console.log beside it; laid out from the image unless it
            holds a boot.py already. Without it, a temporary folder that goes with the board.
        trace: sink for both ports.
        timeout: seconds for each reply on the link.

    Raises: PitbenchError of many kinds, each one sentence.
    """
    where = parse_target(target) if isinstance(target, str) else target
    with ExitStack() as held:
        virtual = held.enter_context(_virtual_board(where, device, kind, image, root, held)) if where.virtual else None
        link_port = virtual.link_path if virtual else port_of(where.link)
        wire_port = virtual.wire_path if virtual else port_of(where.wire)
        link = held.enter_context(open_transport(link_port, name="link", trace=trace))
        wire = held.enter_context(open_transport(wire_port, name="wire", framing=ID003_FRAMING, trace=trace))
        rung = virtual.interpreter.kind if virtual else REAL_RUNG
        board = Board(where, rung, LinkClient(link, timeout), wire, virtual)
        board.reconnect()
        board.holds(held.pop_all())
        return board


def _virtual_board(
    target: Target, device: str, kind: str, image: images.Image | None, root: Path | None, held: ExitStack
) -> VirtualBoard:
    interpreter = find_interpreter(target.interpreter)
    if root is None:
        root = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="pitbench-"))) / "board"
    if not (root / "boot.py").exists():
        built = image or images.build_image(device, kind, root.parent / "image", board=interpreter.kind)
        images.install(built, root)
    return VirtualBoard(root, interpreter)


def _crash_report(virtual: VirtualBoard) -> PitbenchError:
    if not virtual.gave_up:
        return PitbenchError("The virtual board has no power.", "Switch it on first.")
    lines = virtual.console.read_text(errors="replace").splitlines()
    last = next((line for line in reversed(lines) if not line.startswith(NOTE_MARK)), "it wrote nothing")
    return PitbenchError(f"The virtual board crashes at every start: {last}.", f"Read {virtual.console}.")


def board_of(target: str | Target) -> str:
    """Return the name of the board (`boards/NAME.toml`) that a virtual target is. Raises PitbenchError."""
    where = parse_target(target) if isinstance(target, str) else target
    return find_interpreter(where.interpreter).kind


def prove_same_board(board: Board) -> str:
    """Show that link and wire are one board, before any rule is judged on both.

    The version text that comes over the wire must carry the signature that the link reports, and the link's counter
    of wire frames must have moved by the one frame sent. Returns the version text. Raises NotOneBoard, PitbenchError.
    """
    if board.identity.get("inoperable"):
        raise PitbenchError(f"The board is inoperable: {board.identity['inoperable']}.", "Give it a sound image.")
    before = board.link.do("status")["frames"]
    text = _version_over_wire(board)
    moved = board.link.do("status")["frames"] - before
    crc = str(board.identity["crc"])
    if crc.lower() not in text.lower():
        raise _not_one(board, f"the wire says '{text}' and the link says signature {crc}")
    if moved != 1:
        raise _not_one(board, f"one frame was sent over the wire and the board counted {moved}")
    return text


def _version_over_wire(board: Board) -> str:
    decoder, deadline = id003.Decoder(), Deadline(WIRE_ANSWER_S)
    board.wire.flush_input()
    board.wire.write(id003.encode(id003.Command.VERSION))
    while not deadline.passed:
        for frame in decoder.feed(board.wire.read(deadline.remaining)):
            if frame.cmd == id003.Command.VERSION:
                return bytes(frame.data).decode("ascii", "replace")
    raise _not_one(board, f"nothing answered the version request on the wire within {WIRE_ANSWER_S:g} s")


def _not_one(board: Board, why: str) -> NotOneBoard:
    return NotOneBoard(
        f"Link and wire of {board.target.text} are not one board: {why}.", "Look at the cables and the target."
    )

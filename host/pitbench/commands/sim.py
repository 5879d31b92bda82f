"""Start a virtual or emulated board and keep it up: two ports that any program may open.

Type `cut`, `power` or `quit`; Ctrl-C ends it too. Both ports are yours: nothing else opens them, unless you ask for
`--events`, which looks into the board over its link three times a second.
"""

from __future__ import annotations

import argparse
import select
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from pitbench.addresses import EMULATED, LINK, parse_target
from pitbench.deadline import Deadline
from pitbench.devices import BUILT, device_named, examples
from pitbench.errors import PitbenchError
from pitbench.event_watch import EventWatch
from pitbench.folder_lock import FolderLock, HeldByAnother
from pitbench.image import KINDS, Image, build_image
from pitbench.link import LinkClient, LinkTimeout
from pitbench.protocols import protocol_named
from pitbench.sources import add_wire, wire_of
from pitbench.targets import board_of, make_board, prove_startable
from pitbench.transport import open_transport
from pitbench.virtual import VirtualBoard

LOOK_EVERY_S = 0.3
LOCK = "running"
MARK = "board.txt"
START_S = 5.0
USAGE = """\
{device} ({kind} image {revision}, signature {crc:04x}) runs on {rung} ({interpreter}).

  link  {link}   for the bench: JSON lines
  wire  {wire}   for a host: {protocol}

Try, in another window:
{examples}
{hint}
Type here: cut (power off), power (on again), quit.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("device", help=", ".join(BUILT))
    parser.add_argument("--target", default="virtual", help="virtual (default), unix:, wasm: or emu:")
    parser.add_argument("--kind", choices=KINDS, default="bench", help="image kind (default: bench)")
    add_wire(parser)
    parser.add_argument("--folder", type=Path, help="keep the board here (default: a temporary folder)")
    parser.add_argument(
        "--events", action="store_true", help="print the board's events too; then leave its link to pitbench do"
    )


def run(args: argparse.Namespace) -> int:
    device = device_named(args.device)
    protocol = wire_of(device, args.wire)
    target = parse_target(args.target)
    if not target.virtual:
        raise PitbenchError(f"{args.target} is a real board already.", "Use pitbench do with its port.")
    prove_startable(target)
    with ExitStack() as held:
        folder = args.folder or Path(held.enter_context(tempfile.TemporaryDirectory(prefix="pitbench-sim-")))
        held.enter_context(_alone_in(folder))
        _refuse_another(folder, device, "emulated" if target.interpreter == EMULATED else "virtual")
        image = build_image(
            device, args.kind, folder / "image", board=board_of(target), wire=protocol, tunnel=target.wire == LINK
        )
        board = held.enter_context(make_board(target, folder / "board", image))
        trouble = trouble_of(board)
        words = {"device": device, "kind": image.kind, "revision": image.revision, "crc": image.crc}
        tunnel = f"over the link: pitbench bridge {board.link_path} --tunnel --protocol {protocol}"
        ports = {"link": board.link_path, "wire": tunnel if target.wire == LINK else board.wire_path}
        ports |= {"rung": f"{board.interpreter.kind}:", "interpreter": board.interpreter.source}
        print(USAGE.format(**words, **ports, **advice(image, board.link_path, board.wire_path)), flush=True)
        if trouble:
            print(trouble, flush=True)
        keep_up(board, args.events)
    return 0


def _alone_in(folder: Path) -> FolderLock:
    folder.mkdir(parents=True, exist_ok=True)
    try:
        return FolderLock(folder / LOCK)
    except HeldByAnother as error:
        raise PitbenchError(
            f"The board in {folder} runs already (process {error.process}).",
            "Stop it, or give this one another --folder.",
        ) from error


def _refuse_another(folder: Path, device: str, board: str) -> None:
    """A device takes up what it finds: another one's memory would be no memory of its own."""
    mark, mine = folder / MARK, f"{board} {device}\n"
    there = mark.read_text(encoding="utf-8", errors="replace") if mark.exists() else mine
    if there != mine:
        raise PitbenchError(f"{folder} holds another board: {there.strip()}.", "Give this one its own --folder.")
    mark.write_text(mine, encoding="utf-8")


def advice(image: Image, link: str, wire: str) -> dict[str, str]:
    """What a person may do with the ports of a device: name of the wire's protocol, examples, a hint."""
    protocol = protocol_named(image.wire)
    tried = ["status", *examples(image.device, image.kind), "events"]
    return {
        "protocol": f"{protocol.TITLE}, {protocol.FRAMING}",
        "examples": "\n".join(f"  pitbench do --link {link} {words}" for words in tried),
        "hint": protocol.HINT.format(wire=wire),
    }


def trouble_of(board: VirtualBoard) -> str:
    """A sentence about a board that is mute or inoperable, "" for a sound one. Asked before anybody knows its ports."""
    try:
        with open_transport(board.link_path) as transport:
            link, deadline = LinkClient(transport, clock=board.clock), Deadline(START_S, board.clock)
            why = link.reconnect(deadline, lambda: not board.alive).get("inoperable")
    except LinkTimeout:
        return f"The board is mute: it answers nothing on its link. Its console is {board.console}."
    return f"The board is inoperable: {why}. Its console is {board.console}." if why else ""


def keep_up(board: VirtualBoard, events: bool) -> None:
    """Print what happens to a board, and obey what is typed, until `quit` or Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = EventWatch(board, events)
    while obey(board, _typed()):
        board.freshen_ports()
        for line in watch.news():
            print(line, flush=True)


def obey(board: VirtualBoard, word: str) -> bool:
    """Do what one typed word says; whether to go on."""
    if word == "cut":
        board.cut()
    elif word == "power":
        board.power_on()
    elif word and word != "quit":
        print(f"'{word}' is no command here; type cut, power or quit", flush=True)
    return word != "quit"


def _typed() -> str:
    global _listening
    ready = select.select([sys.stdin] if _listening else [], [], [], LOOK_EVERY_S)[0]
    line = sys.stdin.readline() if ready else ""
    if ready and not line:
        # No terminal, or Ctrl-D: the board stays up, and nothing more can be typed.
        _listening = False
    return line.strip()


_listening = True

"""Start a virtual board and keep it up: two ports that any program may open.

Type `cut`, `power` or `quit`; Ctrl-C ends it too.
"""

from __future__ import annotations

import argparse
import select
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from pitbench.addresses import parse_target
from pitbench.devices import device_named
from pitbench.errors import PitbenchError
from pitbench.event_watch import EventWatch
from pitbench.image import KINDS, build_image, install
from pitbench.targets import board_of
from pitbench.virtual import VirtualBoard, find_interpreter

LOOK_EVERY_S = 0.3
USAGE = """\
{device} ({kind} image {revision}, signature {crc:04x}) runs on {interpreter}.

  link  {link}   for the bench: JSON lines
  wire  {wire}   for a host: ID-003, 9600 8E1

Try, in another window:
  pitbench do --link {link} status
  pitbench do --link {link} insert usd20
  pitbench do --link {link} events
Point a kiosk or slot machine at the wire. Type here: cut (power off), power (on again), quit.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("device", help="bill-acceptor")
    parser.add_argument("--target", default="virtual", help="virtual (default), unix: or wasm:")
    parser.add_argument("--kind", choices=KINDS, default="bench", help="image kind (default: bench)")
    parser.add_argument("--folder", type=Path, help="keep the board here (default: a temporary folder)")


def run(args: argparse.Namespace) -> int:
    device = device_named(args.device)
    target = parse_target(args.target)
    if not target.virtual:
        raise PitbenchError(f"{args.target} is a real board already.", "Use pitbench do with its port.")
    with ExitStack() as held:
        folder = args.folder or Path(held.enter_context(tempfile.TemporaryDirectory(prefix="pitbench-sim-")))
        image = build_image(device, args.kind, folder / "image", board=board_of(target))
        install(image, folder / "board")
        board = held.enter_context(VirtualBoard(folder / "board", find_interpreter(target.interpreter)))
        words = {"device": device, "kind": image.kind, "revision": image.revision, "crc": image.crc}
        ports = {"link": board.link_path, "wire": board.wire_path, "interpreter": board.interpreter.source}
        print(USAGE.format(**words, **ports), flush=True)
        keep_up(board)
    return 0


def keep_up(board: VirtualBoard) -> None:
    """Print what happens to a board, and obey what is typed, until `quit` or Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watch = EventWatch(board)
    try:
        while obey(board, _typed()):
            board.freshen_ports()
            for line in watch.news():
                print(line, flush=True)
    except KeyboardInterrupt:
        print("ended", flush=True)


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

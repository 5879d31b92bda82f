"""Put a device's image onto boards that have MicroPython, prove every file by digest, start them, greet them.

pitbench flash bill-acceptor --board rpi-pico                      the one Pico that is plugged in
pitbench flash bill-acceptor --board rpi-pico --port usb:E66…      one of several, by its USB serial number
pitbench flash bill-acceptor --board rpi-pico --all                every Pico that is plugged in, at once
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pitbench.addresses import EMULATED_BOARD, port_of
from pitbench.board_facts import board_facts
from pitbench.devices import BUILT, device_named
from pitbench.discovery import IN_BOOT_ROM, board_ports, find_boards
from pitbench.errors import PitbenchError
from pitbench.flashing import READY_S, flash_board
from pitbench.image import KINDS, Image, build_image
from pitbench.signing import add_signing_key, signing_key
from pitbench.sources import add_wire


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("device", help=", ".join(BUILT))
    parser.add_argument("--board", default="rpi-pico", help="which board it is (default: rpi-pico)")
    parser.add_argument("--port", action="append", default=[], help="path, URL or usb:SERIAL; may be given again")
    parser.add_argument("--all", action="store_true", help="every board of this kind that is plugged in")
    parser.add_argument("--kind", choices=KINDS, default="bench", help="image kind (default: bench)")
    parser.add_argument("--fresh", action="store_true", help="remove /data too: meters, log and state")
    parser.add_argument(
        "--wait",
        type=float,
        default=READY_S,
        metavar="SECONDS",
        help="for its answer after a restart (default: %(default)g)",
    )
    add_wire(parser)
    parser.add_argument("--tunnel", action="store_true", help="its wire goes over the link: for a board with one port")
    add_signing_key(parser)
    parser.add_argument("--clean", action="store_true", help="remove files that are no part of an image")


def run(args: argparse.Namespace) -> int:
    device, facts = device_named(args.device), board_facts(args.board)
    ports = [port_of(port) for port in args.port] or found_ports(args.board, args.all)
    names = filter(None, (device, args.wire, args.kind, args.board))
    out, key = Path("build") / "-".join(names), signing_key(args.signing_key)
    image = build_image(device, args.kind, out, board=args.board, wire=args.wire, tunnel=args.tunnel, key=key)
    print(
        f"{device} {image.kind} image, revision {image.revision}, signature {image.crc:04x}, key {image.key}",
        flush=True,
    )
    options = {"fresh": args.fresh, "clean": args.clean, "ready_s": args.wait}
    with ThreadPoolExecutor(len(ports)) as pool:
        done = list(pool.map(lambda port: flash_one(port, image, facts, options), ports))
    return 0 if all(done) else 1


def found_ports(board: str, every: bool) -> list[str]:
    """Ports of the boards of a kind that are plugged in. Raises PitbenchError unless it is one, or `every` is meant."""
    if board == EMULATED_BOARD:
        raise PitbenchError(f"{board} is no board to plug in.", "Start one: `pitbench sim DEVICE --target emu:`.")
    boards = find_boards(look=None)
    ports = board_ports(boards, board)
    if not ports and any(found.runs.kind == IN_BOOT_ROM and board in found.names for found in boards):
        raise PitbenchError(
            f"A {board} is plugged in, in its boot ROM, and so has no MicroPython to copy files with.",
            "Put MicroPython on it first, or all at once: `pitbench image uf2` where the board takes UF2 files.",
        )
    if not ports:
        raise PitbenchError(f"No {board} with a serial port is plugged in.", "`pitbench boards` shows what is.")
    if len(ports) > 1 and not every:
        raise PitbenchError(
            f"{len(ports)} boards can be a {board}: {', '.join(ports)}.",
            "Choose with --port usb:SERIAL (`pitbench boards` shows the numbers), or flash --all.",
        )
    return ports


def flash_one(port: str, image: Image, facts: Mapping[str, Any], options: Mapping[str, Any]) -> bool:
    """Flash one board, with its port before each line; whether it went well."""

    def say(text: str) -> None:
        print(f"{port}  {text}", flush=True)

    try:
        done = flash_board(port, image, facts, say=say, **options)
    except PitbenchError as error:
        say(f"NOT FLASHED: {error}")
        return False
    identity = done["identity"]
    counts = f"{len(done['copied'])} copied, {done['kept']} kept, {len(done['removed'])} removed"
    say(f"flashed: {counts}; {identity.get('device')} answers on {done['port']}, boot {identity.get('boot')}")
    return True

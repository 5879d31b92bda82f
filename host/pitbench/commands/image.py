"""Build the image of a device: a folder, one UF2 file with MicroPython in it, or a file system alone.

pitbench image bill-acceptor                               folder laid out as the board's file system
pitbench image uf2 bill-acceptor --board rpi-pico          UF2 to drop on the board's drive, MicroPython included
pitbench image littlefs bill-acceptor --board BOARD        file system alone, for esptool, picotool and their kind
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pitbench.board_facts import board_facts
from pitbench.combined import combined_uf2, micropython_flash, refuse_board_without_uf2
from pitbench.devices import BUILT, device_named
from pitbench.errors import PitbenchError, UnknownName
from pitbench.image import KINDS, Image, build_image
from pitbench.littlefs_image import geometry, make_filesystem
from pitbench.protocols import protocol_named
from pitbench.signing import add_signing_key, signing_key
from pitbench.sources import add_wire
from pitbench.uf2 import find_uf2

FORMS = ("folder", "uf2", "littlefs")
USUAL_BOARD = {"folder": "unix", "uf2": "rpi-pico", "littlefs": "rpi-pico"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("words", nargs="+", metavar="[folder|uf2|littlefs] DEVICE", help="form, device: bill-acceptor")
    parser.add_argument("--kind", choices=KINDS, default="bench", help="release has no bench code (default: bench)")
    parser.add_argument(
        "--board", help="board whose facts go into the boot block (default: unix, for uf2 and littlefs rpi-pico)"
    )
    parser.add_argument(
        "--uf2",
        type=Path,
        metavar="MICROPYTHON.uf2",
        help="make a UF2 with this MicroPython (default: $PITBENCH_UF2, else the newest in the cache folder)",
    )
    add_wire(parser)
    parser.add_argument("--tunnel", action="store_true", help="its wire goes over the link: for a board with one port")
    add_signing_key(parser)
    parser.add_argument("--out", type=Path, help="folder or file to write (default: build/DEVICE-KIND-BOARD…)")


def run(args: argparse.Namespace) -> int:
    form, device = _form_and_device(args.words, args.uf2)
    board = args.board or USUAL_BOARD[form]
    _check_before_building(form, board_facts(board), args.uf2)
    folder = Path("build") / "-".join(filter(None, (device, args.wire, args.kind, board)))
    out = args.out if args.out and form == "folder" else folder
    _refuse_foreign(out)
    image = build_image(
        device, args.kind, out, board=board, wire=args.wire, tunnel=args.tunnel, key=signing_key(args.signing_key)
    )
    title = protocol_named(image.wire).TITLE
    print(f"{device} {image.kind} image for {image.board}, revision {image.revision}, wire {title}")
    print(f"signature {image.crc:04x}")
    print(f"sha256    {image.digest}")
    print(f"key       {image.key}")
    print(f"files     {len(image.files)} in {image.folder}")
    if form != "folder":
        _WRITERS[form](image, args.out or folder.with_name(folder.name + _SUFFIX[form]), args.uf2)
    return 0


def _refuse_foreign(folder: Path) -> None:
    """An image is a board's file system: what else lies there would go onto the board, or be taken away."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "boot.py").is_file():
        raise PitbenchError(f"{folder} holds other files than an image.", "Name an empty folder, or a new one.")


def _check_before_building(form: str, facts: Mapping[str, Any], uf2: Path | None) -> None:
    if form == "uf2":
        refuse_board_without_uf2(facts)
        micropython_flash(_micropython(facts, uf2), facts)
    if form == "littlefs":
        geometry(facts)


def _micropython(facts: Mapping[str, Any], uf2: Path | None) -> Path:
    return uf2 or find_uf2(str(facts.get("micropython", "RPI_PICO")))


def _form_and_device(words: list[str], uf2: Path | None) -> tuple[str, str]:
    *forms, device = words
    form = forms[0] if forms else "uf2" if uf2 else "folder"
    if form not in FORMS or len(forms) > 1:
        raise UnknownName("form of an image", " ".join(forms), list(FORMS))
    if device in FORMS:
        raise PitbenchError(f"Of which device is the {device} to be made?", f"Name it behind: {', '.join(BUILT)}.")
    return form, device_named(device)


def _write_uf2(image: Image, out: Path, uf2: Path | None) -> None:
    facts = board_facts(image.board)
    micropython = _micropython(facts, uf2)
    content = combined_uf2(micropython, image, facts)
    _write(out, content)
    print(f"uf2       {out}, {len(content)} bytes, with {micropython.name}")
    print("Hold BOOTSEL while you plug the board in, and drop this file on the drive that appears; /data starts empty.")


def _write_littlefs(image: Image, out: Path, uf2: Path | None) -> None:
    facts = board_facts(image.board)
    content, offset = make_filesystem(image.files, facts), geometry(facts).offset
    _write(out, content)
    print(f"littlefs  {out}, {len(content)} bytes")
    print(f"It belongs at {offset:#x} in the flash of a board that has MicroPython already.")
    if facts["flash"] == "esptool":
        print(f"  esptool --port PORT write_flash {offset:#x} {out}")
    print("This empties the board's /data; `pitbench flash` keeps it.")


def _write(out: Path, content: bytes) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(content)


_SUFFIX = {"uf2": ".uf2", "littlefs": ".littlefs.bin"}
_WRITERS: dict[str, Callable[[Image, Path, Path | None], None]] = {"uf2": _write_uf2, "littlefs": _write_littlefs}

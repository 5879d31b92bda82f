"""Build the image of a device into a folder laid out as a board's file system."""

from __future__ import annotations

import argparse
from pathlib import Path

from pitbench.devices import device_named
from pitbench.image import KINDS, build_image


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("device", help="bill-acceptor")
    parser.add_argument("--kind", choices=KINDS, default="bench", help="release has no bench code (default: bench)")
    parser.add_argument("--board", default="unix", help="board whose facts go into the boot block (default: unix)")
    parser.add_argument("--out", type=Path, help="folder to fill (default: build/DEVICE-KIND-BOARD)")


def run(args: argparse.Namespace) -> int:
    device = device_named(args.device)
    out = args.out or Path("build") / f"{device}-{args.kind}-{args.board}"
    image = build_image(device, args.kind, out, board=args.board)
    print(f"{device} {image.kind} image for {image.board}, revision {image.revision}")
    print(f"signature {image.crc:04x}")
    print(f"sha256    {image.digest}")
    print(f"files     {len(image.files)} in {out}")
    return 0

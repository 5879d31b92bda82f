"""List the boards that are plugged in: which, on which port, and what runs there."""

from __future__ import annotations

import argparse
import json
from typing import Any

from pitbench.board_facts import board_facts
from pitbench.discovery import IN_BOOT_ROM, NO_PORT, Found, find_boards
from pitbench.probing import BUSY, DENIED, FIRMWARE, GONE

HEADING = ("USB SERIAL", "PORT", "BOARD", "RUNS")
DROP = {"uf2": "drop a UF2 on its drive", "esptool": "write MicroPython with esptool"}
DROP |= {"dfu": "write MicroPython with dfu-util", "halfkay": "write MicroPython with teensy_loader_cli"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, for programs")


def run(args: argparse.Namespace) -> int:
    boards = find_boards()
    if args.json:
        print(json.dumps([as_record(board) for board in boards], indent=2))
    elif boards:
        print(table(boards))
    else:
        print("No board is plugged in whose USB ids a file in boards/ names.")
        print("Look at the cable (some carry power only); a board with another id can be named by its port.")
    return 0 if boards else 1


def as_record(board: Found) -> dict[str, Any]:
    """One board as JSON; `target` is what to give other commands."""
    runs = {"kind": board.runs.kind, "why": board.runs.why, **board.runs.identity}
    target = f"usb:{board.serial}" if board.serial and board.port else board.port
    ids = {"serial": board.serial, "ids": board.ids, "boards": list(board.names), "product": board.product}
    return {**ids, "ports": list(board.ports), "target": target, "runs": runs}


def table(boards: list[Found]) -> str:
    """The boards as a table, and below it whatever a person should know."""
    rows = [HEADING, *((b.serial or "none", b.port or "none", _names(b), _runs(b)) for b in boards)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADING))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines + _notes(boards))


def _names(board: Found) -> str:
    return " or ".join(board.names)


def _runs(board: Found) -> str:
    runs = board.runs
    if runs.kind == FIRMWARE:
        return _firmware(runs.identity)
    if runs.kind == IN_BOOT_ROM:
        return f"{IN_BOOT_ROM}: {DROP.get(_flash_method(board), 'put MicroPython on it')}"
    return runs.kind


def _firmware(identity: dict[str, Any]) -> str:
    if why := identity.get("inoperable"):
        return f"pitbench, inoperable: {why}"
    return f"pitbench {identity.get('version')}, {identity.get('device')} ({identity.get('image')} image)"


def _flash_method(board: Found) -> str:
    return str(board_facts(board.names[0]).get("flash"))


def _notes(boards: list[Found]) -> list[str]:
    notes = [f"{b.port}: {b.runs.why}" for b in boards if b.runs.kind in (BUSY, DENIED, GONE)]
    notes += [
        f"{b.ids}: these boards share their USB ids; `pitbench flash` asks MicroPython which it is."
        for b in boards
        if len(b.names) > 1
    ]
    notes += [f"{b.ids} {b.serial}: the system gave it no serial port." for b in boards if b.runs.kind == NO_PORT]
    return ["", *dict.fromkeys(notes)] if notes else []

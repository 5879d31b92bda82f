"""The facts of the boards: boards/*.toml, and what of them is compiled into the boot block."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pitbench.errors import UnknownName
from pitbench.image_error import ImageError
from pitbench.tables import read_toml

BOARDS = Path(__file__).parents[2] / "boards"

# Facts that every board's file must have.
_REQUIRED = "name title port cpu usb flash stdio store cut_safe fs fs_bytes heap_free erase_budget entropy"
REQUIRED = frozenset(f"{_REQUIRED} capabilities lacks wiring last_run_on".split())
# And those of a board with pins, virtual boards have none.
_ON_BOARDS = "machine micropython micropython_min bootloader strap led watchdog_ms debounce_ms second_cdc hub"
REQUIRED_ON_BOARDS = REQUIRED | frozenset(f"{_ON_BOARDS} wire sensors pins outputs header".split())
VIRTUAL_PORTS = frozenset({"unix", "wasm"})


def board_names() -> list[str]:
    """Return the names of all boards that there is a file for."""
    return sorted(path.stem for path in BOARDS.glob("*.toml"))


def board_facts(name: str) -> dict[str, Any]:
    """Return the facts of one board.

    `like` in its file names a board whose facts hold where this file says nothing; `wired_like` one whose pins and
    outputs have the same parts, so that this file gives the pins alone.

    Raises UnknownName for an unknown board, ImageError for a file that lacks a fact.
    """
    path = BOARDS / f"{name}.toml"
    if not path.is_file():
        raise UnknownName("board", name, board_names())
    facts: dict[str, Any] = read_toml(path)
    if like := facts.pop("like", None):
        facts = board_facts(like) | facts
    if wired_like := facts.pop("wired_like", None):
        _add_parts(facts, board_facts(wired_like))
    required = REQUIRED if facts.get("port") in VIRTUAL_PORTS else REQUIRED_ON_BOARDS
    if missing := sorted(required - facts.keys()):
        raise ImageError(f"{path} lacks {', '.join(missing)}.", "Add what is missing.")
    return facts


def board_module(facts: Mapping[str, Any]) -> str:
    """Return the text of the boot block's board.py: what the firmware needs of the facts, and nothing for people.

    The names are those of typings/board.pyi; a board without pins has empty tables.
    """
    return constants(
        {
            "NAME": facts["name"],
            "ENTROPY": facts["entropy"],
            "STRAP": facts.get("strap"),
            "WATCHDOG_MS": facts.get("watchdog_ms", 0),
            "DEBOUNCE_MS": facts.get("debounce_ms", 0),
            "WIRE": facts.get("wire"),
            "RIG": facts.get("rig"),
            "FRAM": facts.get("fram"),
            "PINS": {name: _input(row) for name, row in facts.get("pins", {}).items()},
            "OUTPUTS": {name: _output(row) for name, row in facts.get("outputs", {}).items()},
            "TUNNEL": facts.get("tunnel", False),
            "FROM_PINS": facts.get("sensors", {}).get("from_pins", []),
        }
    )


def march_of(facts: Mapping[str, Any]) -> str | None:
    """Return the CPU of a board as mpy-cross calls it: a virtual board's is this PC's. None where it isn't known."""
    march = facts.get("march")
    return march.get(platform.machine()) if isinstance(march, dict) else march


def first_lines(text: str, facts: Mapping[str, Any]) -> str:
    """Return the text of /boot.py for a board: it can't import its facts, because it runs before anything is checked.

    Its assignments `STRAP = None` and `BOOT = "/boot"` get the board's strap pin, and the boot block's folder below
    the place where MicroPython mounts the board's flash.
    """
    strap = f"STRAP = {facts.get('strap')!r}\n"
    folder = f'BOOT = "{facts.get("root", "")}/boot"\n'
    return text.replace("STRAP = None\n", strap).replace('BOOT = "/boot"\n', folder)


def constants(values: Mapping[str, object]) -> str:
    """Return a module's text that assigns each value to its name; lists become tuples."""
    return "".join(f"{name} = {_literal(value)}\n" for name, value in values.items())


def _add_parts(facts: dict[str, Any], other: Mapping[str, Any]) -> None:
    for table in ("pins", "outputs"):
        facts[table] = {name: other[table].get(name, {}) | row for name, row in facts[table].items()}


def _input(row: Mapping[str, Any]) -> tuple[object, ...]:
    return row["pin"], row["pull"], 1 if row["active"] == "high" else 0


def _output(row: Mapping[str, Any]) -> tuple[object, ...]:
    return tuple(row[name] for name in ("pin", "pin_back") if name in row)


def _literal(value: object) -> str:
    if isinstance(value, list):
        value = tuple(value)
    return repr(value)

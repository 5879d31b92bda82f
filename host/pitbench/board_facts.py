"""The facts of the boards: boards/*.toml, and what of them is compiled into the boot block."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pitbench.errors import UnknownName
from pitbench.image_error import ImageError
from pitbench.tables import read_toml

BOARDS = Path(__file__).parents[2] / "boards"

# Facts that every board's file must have; the rest is up to the board.
_REQUIRED = "name port cpu usb flash pins uarts stdio store fs fs_bytes heap_free erase_budget capabilities wiring"
REQUIRED = frozenset(f"{_REQUIRED} last_run_on".split())

# What the PC and people need, and the firmware doesn't: it would only cost the board RAM.
_FOR_PEOPLE = (
    "cpu",
    "usb",
    "flash",
    "fs",
    "fs_bytes",
    "heap_free",
    "erase_budget",
    "uarts",
    "stdio",
    "capabilities",
    "wiring",
    "last_run_on",
)


def board_names() -> list[str]:
    """Return the names of all boards that there is a file for."""
    return sorted(path.stem for path in BOARDS.glob("*.toml"))


def board_facts(name: str) -> dict[str, object]:
    """Return the facts of one board.

    Raises UnknownName for an unknown board, ImageError for a file that lacks a fact.
    """
    path = BOARDS / f"{name}.toml"
    if not path.is_file():
        raise UnknownName("board", name, board_names())
    facts = read_toml(path)
    if missing := sorted(REQUIRED - facts.keys()):
        raise ImageError(f"{path} lacks {', '.join(missing)}.", "Add what is missing.")
    return facts


def board_module(facts: Mapping[str, object]) -> str:
    """Return the text of the boot block's board.py: the facts as names, without those meant for people."""
    return constants({name.upper(): value for name, value in facts.items() if name not in _FOR_PEOPLE})


def constants(values: Mapping[str, object]) -> str:
    """Return a module's text that assigns each value to its name; lists become tuples."""
    return "".join(f"{name} = {_literal(value)}\n" for name, value in values.items())


def _literal(value: object) -> str:
    if isinstance(value, list):
        value = tuple(value)
    return repr(value)

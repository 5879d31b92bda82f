"""One file with MicroPython and a device's image in it: dropped on the boot ROM's drive, the board is ready."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pitbench.errors import PitbenchError
from pitbench.image import Image
from pitbench.littlefs_image import Geometry, geometry, make_filesystem
from pitbench.uf2 import ERASED, FLASH_BASE, RP2040, SECTOR, Uf2Error, flash_bytes, flash_pages, read_uf2, write_uf2


def combined_uf2(micropython: Path, image: Image, facts: Mapping[str, object]) -> bytes:
    """Return a UF2 file of MicroPython with a file system that holds the image; its /data is empty.

    Sectors behind the files are left out. Those between and just behind them go in although they are empty: littlefs
    keeps folders in pairs of blocks and takes the newer half, and an old half left on a used flash might look newer.

    Args:
        micropython: UF2 file of MicroPython for this board.
        image: built for this board.
        facts: of the board.

    Raises Uf2Error for a UF2 that won't do, PitbenchError for a board that takes no UF2 or has no known file system.
    """
    flash, shape = micropython_flash(micropython, facts), geometry(facts)
    content = make_filesystem(image.files, facts)
    flash[shape.offset :] = content
    first = shape.offset // SECTOR
    return write_uf2(flash_pages(bytes(flash), range(first, first + _used_sectors(content))), uf2_family(facts))


def micropython_flash(micropython: Path, facts: Mapping[str, object]) -> bytearray:
    """Return a flash with MicroPython, and nothing yet in its file system.

    Raises Uf2Error for a UF2 that won't do, PitbenchError for a board that takes no UF2 or has no known file system.
    """
    refuse_board_without_uf2(facts)
    shape, family = geometry(facts), uf2_family(facts)
    _check_room(micropython, shape, family)
    flash = flash_bytes(micropython, shape.offset + shape.size, family)
    _check_board(micropython, bytes(flash), facts)
    return flash


def refuse_board_without_uf2(facts: Mapping[str, object]) -> None:
    """Raise PitbenchError for a board whose boot ROM takes no UF2 file, with what it takes instead."""
    if facts.get("flash") != "uf2":
        raise PitbenchError(f"{facts.get('name')} takes no UF2 file.", _how_else(facts))


def uf2_family(facts: Mapping[str, object]) -> int:
    """Return the UF2 family of a board's chip."""
    return int(str(facts.get("uf2_family", RP2040)))


def _used_sectors(content: bytes) -> int:
    # Two more than the last with anything in it: the other half of a pair may lie behind it.
    last = len(content.rstrip(bytes([ERASED])))
    return min(-(-last // SECTOR) + 2, len(content) // SECTOR)


def _check_room(micropython: Path, shape: Geometry, family: int) -> None:
    last = read_uf2(micropython, family)[-1]
    end = last.address + len(last.data) - FLASH_BASE
    if end > shape.offset:
        raise Uf2Error(
            f"{micropython} reaches to {end:#x} in flash, into the board's file system at {shape.offset:#x}.",
            "Take the plain MicroPython of this very board.",
        )


def _check_board(micropython: Path, flash: bytes, facts: Mapping[str, object]) -> None:
    """Boards with the same chip take each other's MicroPython, and find pins and radio where they aren't."""
    machine = str(facts.get("machine", ""))
    if machine.encode() not in flash:
        raise Uf2Error(
            f"{micropython} is no MicroPython for {facts.get('title')}: nowhere does it call itself '{machine}'.",
            f"Take {facts.get('micropython')} from micropython.org/download.",
        )


def _how_else(facts: Mapping[str, object]) -> str:
    return f"Put MicroPython on it by {facts.get('flash')}, then copy the image with `pitbench flash`."

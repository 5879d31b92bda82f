"""UF2 files: flash pages in blocks of 512 bytes, as a boot ROM takes them when they are dropped on its drive.

Format: github.com/microsoft/uf2. Families: uf2families.json there. The ROM's erase rule, by which pages go out in whole
sectors: github.com/raspberrypi/pico-bootrom-rp2040, virtual_disk.c, _write_uf2_page.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pitbench.compiler import cache_folder
from pitbench.errors import PitbenchError

RP2040 = 0xE48BFF56
# One block of this family, for no chip's flash, leads files for the RP2350 (its erratum E10): passed through.
RP2_ABSOLUTE = 0xE48BFF57
FLASH_BASE = 0x10000000
RP2040_FLASH_BYTES = 2 * 1024 * 1024

BLOCK = 512
PAGE = 256
SECTOR = 4096
ERASED = 0xFF

_HEADER = struct.Struct("<8I")
_FOOTER = struct.Struct("<I")
_MAGIC = (0x0A324655, 0x9E5D5157)
_MAGIC_END = 0x0AB16F30
_DATA_MAX = 476
_NOT_FLASH = 0x00000001
_HAS_FAMILY = 0x00002000
_DOWNLOAD = "https://micropython.org/download"


class Uf2Error(PitbenchError):
    """A UF2 file that is missing, damaged, or for another chip."""


@dataclass(frozen=True)
class Block:
    """One block: address in the chip's memory, up to 476 bytes, family of chips; number among `total` blocks."""

    address: int
    data: bytes
    family: int
    number: int = 0
    total: int = 1


def read_uf2(path: Path, family: int = RP2040) -> list[Block]:
    """Return the blocks of a UF2 file for `family`, checked to be whole, in order of address.

    Raises Uf2Error for a file that can't be read, is cut short, damaged, lacks blocks, or is for another chip.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Uf2Error(f"{path} can't be read ({error.strerror}).", "Look at the path.") from error
    return parse_uf2(data, str(path), family)


def parse_uf2(data: bytes, name: str = "The UF2", family: int = RP2040) -> list[Block]:
    """Return the blocks of a UF2 file's bytes; `name` is for messages. Raises Uf2Error as read_uf2 does."""
    if not data or len(data) % BLOCK:
        raise Uf2Error(f"{name} has {len(data)} bytes, no multiple of {BLOCK}: it is cut short.", "Get it again.")
    blocks = [_parse_block(data[at : at + BLOCK], f"{name}, block {at // BLOCK}") for at in range(0, len(data), BLOCK)]
    flash = [block for block in blocks if block is not None and block.family != RP2_ABSOLUTE]
    if not flash:
        raise Uf2Error(f"{name} holds nothing for flash memory.", "Get the MicroPython of your board.")
    _check_family(flash, name, family)
    _check_whole(flash, name)
    return sorted(flash, key=lambda block: block.address)


def write_uf2(pages: Mapping[int, bytes], family: int = RP2040) -> bytes:
    """Return a UF2 file of flash pages, by address, 256 bytes each."""
    total = len(pages)
    blocks = (_pack(address, pages[address], number, total, family) for number, address in enumerate(sorted(pages)))
    return b"".join(blocks)


def flash_bytes(uf2: Path, size: int = RP2040_FLASH_BYTES, family: int = RP2040) -> bytearray:
    """Return a flash chip of `size` bytes, erased but for what the UF2 file puts there. Raises Uf2Error."""
    flash = bytearray([ERASED]) * size
    for block in read_uf2(uf2, family):
        at = block.address - FLASH_BASE
        if not 0 <= at <= size - len(block.data):
            raise Uf2Error(f"{uf2} writes to {block.address:#x}, outside a flash of {size} bytes.", "Take another.")
        flash[at : at + len(block.data)] = block.data
    return flash


def flash_pages(flash: bytes, keep: Iterable[int] = ()) -> dict[int, bytes]:
    """Return the pages of a flash chip by address, whole empty sectors left out unless their number is in `keep`.

    Never single pages: the RP2040's boot ROM takes 16 blocks in a row for one sector when it decides what to erase, so
    that with gaps in a sector it would write over what isn't erased.
    """
    kept = set(keep)
    pages: dict[int, bytes] = {}
    for sector, at in enumerate(range(0, len(flash), SECTOR)):
        content = bytes(flash[at : at + SECTOR])
        if sector in kept or any(byte != ERASED for byte in content):
            pages |= {FLASH_BASE + at + i: content[i : i + PAGE] for i in range(0, SECTOR, PAGE)}
    return pages


def find_uf2(micropython: str = "RPI_PICO") -> Path:
    """Return a UF2 of MicroPython: the one that $PITBENCH_UF2 names, else the newest in the cache folder.

    `micropython` is MicroPython's own name of the board, with which its files begin. Raises Uf2Error that says where
    to get one.
    """
    if named := os.environ.get("PITBENCH_UF2"):
        if not Path(named).is_file():
            raise Uf2Error(f"PITBENCH_UF2 names {named}, which is no file.", "Correct it, or unset it.")
        return Path(named)
    # RPI_PICO-20241129-v1.24.1.uf2: the date makes the newest the last by name.
    found = sorted(cache_folder().glob(f"{micropython}-*.uf2"))
    if not found:
        raise Uf2Error(
            f"There is no MicroPython UF2 for {micropython} in {cache_folder()}.",
            f"Get one from {_DOWNLOAD}/{micropython}/ and put it there, or name it in PITBENCH_UF2.",
        )
    return found[-1]


def _parse_block(raw: bytes, where: str) -> Block | None:
    first, second, flags, address, size, number, total, family = _HEADER.unpack_from(raw)
    if (first, second, _FOOTER.unpack_from(raw, BLOCK - 4)[0]) != (*_MAGIC, _MAGIC_END):
        raise Uf2Error(f"{where} is no UF2 block: its magic numbers are wrong.", "Get the file again.")
    if size > _DATA_MAX or number >= total:
        raise Uf2Error(f"{where} is damaged: {size} bytes, number {number} of {total}.", "Get the file again.")
    if flags & _NOT_FLASH:
        return None
    data = raw[_HEADER.size : _HEADER.size + size]
    return Block(address, data, family if flags & _HAS_FAMILY else 0, number, total)


def _check_family(blocks: list[Block], name: str, family: int) -> None:
    others = sorted({block.family for block in blocks} - {family})
    if others:
        raise Uf2Error(
            f"{name} is for chips of family {others[0]:#010x}, and the board's is {family:#010x}.",
            "Get the MicroPython of this very board.",
        )


def _check_whole(blocks: list[Block], name: str) -> None:
    totals = {block.total for block in blocks}
    if len(totals) > 1:
        raise Uf2Error(f"{name} is two files in one: its blocks disagree on their number.", "Get the file again.")
    total = totals.pop()
    missing = sorted(set(range(total)) - {block.number for block in blocks})
    if missing:
        raise Uf2Error(
            f"{name} lacks {len(missing)} of its {total} blocks, the first is block {missing[0]}.",
            "Get the file again.",
        )


def _pack(address: int, data: bytes, number: int, total: int, family: int) -> bytes:
    header = _HEADER.pack(*_MAGIC, _HAS_FAMILY, address, len(data), number, total, family)
    return header + data.ljust(_DATA_MAX, b"\0") + _FOOTER.pack(_MAGIC_END)

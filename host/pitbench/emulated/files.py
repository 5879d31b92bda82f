"""The flash of an emulated board: MicroPython and a file system in one file of 2 MB."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pitbench.errors import PitbenchError
from pitbench.littlefs_image import change_files, geometry, make_filesystem, read_files
from pitbench.uf2 import RP2040_FLASH_BYTES, flash_bytes

if TYPE_CHECKING:  # a board that runs makes no image
    from pitbench.image import Image


# Beside the flash file while a change is under way.
CHANGE_FILE = "change.json"


def check_size(path: Path, size: int) -> None:
    """Raise PitbenchError for a flash file of another size than a Pico's flash."""
    if size != RP2040_FLASH_BYTES:
        raise PitbenchError(
            f"The flash file {path} has {size} bytes, a Pico's has {RP2040_FLASH_BYTES}.",
            "Take it away: a new one is made.",
        )


class FileSystemFlash:
    """The files in a flash file."""

    def __init__(self, path: Path, facts: Mapping[str, Any]) -> None:
        self._path = path
        self._facts = facts
        self._at = geometry(facts).place

    def read(self) -> dict[str, bytes]:
        """As BoardFlash has it."""
        return read_files(self._whole()[self._at], self._facts)

    def change(self, put: Mapping[str, bytes], remove: Iterable[str] = ()) -> None:
        """As BoardFlash has it."""
        flash = bytearray(self._whole())
        flash[self._at] = change_files(bytes(flash[self._at]), self._facts, put, remove)
        self._path.write_bytes(flash)

    def _whole(self) -> bytes:
        content = self._path.read_bytes()
        check_size(self._path, len(content))
        return content


class PoweredFlash(FileSystemFlash):
    """The files in the flash of a board; while that `runs`, `order` has it make a change between two instructions."""

    def __init__(
        self, path: Path, facts: Mapping[str, Any], runs: Callable[[], bool], order: Callable[[], None]
    ) -> None:
        super().__init__(path, facts)
        self._runs = runs
        self._order = order

    def change(self, put: Mapping[str, bytes], remove: Iterable[str] = ()) -> None:
        """As BoardFlash has it. Raises PitbenchError."""
        if not self._runs():
            super().change(put, remove)
            return
        place = self._path.with_name(CHANGE_FILE)
        place.write_text(json.dumps({"put": {path: data.hex() for path, data in put.items()}, "remove": [*remove]}))
        try:
            self._order()
        finally:
            place.unlink()


def carry_out(path: Path, facts: Mapping[str, Any]) -> None:
    """Make the change that `PoweredFlash` ordered in a flash file. Raises PitbenchError where it doesn't fit."""
    order = json.loads(path.with_name(CHANGE_FILE).read_text())
    FileSystemFlash(path, facts).change(
        {path: bytes.fromhex(data) for path, data in order["put"].items()}, order["remove"]
    )


def lay_out(files: Mapping[str, bytes], path: Path, micropython: Path, facts: Mapping[str, Any]) -> None:
    """Make a flash file of a UF2 with MicroPython and a new file system that holds files. Raises PitbenchError."""
    flash = flash_bytes(micropython)
    flash[geometry(facts).place] = make_filesystem(files, facts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(flash)


def install(image: Image, path: Path, facts: Mapping[str, Any]) -> None:
    """Replace the image in a flash file; its data are left alone. The board must be off. Raises PitbenchError."""
    flash = FileSystemFlash(path, facts)
    old = [name for name in flash.read() if name.startswith(("/boot/", "/image/")) and name not in image.files]
    flash.change(image.files, old)

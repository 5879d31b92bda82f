"""What lies in the flash of a virtual board, read and altered from outside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

# In the folder of an emulated board: its whole flash.
FLASH_FILE = "flash.bin"
# Beside it: its chip's own number, the same for the life of the folder.
UNIQUE_FILE = "unique.bin"


class BoardFlash(Protocol):
    """Every file of a board, by its path on the board."""

    def read(self) -> dict[str, bytes]:
        """Path on the board → content, of every file."""

    def change(self, put: Mapping[str, bytes], remove: Iterable[str] = ()) -> None:
        """Put files in place and take others away, with the folders that they leave empty.

        The board may run: then it is as if somebody had a programmer's clip on its flash.
        """


class FolderFlash:
    """The flash of a board that is a folder on this PC."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self) -> dict[str, bytes]:
        """As BoardFlash has it."""
        files = (path for path in self._root.rglob("*") if path.is_file())
        return {f"/{path.relative_to(self._root).as_posix()}": path.read_bytes() for path in files}

    def change(self, put: Mapping[str, bytes], remove: Iterable[str] = ()) -> None:
        """As BoardFlash has it."""
        gone = [self._root / path[1:] for path in remove]
        for path in gone:
            path.unlink()
        for path in gone:
            self._prune(path.parent)
        for name, data in put.items():
            place = self._root / name[1:]
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)

    def _prune(self, folder: Path) -> None:
        while folder != self._root and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent

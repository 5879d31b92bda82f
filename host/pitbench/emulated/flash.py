"""The board's NOR flash: it keeps its bytes in a file, takes its time, and can lose its power in mid-operation."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rp2040py.peripherals import ssi

from pitbench.emulated.files import check_size
from pitbench.errors import PitbenchError
from pitbench.uf2 import RP2040_FLASH_BYTES

# Typical times of the Pico's W25Q16JV (data sheet, AC characteristics), in ms.
ERASE_MS, PROGRAM_MS = 45.0, 0.7
UNIQUE_ID = 0x4B
UNIQUE_ID_AT = 5
HOW = ("before", "torn", "after")
NS_PER_MS = 1_000_000
ERASED_AT_ONCE = {ssi.CMD_SECTOR_ERASE: ssi.FLASH_SECTOR_SIZE, ssi.CMD_BLOCK_ERASE: ssi.FLASH_BLOCK_SIZE}


@dataclass
class Cut:
    """A power cut to come: at the `left`-th erase or program from now; before, torn or after."""

    left: int
    how: str


class FlashFile:
    """The bytes of a flash in a file of 2 MB; whoever holds the board's power writes to it."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = os.open(path, os.O_RDWR)
            size = os.fstat(self._file).st_size
        except OSError as error:
            raise PitbenchError(f"The flash file {path} can't be opened: {error.strerror}.", "Make it anew.") from error
        check_size(path, size)

    def read(self) -> bytes:
        """All of it."""
        return os.pread(self._file, RP2040_FLASH_BYTES, 0)

    def move(self, path: Path, content: bytes) -> None:
        """Go on in another file, which gets these bytes."""
        path.write_bytes(content)
        self._file = os.open(path, os.O_RDWR)

    def write(self, at: int, data: bytes) -> None:
        """Put bytes in place; they outlive this process at once."""
        os.pwrite(self._file, data, at)


class TimedFlash:
    """The flash chip behind the RP2040's SSI.

    Args:
        chip: the emulated RP2040.
        file: what keeps the bytes.
        unique: 8 bytes, the chip's own number.
        spend: lets so many ns of device time pass.
        no_power: called where a cut was ordered; never returns.
    """

    def __init__(
        self,
        chip: Any,
        file: FlashFile,
        unique: bytes,
        spend: Callable[[float], None],
        no_power: Callable[[], None],
    ) -> None:
        self._chip = chip
        self._file = file
        self._unique = unique
        self._spend = spend
        self._no_power = no_power
        self.cut: Cut | None = None
        self.erase_ms = ERASE_MS
        self.erases = self.programs = 0
        self.reload()
        chip.ssi._apply_command, self._apply = self._command, chip.ssi._apply_command
        chip.ssi._shift_byte, self._shift = self._shifted, chip.ssi._shift_byte

    def reload(self) -> None:
        """Hold what the file holds, as after somebody else wrote it."""
        self._chip.flash[:RP2040_FLASH_BYTES] = self._file.read()

    def _shifted(self, byte: int) -> int:
        answer = int(self._shift(byte))
        sent = self._chip.ssi._tx_buffer
        if sent[0] != UNIQUE_ID or len(sent) <= UNIQUE_ID_AT:
            return answer
        return self._unique[(len(sent) - 1 - UNIQUE_ID_AT) % len(self._unique)]

    def _command(self) -> None:
        buffer = bytes(self._chip.ssi._tx_buffer)
        span = _span(buffer) if self._chip.ssi._write_enabled else None
        if span is None:
            self._apply()
            return
        is_erase = buffer[0] != ssi.CMD_PAGE_PROGRAM
        how = self._due()
        if how == "before":
            self._no_power()
        was = bytes(self._chip.flash[span])
        self._apply()
        data = bytes(self._chip.flash[span])
        if how == "torn":
            # Half of the cells had changed.
            data = data[: len(data) // 2] + was[len(was) // 2 :]
        self._file.write(span.start, data)
        if how:
            self._no_power()
        self.erases += is_erase
        self.programs += not is_erase
        self._spend((self.erase_ms if is_erase else PROGRAM_MS) * NS_PER_MS)

    def _due(self) -> str | None:
        if self.cut is None:
            return None
        self.cut.left -= 1
        return self.cut.how if self.cut.left <= 0 else None


def _span(command: bytes) -> slice | None:
    if len(command) < 4:
        return None
    at = int.from_bytes(command[1:4], "big")
    if size := ERASED_AT_ONCE.get(command[0]):
        return slice(at - at % size, at - at % size + size)
    if command[0] == ssi.CMD_PAGE_PROGRAM and len(command) > 4:
        return slice(at, at + min(len(command) - 4, ssi.FLASH_PAGE_SIZE))
    return None

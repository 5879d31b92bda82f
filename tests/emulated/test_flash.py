"""The NOR flash of the emulated chip: kept in a file, slow, torn where its power goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pitbench.emulated.flash import ERASE_MS, PROGRAM_MS, Cut, FlashFile, TimedFlash
from pitbench.errors import PitbenchError
from pitbench.uf2 import RP2040_FLASH_BYTES as SIZE
from rp2040py.rp2040 import RP2040

WRITE_ENABLE, PROGRAM, ERASE, READ_UNIQUE = 0x06, 0x02, 0x20, 0x4B
UNIQUE = bytes(range(1, 9))
AT = 0x100000
PAGE, SECTOR = 256, 4096


class NoPower(Exception):
    pass


def lose_power() -> None:
    raise NoPower


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "flash.bin"
    place.write_bytes(b"\xa5" * SIZE)
    return place


@pytest.fixture
def spent() -> list[float]:
    return []


@pytest.fixture
def flash(place: Path, spent: list[float]) -> TimedFlash:
    return TimedFlash(RP2040(), FlashFile(place), UNIQUE, spent.append, lose_power)


def command(flash: TimedFlash, *data: int) -> list[int]:
    """What a chip select frames; what comes back."""
    ssi: Any = flash._chip.ssi
    ssi._tx_buffer = bytearray()
    back = [ssi._shift_byte(byte) for byte in data]
    ssi._apply_command()
    return back


def erase(flash: TimedFlash) -> None:
    command(flash, WRITE_ENABLE)
    command(flash, ERASE, *AT.to_bytes(3, "big"))


def program(flash: TimedFlash, data: bytes) -> None:
    command(flash, WRITE_ENABLE)
    command(flash, PROGRAM, *AT.to_bytes(3, "big"), *data)


def test_erase_and_program_reach_the_file_and_take_their_time(
    flash: TimedFlash, place: Path, spent: list[float]
) -> None:
    erase(flash)
    program(flash, bytes(range(256)))
    kept = place.read_bytes()
    assert kept[AT : AT + PAGE] == bytes(range(256))
    assert kept[AT + PAGE : AT + SECTOR] == b"\xff" * (SECTOR - PAGE)
    assert kept[AT - 1] == kept[AT + SECTOR] == 0xA5
    assert [round(nanos / 1e6, 3) for nanos in spent] == [ERASE_MS, PROGRAM_MS]
    assert (flash.erases, flash.programs) == (1, 1)


def test_nothing_is_written_without_write_enable(flash: TimedFlash, place: Path) -> None:
    command(flash, ERASE, *AT.to_bytes(3, "big"))
    assert place.read_bytes() == b"\xa5" * SIZE
    assert flash.erases == 0


@pytest.mark.parametrize(
    ("how", "kept"),
    [("before", b"\xa5" * SECTOR), ("torn", b"\xff" * 2048 + b"\xa5" * 2048), ("after", b"\xff" * SECTOR)],
)
def test_the_power_goes_at_an_ordered_operation(flash: TimedFlash, place: Path, how: str, kept: bytes) -> None:
    flash.cut = Cut(2, how)
    program(flash, b"\x21")
    with pytest.raises(NoPower):
        erase(flash)
    kept = b"\x21" + kept[1:] if how == "before" else kept
    assert place.read_bytes()[AT : AT + SECTOR] == kept


def test_its_number_can_be_read(flash: TimedFlash) -> None:
    assert command(flash, READ_UNIQUE, *[0] * 12)[5:] == list(UNIQUE)


@pytest.mark.parametrize("content", [b"", b"\xff" * (SIZE - 1)])
def test_a_file_of_another_size_is_refused(place: Path, content: bytes) -> None:
    place.write_bytes(content)
    with pytest.raises(PitbenchError, match=f"has {len(content)} bytes, a Pico's has {SIZE}"):
        FlashFile(place)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PitbenchError, match="can't be opened"):
        FlashFile(tmp_path / "none")

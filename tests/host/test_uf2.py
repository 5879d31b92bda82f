"""UF2 files: what is read and written, and what is said of damaged ones."""

import os
import struct
from pathlib import Path

import pytest
from pitbench import uf2
from pitbench.uf2 import FLASH_BASE, RP2040, Uf2Error, find_uf2, flash_bytes, flash_pages, parse_uf2, write_uf2

PAGES = {FLASH_BASE + i * 256: bytes([i + 1]) * 256 for i in range(20)}

# One block field by field, as the UF2 specification's table gives them.
HAND_MADE = (
    bytes.fromhex("55 46 32 0A 57 51 5D 9E 00 20 00 00 00 00 00 10 00 01 00 00 00 00 00 00 01 00 00 00 56 FF 8B E4")
    + bytes(range(256))
    + bytes(220)
    + bytes.fromhex("30 6F B1 0A")
)


def test_a_block_as_the_specification_lays_it_out() -> None:
    assert write_uf2({0x10000000: bytes(range(256))}) == HAND_MADE
    assert [(b.address, b.data) for b in parse_uf2(HAND_MADE)] == [(0x10000000, bytes(range(256)))]


def test_written_pages_are_read_back() -> None:
    assert {b.address: b.data for b in parse_uf2(write_uf2(PAGES))} == PAGES


def damaged(at: int, value: int) -> bytes:
    data = bytearray(write_uf2(PAGES))
    struct.pack_into("<I", data, at, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cut short"),
        (write_uf2(PAGES)[:-100], "no multiple of 512: it is cut short"),
        (damaged(512, 0), "block 1 is no UF2 block"),
        (damaged(516, 0), "block 1 is no UF2 block"),
        (damaged(1020, 0), "block 1 is no UF2 block"),
        (damaged(16, 477), "block 0 is damaged"),
        (damaged(20, 20), "block 0 is damaged"),
        (write_uf2(PAGES)[:512] + write_uf2(PAGES)[1024:], "lacks 1 of its 20 blocks, the first is block 1"),
        (write_uf2(PAGES)[:-512], "the first is block 19"),
        (write_uf2(PAGES, 0xE48BFF59), "for chips of family 0xe48bff59, and the board's is 0xe48bff56"),
        (damaged(28, 0x55114460), "for chips of family 0x55114460"),
        (write_uf2(PAGES) + write_uf2({FLASH_BASE: bytes(256)}), "two files in one"),
    ],
)
def test_a_file_that_will_not_do_is_said(data: bytes, said: str) -> None:
    with pytest.raises(Uf2Error, match=said):
        parse_uf2(data)


def test_the_block_for_an_rp2350_erratum_is_passed_over() -> None:
    """picotool puts one block of family "absolute", number 0 of 2, before an RP2350's own."""
    extra = bytearray(write_uf2({0x10FFFF00: b"\xef" * 256}, uf2.RP2_ABSOLUTE))
    struct.pack_into("<I", extra, 24, 2)
    assert len(parse_uf2(bytes(extra) + write_uf2(PAGES, 0xE48BFF59), family=0xE48BFF59)) == 20


def test_the_flash_is_erased_but_for_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.uf2").write_bytes(write_uf2({FLASH_BASE + 512: b"\x12" * 256}))
    flash = flash_bytes(tmp_path / "a.uf2")
    assert len(flash) == 2 * 1024 * 1024
    assert flash[512:768] == b"\x12" * 256
    assert flash.count(0xFF) == len(flash) - 256


def test_a_file_that_writes_outside_the_flash_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.uf2").write_bytes(write_uf2({FLASH_BASE + 4096: bytes(256)}))
    with pytest.raises(Uf2Error, match="outside a flash of 4096 bytes"):
        flash_bytes(tmp_path / "a.uf2", 4096)


def test_only_whole_empty_sectors_are_left_out() -> None:
    """The RP2040's ROM erases a sector per 16 blocks by their number: a gap within a sector makes it erase too few."""
    flash = bytearray(b"\xff" * 4096 * 5)
    flash[4096 + 300] = 0
    flash[4096 * 4] = 0
    numbers = sorted((at - FLASH_BASE) // 4096 for at in flash_pages(bytes(flash), keep=[3]))
    assert numbers == [1] * 16 + [3] * 16 + [4] * 16
    for block in parse_uf2(write_uf2(flash_pages(bytes(flash)))):
        assert block.number % 16 == (block.address - FLASH_BASE) // 256 % 16


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("PITBENCH_UF2", raising=False)
    return tmp_path


def test_the_newest_in_the_cache_is_found(cache: Path) -> None:
    names = [
        "RPI_PICO-20241129-v1.24.1",
        "RPI_PICO-20260406-v1.28.0",
        "RPI_PICO_W-20270101-v2",
        "RPI_PICO2-20270101-v2",
    ]
    for name in names:
        (cache / f"{name}.uf2").touch()
    assert find_uf2().name == "RPI_PICO-20260406-v1.28.0.uf2"
    assert find_uf2("RPI_PICO2").name == "RPI_PICO2-20270101-v2.uf2"


def test_the_environment_wins(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "RPI_PICO-1.uf2").touch()
    (cache / "mine.uf2").touch()
    monkeypatch.setenv("PITBENCH_UF2", str(cache / "mine.uf2"))
    assert find_uf2() == cache / "mine.uf2"
    monkeypatch.setenv("PITBENCH_UF2", os.devnull)
    with pytest.raises(Uf2Error, match="which is no file"):
        find_uf2()


def test_where_to_get_one_is_said(cache: Path) -> None:
    with pytest.raises(Uf2Error, match="micropython.org/download/RPI_PICO/ and put it there, or name it in PITBENCH_"):
        find_uf2()


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(Uf2Error, match="can't be read"):
        flash_bytes(tmp_path / "none.uf2")


def test_the_family_is_the_rp2040s() -> None:
    assert RP2040 == 0xE48BFF56  # uf2families.json: "Raspberry Pi RP2040"

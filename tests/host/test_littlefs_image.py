"""A board's file system as bytes, and MicroPython with one joined to it."""

from pathlib import Path

import pytest
from pico_facts import PICO
from pitbench import littlefs_image
from pitbench.combined import combined_uf2
from pitbench.errors import PitbenchError
from pitbench.image import Image
from pitbench.littlefs_image import change_files, make_filesystem, read_files
from pitbench.uf2 import ERASED, FLASH_BASE, Uf2Error, parse_uf2, write_uf2

FILES = {"/boot.py": b"import x\n", "/image/hal/a.mpy": bytes(range(256)) * 40, "/image/crc": b"ab", "/empty": b""}
# A MicroPython: it says whose it is.
PAGES = [PICO["machine"].encode().ljust(256), *(bytes([i % 251]) * 256 for i in range(1, 1302))]
IMAGE = Image(Path(), "bill-acceptor", "bench", "rpi-pico", "0.1.0", "", "id003", 0, "", FILES)


def test_files_are_read_back() -> None:
    content = make_filesystem(FILES, PICO)
    assert len(content) == PICO["fs_bytes"]
    assert read_files(content, PICO) == FILES


def test_the_superblock_says_what_micropython_mounts() -> None:
    """SPEC.md of littlefs, superblock: magic, version, block size, block count, all little-endian."""
    content = make_filesystem(FILES, PICO)
    at = content.index(b"littlefs")
    assert at < 4096
    fields = [int.from_bytes(content[at + 12 + 4 * i : at + 16 + 4 * i], "little") for i in range(3)]
    assert fields == [0x00020000, 4096, 352]


def test_files_are_replaced_added_and_removed() -> None:
    content = make_filesystem(FILES, PICO)
    changed = change_files(content, PICO, {"/boot.py": b"y", "/lib/hashlib.py": b"z"}, ["/image/crc"])
    wanted = {**FILES, "/boot.py": b"y", "/lib/hashlib.py": b"z"}
    del wanted["/image/crc"]
    assert read_files(changed, PICO) == wanted
    assert read_files(content, PICO) == FILES


def superblock_version(content: bytes) -> int:
    at = content.index(b"littlefs") + 12
    return int.from_bytes(content[at : at + 4], "little")


def test_a_newer_file_system_that_a_board_made_is_read_and_stays_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """MicroPython 1.24 formats as version 2.1."""
    with monkeypatch.context() as newer:
        newer.setattr(littlefs_image._filesystem, "__defaults__", (0x00020001,))
        content = make_filesystem(FILES, PICO)
    assert superblock_version(content) == 0x00020001
    changed = change_files(content, PICO, {"/x": b"y"})
    assert read_files(changed, PICO) == FILES | {"/x": b"y"}
    assert superblock_version(changed) == 0x00020001
    assert superblock_version(change_files(make_filesystem(FILES, PICO), PICO, {"/x": b"y"})) == 0x00020000


def test_a_file_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(PitbenchError, match="no /q.py to remove"):
        change_files(make_filesystem(FILES, PICO), PICO, remove=["/q.py"])


def test_files_that_do_not_fit_are_said() -> None:
    with pytest.raises(PitbenchError, match="it is full"):
        make_filesystem({"/big": bytes(2_000_000)}, PICO)


def test_a_destroyed_file_system_is_said() -> None:
    with pytest.raises(PitbenchError, match="can't be used"):
        read_files(bytes(PICO["fs_bytes"]), PICO)


@pytest.mark.parametrize("changed", [{"fs": "fat"}, {"fs_offset": None}])
def test_a_board_of_unknown_geometry_is_said(changed: dict[str, object]) -> None:
    with pytest.raises(PitbenchError, match="rpi-pico: its file doesn't say where it lies. Copy the image with"):
        make_filesystem(FILES, PICO | changed)


@pytest.fixture
def micropython(tmp_path: Path) -> Path:
    path = tmp_path / "RPI_PICO.uf2"
    path.write_bytes(write_uf2({FLASH_BASE + i * 256: page for i, page in enumerate(PAGES)}))
    return path


def laid_over(flash: bytearray, uf2: bytes) -> bytearray:
    """What the RP2040's ROM makes of a flash: it erases once per 16 block numbers, then programs, which clears bits."""
    done = set()
    for block in sorted(parse_uf2(uf2), key=lambda block: block.number):
        at = block.address - FLASH_BASE
        if block.number // 16 not in done:
            done.add(block.number // 16)
            flash[at - at % 4096 : at - at % 4096 + 4096] = bytes([ERASED]) * 4096
        flash[at : at + 256] = bytes(old & new for old, new in zip(flash[at : at + 256], block.data, strict=True))
    return flash


def test_a_new_board_gets_both(micropython: Path) -> None:
    flash = laid_over(bytearray(b"\xff" * 0x200000), combined_uf2(micropython, IMAGE, PICO))
    assert flash[: len(PAGES) * 256] == b"".join(PAGES)
    assert read_files(bytes(flash[0xA0000:]), PICO) == FILES


def test_a_used_board_gets_both_too(micropython: Path) -> None:
    """Nothing that an older file system left behind may shine through, nor an old MicroPython."""
    flash = bytearray(bytes(0xA0000) + make_filesystem(FILES, PICO))
    for i in range(60):
        old = {f"/image/hal/old{i % 7}": bytes([i]) * 3000, f"/data/{i}": bytes(20), f"/other/{i}/x": b"x"}
        flash[0xA0000:] = change_files(bytes(flash[0xA0000:]), PICO, old)
    flash = laid_over(flash, combined_uf2(micropython, IMAGE, PICO))
    assert flash[: len(PAGES) * 256] == b"".join(PAGES)
    assert read_files(bytes(flash[0xA0000:]), PICO) == FILES


def test_empty_flash_is_left_out(micropython: Path) -> None:
    assert len(combined_uf2(micropython, IMAGE, PICO)) < 0x200000


def test_a_micropython_that_reaches_into_the_file_system_is_said(micropython: Path) -> None:
    with pytest.raises(Uf2Error, match="reaches to 0x51600 in flash, into the board's file system at 0x50000"):
        combined_uf2(micropython, IMAGE, PICO | {"fs_offset": 0x50000})


def test_a_board_without_uf2_gets_the_other_way(micropython: Path) -> None:
    with pytest.raises(PitbenchError, match="takes no UF2 file. Put MicroPython on it by esptool"):
        combined_uf2(micropython, IMAGE, PICO | {"flash": "esptool"})

"""`pitbench image`: a folder, a UF2 with MicroPython, a file system alone."""

from pathlib import Path

import pytest
from pitbench.board_facts import board_facts
from pitbench.cli import main
from pitbench.commands import image as image_command
from pitbench.littlefs_image import read_files
from pitbench.uf2 import FLASH_BASE, flash_bytes, write_uf2

MICROPYTHON = b"\x12Raspberry Pi Pico with RP2040".ljust(256, b"\x12")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "micropython.uf2").write_bytes(write_uf2({FLASH_BASE: MICROPYTHON}))
    return tmp_path


def test_a_uf2_holds_micropython_and_the_image(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "uf2", "bill-acceptor", "--uf2", "micropython.uf2", "--out", "all.uf2"]) == 0
    assert "Hold BOOTSEL" in capsys.readouterr().out
    flash, facts = flash_bytes(here / "all.uf2"), board_facts("rpi-pico")
    assert flash[:256] == MICROPYTHON
    files = read_files(bytes(flash[facts["fs_offset"] :]), facts)
    built = here / "build/bill-acceptor-bench-rpi-pico"
    assert files == {f"/{path.relative_to(built)}": path.read_bytes() for path in built.rglob("*") if path.is_file()}
    assert "/main.py" in files


def test_another_boards_micropython_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "uf2", "bill-acceptor", "--board", "rpi-pico-w", "--uf2", "micropython.uf2"]) == 2
    said = capsys.readouterr().err
    assert "micropython.uf2 is no MicroPython for Raspberry Pi Pico W: nowhere does it call itself" in said
    assert "Take RPI_PICO_W from micropython.org/download." in said
    assert not (here / "build").exists()


def test_the_uf2_alone_says_the_form(here: Path) -> None:
    assert main(["image", "bill-acceptor", "--board", "rpi-pico", "--uf2", "micropython.uf2"]) == 0
    assert (here / "build/bill-acceptor-bench-rpi-pico.uf2").stat().st_size % 512 == 0


@pytest.mark.parametrize(("flash", "lines"), [("uf2", 0), ("esptool", 1)])
def test_a_littlefs_comes_with_its_place(
    here: Path, flash: str, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = board_facts("rpi-pico") | {"flash": flash}
    monkeypatch.setattr(image_command, "board_facts", lambda name: facts)
    assert main(["image", "littlefs", "bill-acceptor", "--out", "fs.bin"]) == 0
    out = capsys.readouterr().out
    assert "It belongs at 0xa0000 in the flash" in out
    assert out.count("esptool --port PORT write_flash 0xa0000 fs.bin") == lines
    assert "/main.py" in read_files((here / "fs.bin").read_bytes(), facts)


def test_a_board_without_such_a_form_gets_the_other_way(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "uf2", "bill-acceptor", "--board", "pyboard-v1.1", "--uf2", "micropython.uf2"]) == 2
    assert "takes no UF2 file. Put MicroPython on it by dfu" in capsys.readouterr().err


def test_a_board_that_takes_no_uf2_is_said_before_anything_is_looked_for(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PITBENCH_UF2", "nowhere.uf2")
    assert main(["image", "uf2", "bill-acceptor", "--board", "esp32-s3-devkitc"]) == 2
    assert "takes no UF2 file. Put MicroPython on it by esptool" in capsys.readouterr().err
    assert not (here / "build").exists()


@pytest.mark.parametrize("words", [["hex", "bill-acceptor"], ["uf2", "folder", "bill-acceptor"]])
def test_an_unknown_form_gets_the_choices(here: Path, words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", *words]) == 2
    assert "Choose from: folder, uf2, littlefs." in capsys.readouterr().err


def test_where_to_get_micropython_is_said(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PITBENCH_CACHE", str(here / "cache"))
    monkeypatch.delenv("PITBENCH_UF2", raising=False)
    assert main(["image", "uf2", "bill-acceptor"]) == 2
    assert "micropython.org/download/RPI_PICO/" in capsys.readouterr().err


def test_a_form_without_a_device_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["image", "uf2"]) == 2
    assert "Of which device is the uf2 to be made? Name it behind: bill-acceptor, " in capsys.readouterr().err

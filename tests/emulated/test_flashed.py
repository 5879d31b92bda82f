"""The emulated Pico gets its image as a real one does: by `pitbench flash`, or in one UF2."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_bench import micropython
from pitbench.board_facts import board_facts
from pitbench.combined import combined_uf2
from pitbench.deadline import Deadline
from pitbench.emulated.board import EmulatedBoard, emulator
from pitbench.emulated.files import BOARD, FLASH
from pitbench.flashing import flash_board
from pitbench.image import Image, build_image
from pitbench.link import LinkClient
from pitbench.littlefs_image import make_filesystem
from pitbench.transport import open_transport
from pitbench.uf2 import flash_bytes

READY_S = 300.0


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    micropython()
    return build_image("bill-acceptor", "bench", tmp_path_factory.mktemp("image"), board=BOARD)


def chip_with(folder: Path, flash: bytes) -> EmulatedBoard:
    folder.mkdir()
    (folder / FLASH).write_bytes(flash)
    return EmulatedBoard(folder, emulator(micropython()))


def hello(chip: EmulatedBoard) -> dict[str, object]:
    with open_transport(chip.link_path) as transport:
        return LinkClient(transport, clock=chip.clock).reconnect(Deadline(READY_S))


def test_by_the_command_that_flashes_a_pico_then_again(image: Image, tmp_path: Path) -> None:
    """First onto a chip that has nothing but MicroPython, then onto one that runs our bench image already."""
    facts = board_facts(BOARD)
    flash = flash_bytes(micropython())
    flash[facts["fs_offset"] : facts["fs_offset"] + facts["fs_bytes"]] = make_filesystem({}, facts)
    with chip_with(tmp_path / "board", bytes(flash)) as chip:
        first = flash_board(chip.link_path, image, facts, ready_s=READY_S)
        assert first["identity"]["digest"] == image.digest
        again = flash_board(chip.link_path, image, facts, ready_s=READY_S)
        assert again["identity"]["digest"] == image.digest


def test_from_one_file_to_drop(image: Image, tmp_path: Path) -> None:
    uf2 = tmp_path / "both.uf2"
    uf2.write_bytes(combined_uf2(micropython(), image, board_facts(BOARD)))
    with chip_with(tmp_path / "board", bytes(flash_bytes(uf2))) as chip:
        identity = hello(chip)
    assert (identity["digest"], identity["boot"], identity["inoperable"]) == (image.digest, 1, None)

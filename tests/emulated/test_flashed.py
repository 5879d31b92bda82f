"""The emulated Pico gets its image as a real one does: by `pitbench flash`, or in one UF2."""

from __future__ import annotations

from pathlib import Path

import pytest
from emulated_bench import micropython
from pitbench.addresses import EMULATED_BOARD
from pitbench.board_facts import board_facts
from pitbench.combined import combined_uf2
from pitbench.deadline import Deadline
from pitbench.emulated.board import EmulatedBoard, emulator
from pitbench.emulated.files import lay_out
from pitbench.flashing import flash_board
from pitbench.image import Image, build_image
from pitbench.link import LinkClient
from pitbench.transport import open_transport
from pitbench.uf2 import flash_bytes
from pitbench.virtual.flash import FLASH_FILE

READY_S = 300.0


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    micropython()
    return build_image("bill-acceptor", "bench", tmp_path_factory.mktemp("image"), board=EMULATED_BOARD)


@pytest.fixture
def chip(tmp_path: Path) -> EmulatedBoard:
    """An emulated Pico without a flash file, not started."""
    folder = tmp_path / "board"
    folder.mkdir()
    return EmulatedBoard(folder, emulator(micropython()))


def hello(chip: EmulatedBoard) -> dict[str, object]:
    with open_transport(chip.link_path) as transport:
        return LinkClient(transport, clock=chip.clock).reconnect(Deadline(READY_S))


def test_by_the_command_that_flashes_a_pico_then_again(image: Image, chip: EmulatedBoard) -> None:
    """First onto a chip that has nothing but MicroPython, then onto one that runs our bench image already."""
    facts = board_facts(EMULATED_BOARD)
    lay_out({}, chip.root / FLASH_FILE, micropython(), facts)
    with chip:
        first = flash_board(chip.link_path, image, facts, ready_s=READY_S)
        assert first["identity"]["digest"] == image.digest
        again = flash_board(chip.link_path, image, facts, ready_s=READY_S)
        assert again["identity"]["digest"] == image.digest


def test_from_one_file_to_drop(image: Image, chip: EmulatedBoard, tmp_path: Path) -> None:
    uf2 = tmp_path / "both.uf2"
    uf2.write_bytes(combined_uf2(micropython(), image, board_facts(EMULATED_BOARD)))
    (chip.root / FLASH_FILE).write_bytes(flash_bytes(uf2))
    # What the suite's boards are made from is the same, byte for byte: what it says of them holds for this file.
    lay_out(image.files, tmp_path / "suite.bin", micropython(), board_facts(EMULATED_BOARD))
    assert (tmp_path / "suite.bin").read_bytes() == (chip.root / FLASH_FILE).read_bytes()
    with chip:
        identity = hello(chip)
    assert (identity["digest"], identity["boot"], identity["inoperable"]) == (image.digest, 1, None)

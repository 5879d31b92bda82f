"""The board under test: a fresh one for each test where the target is virtual."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pitbench.addresses import parse_target
from pitbench.image import Image, build_image, load_image
from pitbench.targets import Board, board_of, open_target, prove_same_board
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.acceptor_pins import bench_of
from pitbench_hil.run import Run

DEVICE = "bill-acceptor"
# What the rig can do by itself; the device reports the rest.
VIRTUAL_RIG = ("wire", "link", "power", "image", "pins")
REAL_RIG = ("wire", "link", "flash_time")


@pytest.fixture
def image(run: Run, image_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image under test, built (or read from --image) once a process and kind."""
    given = run.image_dirs.get(image_kind)
    if given:
        return run.once(f"image {image_kind}", lambda: load_image(given, DEVICE, image_kind))
    folder = tmp_path_factory.getbasetemp() / f"image-{image_kind}"
    return run.once(f"image {image_kind}", lambda: build_image(DEVICE, image_kind, folder, board=board_of(run.target)))


@pytest.fixture
def board(run: Run, image: Image, image_kind: str, tmp_path: Path) -> Iterator[Board]:
    """An open board that runs the image."""
    target = parse_target(run.target)
    with open_target(target, image=image, kind=image_kind, root=tmp_path / "board", trace=run.trace) as board:
        rig = VIRTUAL_RIG if target.virtual else REAL_RIG
        run.identify(board.identity, rung=board.rung, caps=rig, pc={"digest": image.digest, "crc": f"{image.crc:04x}"})
        if not target.virtual:
            run.once("one board", lambda: prove_same_board(board))  # a virtual board's two ports can't be mixed up
        yield board


@pytest.fixture
def bench(board: Board, image_kind: str) -> AcceptorBench:
    """Host and bench for the board; nothing was sent to its wire yet."""
    return bench_of(board, image_kind)


@pytest.fixture
def till(bench: AcceptorBench, tmp_path: Path) -> Till:
    """A kiosk with a journal on the board, idle and open for business."""
    till = Till(bench, tmp_path / "journal")
    till.open()
    return till

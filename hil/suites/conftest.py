"""The board under test, for every device: a fresh one for each test where the target is virtual."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pitbench.addresses import EMULATED
from pitbench.image import Image, build_image, load_image
from pitbench.signing import signing_key
from pitbench.sources import FIRMWARE
from pitbench.targets import Board, board_of, open_target
from pitbench_hil.lasting import digests
from pitbench_hil.run import Run

EMULATED_RIG = ("wire", "link", "power", "image", "pins", "flash_time")
VIRTUAL_RIG = ("wire", "link", "power", "image", "live_image", "pins")
REAL_RIG = ("wire", "link", "flash_time")


@pytest.fixture
def image(run: Run, image_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Image:
    """The image under test, built (or read from --image) once a process and kind."""
    given = run.image_dirs.get(image_kind)
    if given:
        return run.once(f"image {image_kind}", lambda: load_image(given, run.device, image_kind))
    folder = tmp_path_factory.getbasetemp() / f"image-{image_kind}"
    name = run.lasting.name if run.lasting else board_of(run.target)
    return run.once(f"image {image_kind}", lambda: build_image(run.device, image_kind, folder, board=name))


@pytest.fixture
def board(run: Run, image: Image, image_kind: str, tmp_path: Path) -> Iterator[Board]:
    """An open board that runs the image, as new."""
    root = tmp_path / "board"
    with open_target(run.target, device=run.device, image=image, kind=image_kind, root=root, trace=run.trace) as board:
        run.identify(board.identity, rung=board.rung, caps=rig_of(board), pc=digests(image), cut=board.cut_kind)
        if run.lasting:
            run.lasting.start_over(board)
        yield board
        if run.lasting and not run.broken:
            run.lasting.count(board)


@pytest.fixture
def two_builds(run: Run, image_kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Image, Image]:
    """Two builds of one revision, from different folders into different folders, nothing taken from a cache."""
    sources = tmp_path / "a copy" / "firmware"
    shutil.copytree(FIRMWARE, sources, ignore=shutil.ignore_patterns("__pycache__"))
    built = []
    for name, folder in (("one", FIRMWARE), ("other", sources)):
        monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / f"cache-{name}"))
        out = tmp_path / name / "image"
        built.append(build_image(run.device, image_kind, out, board=board_of(run.target), sources=folder))
    return built[0], built[1]


def rig_of(board: Board) -> tuple[str, ...]:
    """What the rig can do by itself, and the protocol on its wire; the device reports the rest."""
    protocol = (str(board.identity["wire"]),)
    if board.virtual:
        rig = EMULATED_RIG if board.rung == EMULATED else VIRTUAL_RIG
        return protocol + rig + (("signing",) if board.identity.get("key") == signing_key().label else ())
    return protocol + REAL_RIG + (board.real.caps if board.real else ())

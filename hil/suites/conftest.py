"""The board under test, for every device: a fresh one for each test where the target is virtual.

The benches of attended devices stand here too; a device of another kind has its own `bench` in its suite.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pitbench.addresses import EMULATED, LINK, parse_target
from pitbench.image import Image, build_image, load_image
from pitbench.signing import signing_key
from pitbench.sources import FIRMWARE
from pitbench.targets import Board, board_of, open_target
from pitbench_hil.acts import afresh, standing_clock
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.common_device import Device, described
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
    name, tunnel = run.lasting.name if run.lasting else board_of(run.target), parse_target(run.target).wire == LINK
    return run.once(
        f"image {image_kind}",
        lambda: build_image(run.device, image_kind, folder, board=name, wire=run.wire, tunnel=tunnel),
    )


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
        built.append(
            build_image(run.device, image_kind, out, board=board_of(run.target), wire=run.wire, sources=folder)
        )
    return built[0], built[1]


@pytest.fixture
def device(run: Run) -> Device[Any]:
    """What the tests of all attended devices know of this one."""
    return described(run.device)


@pytest.fixture
def fresh(device: Device[Any], board: Board, image_kind: str) -> AttendedBench:
    """Just powered up. An emulated chip has no noise, and the device says so: there the bench feeds it."""
    bench: AttendedBench = device.bench(board)
    if board.rung == EMULATED:
        if image_kind != "bench":
            pytest.skip("needs noise: an emulated chip has none, and only a bench image takes it from the bench")
        bench.start_over_with("fixed", partial(secrets.token_hex, 8))
    return bench


@pytest.fixture
def still(fresh: AttendedBench) -> Iterator[AttendedBench]:
    """Idle, on a clock that stands but for the time that the bench lets pass."""
    with standing_clock(fresh.board):
        afresh(fresh)
        yield fresh


@pytest.fixture
def staffed(fresh: AttendedBench) -> AttendedBench:
    """Every role has its secret."""
    fresh.commission()
    return fresh


@pytest.fixture
def bench(fresh: AttendedBench) -> AttendedBench:
    """Idle, its self-test passed."""
    fresh.start()
    return fresh


def rig_of(board: Board) -> tuple[str, ...]:
    """What the rig can do by itself, and the protocol on its wire; the device reports the rest."""
    protocol = (str(board.identity["wire"]),)
    if board.virtual:
        rig = EMULATED_RIG if board.rung == EMULATED else VIRTUAL_RIG
        return protocol + rig + (("signing",) if board.identity.get("key") == signing_key().label else ())
    return protocol + REAL_RIG + (board.real.caps if board.real else ())

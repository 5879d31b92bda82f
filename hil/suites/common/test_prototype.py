"""13:69E-1.20(a)1 and 1.28(c): one revision is the same bytes; a release image is the bench image without its bench."""

from __future__ import annotations

from pathlib import Path

from pitbench.image import Image
from pitbench.targets import Board
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.prototype import (
    expect_board_holds,
    expect_kinds_differ_in_the_bench,
    expect_no_bench,
    expect_same_bytes,
)
from pitbench_hil.run import Run


@rule("NJ-1.20(a)1/same-bytes")
@images("bench", "release")
def test_two_builds_are_the_same_bytes(
    board: Board, check: Check, image: Image, two_builds: tuple[Image, Image]
) -> None:
    expect_same_bytes(check, board, image, two_builds)


@rule("NJ-1.20(a)1/board-holds-it")
@images("bench", "release")
def test_board_holds_the_image(board: Board, check: Check, image: Image) -> None:
    expect_board_holds(check, board, image)


@rule("NJ-1.28(c)/release-is-the-prototype")
@images("bench", "release")
def test_kinds_differ_in_the_bench_alone(run: Run, board: Board, check: Check, image: Image, tmp_path: Path) -> None:
    expect_kinds_differ_in_the_bench(check, run, board, image, tmp_path / "other")


@rule("NJ-1.28(c)/release-has-no-bench")
@images("release")
def test_release_has_no_bench(board: Board, check: Check, image: Image) -> None:
    expect_no_bench(check, board, image)

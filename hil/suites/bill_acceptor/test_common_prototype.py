"""13:69E-1.20(a)1 and 1.28(c): one revision is the same bytes; a release image is the bench image without its bench."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pitbench.image import Image, build_image
from pitbench.link import LinkError
from pitbench.signature import SEALS
from pitbench.sources import FIRMWARE
from pitbench.targets import board_of
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.check import Check
from pitbench_hil.comparing import different_files
from pitbench_hil.marks import images, rule
from pitbench_hil.run import Run

DEVICE = "bill-acceptor"
# What may differ between the kinds of image, besides the bench's own files: the kind's name, and what is calculated
# over the files.
OWN_OF_EACH_KIND = {"/image/product.mpy", *SEALS}
BENCH = "/image/bench/"
BENCH_CAPS = {"bench", "plant", "advance", "calendar", "store_fault"}
BENCH_OPS = {
    "insert": {"item": {}}, "pull": {}, "clear_path": {}, "door": {"which": "stacker", "open": True},
    "box": {"present": False}, "lock": {"locked": False}, "empty": {}, "battery": {"mv": 0},
    "break": {"part": "scanner"}, "mend": {"part": "scanner"}, "plant": {}, "advance": {"ms": 1000},
    "calendar": {"set": 0}, "store_fault": {"at": 1, "how": "before"}, "store": {}, "restart": {"how": "soft"},
    "damage": {"copy": "a"}, "crash": {}, "start_over": {},
}  # fmt: skip


@pytest.fixture
def fresh(run: Run, image_kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Image, Image]:
    """Two builds of one revision, from different folders into different folders, nothing taken from a cache."""
    sources = tmp_path / "a copy" / "firmware"
    shutil.copytree(FIRMWARE, sources, ignore=shutil.ignore_patterns("__pycache__"))
    built = []
    for name, folder in (("one", FIRMWARE), ("other", sources)):
        monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / f"cache-{name}"))
        out = tmp_path / name / "image"
        built.append(build_image(DEVICE, image_kind, out, board=board_of(run.target), sources=folder))
    return built[0], built[1]


@rule("NJ-1.20(a)1/same-bytes")
@images("bench", "release")
def test_two_builds_are_the_same_bytes(
    bench: AcceptorBench, check: Check, image: Image, fresh: tuple[Image, Image]
) -> None:
    one, other = fresh
    check.expect("revision", one.revision, other.revision)
    different = different_files(one.files, other.files)
    if bench.board.identity["revision"] == one.revision:
        different += different_files(one.files, image.files)
    check.note("files compared", files=len(one.files), different=different)
    check.measure("different_files", len(different))


@rule("NJ-1.28(c)/release-is-the-prototype")
@images("bench", "release")
def test_kinds_differ_in_the_bench_alone(
    run: Run, bench: AcceptorBench, check: Check, image: Image, image_kind: str, tmp_path: Path
) -> None:
    other_kind = "release" if image_kind == "bench" else "bench"
    given = run.image_dirs.get(other_kind)
    other = _files(given) if given else build_image(DEVICE, other_kind, tmp_path / "other").image_files
    bench_files, release = (image.image_files, other) if image_kind == "bench" else (other, image.image_files)
    only_bench = sorted(bench_files.keys() - release.keys())
    check.note("only a bench image has", files=only_bench)
    check.note("differs by the kind", files=sorted(OWN_OF_EACH_KIND))
    shared = [path for path in different_files(bench_files, release) if not path.startswith(BENCH)]
    check.measure("different_files", len(set(shared) - OWN_OF_EACH_KIND))
    check.expect("only a bench image has a bench", [path for path in only_bench if not path.startswith(BENCH)], [])
    check.expect("the board says which it is", bench.board.identity["image"], image_kind)


def _files(folder: Path) -> dict[str, bytes]:
    found = {f"/{path.relative_to(folder).as_posix()}": path for path in folder.rglob("*") if path.is_file()}
    return {path: place.read_bytes() for path, place in found.items() if path.startswith("/image/")}


@rule("NJ-1.28(c)/release-has-no-bench")
@images("release")
def test_release_has_no_bench(bench: AcceptorBench, check: Check, image: Image) -> None:
    check.expect("bench files", [path for path in image.files if path.startswith(BENCH)], [])
    check.expect("bench capabilities", sorted(BENCH_CAPS & set(bench.link.identity["caps"])), [])
    boots, obeyed = bench.board.virtual.boots if bench.board.virtual else 0, []
    for op, args in BENCH_OPS.items():
        check.stimulus("bench request", op=op)
        try:
            bench.do(op, **args)
            obeyed.append(op)
        except LinkError as error:
            check.expect(f"{op} refused as unknown", error.code, "unknown_op")
    check.note("obeyed", ops=obeyed)
    check.measure("obeyed", len(obeyed))
    check.expect("restarts", (bench.board.virtual.boots if bench.board.virtual else 0) - boots, 0)

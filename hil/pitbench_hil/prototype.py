"""13:69E-1.20(a)1 and 1.28(c) for any device: one revision is the same bytes, and the board holds them; a release image
is the bench image without its bench."""

from __future__ import annotations

from pathlib import Path

from pitbench.image import Image, build_image
from pitbench.link import LinkError, whole_files
from pitbench.manifest import manifest_faults
from pitbench.signature import SEALS, image_files
from pitbench.signing import signing_key
from pitbench.targets import Board

from pitbench_hil.bench_requests import bench_requests
from pitbench_hil.check import Check
from pitbench_hil.comparing import different_files, sha256
from pitbench_hil.run import Run

# What may differ between the kinds of image, besides the bench's own files: the kind's name, and what is calculated
# over the files.
OWN_OF_EACH_KIND = frozenset({"/image/product.mpy", *SEALS})
BENCH = "/image/bench/"
BENCH_CAPS = frozenset(
    {"bench", "plant", "advance", "calendar", "store_fault", "draw", "raw_entropy", "rescaling", "still_clock"}
)


def expect_same_bytes(check: Check, board: Board, image: Image, builds: tuple[Image, Image]) -> None:
    """Two builds of one revision are the same bytes, and so is the image under test if it has that revision."""
    one, other = builds
    check.expect("revision", one.revision, other.revision)
    different = different_files(one.files, other.files)
    if board.identity["revision"] == one.revision:
        different += different_files(one.files, image.files)
    check.note("files compared", files=len(one.files), different=different)
    check.measure("different_files", len(different))


def expect_board_holds(check: Check, board: Board, image: Image) -> None:
    """Digests computed on the board equal the PC's, over every file of image and boot block."""
    listed = dict(whole_files(board.link))
    check.expect("files and sizes listed", listed, {path: len(data) for path, data in image.image_files.items()})
    here = {path: sha256(data) for path, data in image.files.items() if path.startswith(("/image/", "/boot"))}
    there = {path: board.link.do("digest", path=path)["sha256"] for path in here}
    check.note("digests compared", files=len(here))
    check.measure("different_files", len(different_files(here, there)))
    identity, key = board.link.hello(), signing_key()
    check.expect("digest of the image", identity["digest"], image.digest)
    check.expect("key that signed it", identity["key"], image.key)
    if key.label == image.key:
        # The board says that its image is authentic: the PC asks its own library.
        check.expect("faults by the manifest", manifest_faults(image.image_files, key.modulus), [])


def expect_kinds_differ_in_the_bench(check: Check, run: Run, board: Board, image: Image, folder: Path) -> None:
    """Bench and release image share every byte but those of the bench, the kind's name and the signature.

    Args:
        image: of either kind; the other is the run's own, or built into `folder`.
    """
    other_kind = "release" if image.kind == "bench" else "bench"
    given = run.image_dirs.get(other_kind)
    other = image_files(given) if given else build_image(image.device, other_kind, folder, wire=image.wire).image_files
    bench_files, release = (image.image_files, other) if image.kind == "bench" else (other, image.image_files)
    only_bench = sorted(bench_files.keys() - release.keys())
    check.note("only a bench image has", files=only_bench)
    check.note("differs by the kind", files=sorted(OWN_OF_EACH_KIND))
    shared = [path for path in different_files(bench_files, release) if not path.startswith(BENCH)]
    check.measure("different_files", len(set(shared) - OWN_OF_EACH_KIND))
    check.expect("only a bench image has a bench", [path for path in only_bench if not path.startswith(BENCH)], [])
    check.expect("the board says which it is", board.identity["image"], image.kind)


def expect_no_bench(check: Check, board: Board, image: Image) -> None:
    """A release image has no bench file, declares nothing of it, and obeys no request of it."""
    check.expect("bench files", [path for path in image.files if path.startswith(BENCH)], [])
    check.expect("bench capabilities", sorted(BENCH_CAPS & set(board.identity["caps"])), [])
    boots, obeyed = board.virtual.boots if board.virtual else 0, []
    for op, args in bench_requests(image.device).items():
        check.stimulus("bench request", op=op)
        try:
            board.link.do(op, **args)
            obeyed.append(op)
        except LinkError as error:
            check.expect(f"{op} refused as unknown", error.code, "unknown_op")
    check.note("obeyed", ops=obeyed)
    check.measure("obeyed", len(obeyed))
    check.expect("restarts", (board.virtual.boots if board.virtual else 0) - boots, 0)


def expect_one_version(check: Check, board: Board, image: Image) -> None:
    """What the link says of version, signature, kind and revision is what was built."""
    identity = board.link.hello()
    check.note("identity", link=identity["version"], image=image.version, crc=f"{image.crc:04x}")
    check.expect("version on the link", identity["version"], image.version)
    check.expect("signature on the link", identity["crc"], f"{image.crc:04x}")
    check.expect("digest on the link", identity["digest"], image.digest)
    check.expect("device", identity["device"], image.device)
    check.expect("kind", identity["image"], image.kind)
    if image.revision:
        check.expect("revision", identity["revision"], image.revision)

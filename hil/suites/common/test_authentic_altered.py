"""13:69E-1.28X(h), first sentence: no altered file is used, whatever was altered and however little."""

from __future__ import annotations

import pytest
from pitbench.errors import PitbenchError
from pitbench.image import Image
from pitbench.manifest import signed_files
from pitbench.signature import CRC_FILE
from pitbench_hil.authentic import Altered, find_all, named
from pitbench_hil.check import Check
from pitbench_hil.forgeries import forgeries, marking_code, with_crc_kept
from pitbench_hil.marks import images, rule
from pitbench_hil.mutations import Mutation, shadowing
from pitbench_hil.run import Run

RULE = "NJ-1.28X(h)"
KINDS = (
    "code", "manifest", "signature", "key", "code-and-manifest", "digest-tail", "signature-tail",
    "truncated", "appended", "renamed", "swapped", "missing",
)  # fmt: skip
# Long series, a file after the other: on a release image every other one is enough, and what it takes of some of them
# the bench image leaves out. All files that both hold are the same bytes.
LONG = ("code", "truncated", "appended", "renamed", "swapped", "missing")
WHOLE_ON_BENCH = ("code",)


def share(run: Run, image: Image, kind: str) -> list[Mutation]:
    """Those of a kind that are tried on this image."""
    every = run.once(f"forgeries {kind} {image.kind}", lambda: forgeries(image.files, kind))
    if kind in LONG and (image.kind == "release" or kind not in WHOLE_ON_BENCH):
        every = every_other(every, image.kind == "release")
    return run.few(every)


def every_other(series: list[Mutation], second: bool) -> list[Mutation]:
    """Those at even or, for the `second` image, at odd places; the first and the last, where a loop goes wrong, always.

    Whether the number of files is even or odd thereby takes nothing away.
    """
    ends = (0, len(series) - 1)
    return [mutation for place, mutation in enumerate(series) if place % 2 == second or place in ends]


@images("bench", "release")
@pytest.mark.parametrize("kind", [pytest.param(name, marks=rule(f"{RULE}/altered/{name}")) for name in KINDS])
def test_altered_board_never_boots_on(altered: Altered, check: Check, image: Image, run: Run, kind: str) -> None:
    count = find_all(check, altered, share(run, image, kind))
    check.measure("mutations", count.mutations)
    check.measure("booted_on", count.booted_on)
    check.measure("obeyed", count.obeyed)
    # Found by its own line of the manifest, and not by that of the CRC that was made to fit.
    check.expect("altered files that the board doesn't name", count.unnamed, [])


@rule("HOUSE-self-authentication")
@images("bench", "release")
def test_none_of_the_image_runs_before_all_of_it_was_authenticated(
    altered: Altered, check: Check, image: Image, run: Run
) -> None:
    paths = [path for path in signed_files(image.files) if path != CRC_FILE]
    chosen = run.few(paths[1::2] if image.kind == "release" else paths)
    mutations = [
        Mutation(f"{path} leaves a mark", with_crc_kept(image.files, path, marking_code(path)), path) for path in chosen
    ]
    count = find_all(check, altered, mutations)
    check.measure("booted_on", count.booted_on)
    check.measure("ran", int(altered.ran()))
    check.measure("files_not_tried", len(chosen) - count.mutations)
    check.expect("files that the board doesn't name", count.unnamed, [])


@rule(f"{RULE}/stray-file")
@images("bench", "release")
def test_stray_file_is_found_and_named(altered: Altered, check: Check, image: Image, run: Run) -> None:
    count = find_all(check, altered, run.few(forgeries(image.files, "stray")))
    check.measure("booted_on", count.booted_on)
    check.measure("ran", int(altered.ran()))
    check.expect("stray files that the link doesn't name", count.unnamed, [])
    check.expect("requests obeyed", count.obeyed, 0)


@rule(f"{RULE}/stray-file")
@images("bench", "release")
def test_nothing_is_imported_beside_a_source_in_the_boot_block(altered: Altered, check: Check, image: Image) -> None:
    booted_on = 0
    for mutation in shadowing(image.files):
        check.stimulus("source added beside the boot block's bytecode while off, power on", mutation=mutation.name)
        altered.start(mutation.files)
        if not refuses(altered, mutation.extra):
            check.note("not found", mutation=mutation.name)
            booted_on += 1
            break
    check.measure("booted_on", booted_on)
    check.measure("ran", int(altered.ran()))


def refuses(altered: Altered, path: str) -> bool:
    """Whether the board names this path on its console and stays mute, or stands inoperable."""
    deadline = altered.deadline()
    while not deadline.passed and not altered.ran():
        if named(altered.console().rstrip(), path):
            return not altered.moved()
        altered.rest()
    try:
        return altered.looks().stopped
    except PitbenchError:
        return False

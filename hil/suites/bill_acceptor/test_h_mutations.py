"""13:69E-1.28N(h): no altered image boots on, whatever was altered and however little."""

from __future__ import annotations

import pytest
from pitbench.image import Image
from pitbench.link import LinkError
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_altered import Altered, find_all
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.mutations import Mutation, mutations, shadowing
from pitbench_hil.run import Run

RULE = "NJ-1.28N(h)"
KINDS = (
    "bit-flips", "same-crc-8", "truncated", "appended", "renamed", "swapped", "moved-across-files", "leading-zeros",
    "embedded-value",
)  # fmt: skip


TIGHT = ("bit-flips", "same-crc-8", "embedded-value")


def share(run: Run, image: Image, kind: str) -> list[Mutation]:
    """Some of them, spread over all: what the bench image leaves out, the release image takes."""
    every = run.once(f"mutations {kind} {image.kind}", lambda: mutations(image.files, kind))
    return run.few(every[image.kind == "release" :: 2 if kind in TIGHT else 4])


@images("bench", "release")
@pytest.mark.parametrize("kind", [pytest.param(name, marks=rule(f"{RULE}/altered/{name}")) for name in KINDS])
def test_altered_image_never_boots_on(bench: AcceptorBench, check: Check, image: Image, run: Run, kind: str) -> None:
    altered = Altered(bench, image)
    altered.offer()
    count = find_all(check, altered, share(run, image, kind))
    altered.restore()
    check.measure("mutations", count.mutations)
    check.measure("booted_on", count.booted_on)
    check.measure("accepted", altered.accepted())


@rule(f"{RULE}/extra-file")
@images("bench", "release")
def test_extra_file_is_found(bench: AcceptorBench, check: Check, image: Image) -> None:
    altered = Altered(bench, image)
    unnamed, booted_on = [], 0
    for mutation in mutations(image.files, "extra-file")[image.kind == "release" :: 2]:
        check.stimulus("file added while off, power on", mutation=mutation.name)
        altered.start(mutation.files)
        inoperable, said = altered.looks()
        if not inoperable:
            check.note("not found", mutation=mutation.name, said=said)
            booted_on += 1
            break
        if mutation.extra and not names_it(bench, mutation.extra):
            unnamed.append(mutation.extra)
    check.measure("booted_on", booted_on)
    check.expect("extra files outside the image that the link doesn't name", unnamed, [])
    check.expect("an extra file was run", altered.ran(), False)


@rule(f"{RULE}/extra-file")
@images("bench", "release")
def test_nothing_is_imported_beside_a_source_in_the_boot_block(
    bench: AcceptorBench, check: Check, image: Image
) -> None:
    altered = Altered(bench, image)
    booted_on = 0
    for mutation in shadowing(image.files):
        check.stimulus("source added beside the boot block's bytecode while off, power on", mutation=mutation.name)
        altered.start(mutation.files)
        refused, said = altered.refuses(mutation.extra)
        if not refused:
            check.note("not found", mutation=mutation.name, said=said)
            booted_on += 1
            break
    check.measure("booted_on", booted_on)
    check.expect("an extra file was run", altered.ran(), False)


def names_it(bench: AcceptorBench, path: str) -> bool:
    """Whether the reason on the link names the path, or the folder that it came with."""
    bench.reconnect()
    try:
        why = str(bench.state().get("why", ""))
    except LinkError:
        return False
    named = why.rpartition("extra file ")[2]
    return bool(named) and (named == path or path.startswith(named))

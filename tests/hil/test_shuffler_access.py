"""The operations that the access suite knows are those of the sources: a new one is asked about, or this fails."""

import re
from pathlib import Path

from pitbench.sources import FIRMWARE, Tree
from pitbench_hil.shuffler_access import GUESSED, HISTORY, PROVEN, READS, REQUESTS

LINE = re.compile(r"^(\w+):", re.M)
ARGS = re.compile(r'ARGS = """\n(.*?)"""', re.S)


def operations(folder: str) -> set[str]:
    names = [name for name in Tree().files("shuffler", "bench") if name.startswith(folder)]
    texts = [Path(FIRMWARE / name).read_text(encoding="utf-8") for name in names]
    return {op for text in texts for lines in ARGS.findall(text) for op in LINE.findall(lines)}


def test_every_operation_of_the_image_is_known_to_read_or_to_take_a_proof():
    assert operations("link/") == {*READS, *PROVEN}
    assert not {*READS} & {*PROVEN}


def test_each_that_takes_a_proof_is_asked_by_everybody():
    assert {request.op for request in (HISTORY, *REQUESTS)} == {*PROVEN}


def test_what_is_guessed_is_no_operation_of_any_image():
    assert not {*GUESSED} & (operations("link/") | operations("bench/"))

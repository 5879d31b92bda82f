"""The boot block under WASM: the same answers on 32 bits, where memory is tighter."""

import json

import pytest
from boot_bench import Bench
from pitbench.image import build_image, install
from test_mutations import MUTATIONS, check_refusal


@pytest.fixture
def wasm_image(image, tmp_path):
    sources = image.folder.parent / "firmware"
    return build_image("bill-acceptor", "bench", tmp_path / "wasm", board="wasm", sources=sources)


@pytest.fixture
def bench_of(wasm_image, tmp_path):
    benches = []

    def start(mutation: str | None) -> Bench:
        root = tmp_path / "flash" / "board"
        install(wasm_image, root)
        if mutation:
            MUTATIONS[mutation](root)
        benches.append(Bench(root, "power", "wasm"))
        return benches[-1]

    yield start
    for bench in benches:
        bench.close()


def test_a_good_image_boots_with_the_same_digest(bench_of, image):
    bench = bench_of(None)
    assert bench.line() == b"READY power\n"
    facts = json.loads(bench.tell("facts"))
    assert (facts["board"], facts["digest"]) == ("wasm", image.digest)


@pytest.mark.parametrize(
    "name", ["bytes: truncated by one", "bytes: two thousand files", "special: a pipe", "crc file: embedded missing"]
)
def test_an_altered_image_never_runs(bench_of, name):
    check_refusal(bench_of(name), name)

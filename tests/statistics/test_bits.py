"""SP 800-22: the publication's own examples, the authors' C code, and what the tests refuse."""

from __future__ import annotations

import numpy as np
import pytest
from known_answers import VECTORS
from pitbench_hil.statistics import bits
from pitbench_hil.statistics.samples import SampleError

EXAMPLES = VECTORS["nist_800_22"]


def row_of(text: str) -> np.ndarray:
    return np.array([int(bit) for bit in text], np.uint8)


def p_values(test: str, row: np.ndarray, params: dict) -> list[float]:
    if test == "cumulative_sums":
        return [bits.cumulative_sums(row)[("forward", "backward").index(params["mode"])]]
    found = getattr(bits, test)(row, *params.values())
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda e: f"{e['test']}-{len(e['bits'])}-{list(e['params'].values())}"
)
def test_the_examples_of_the_publication(example):
    assert p_values(example["test"], row_of(example["bits"]), example["params"]) == pytest.approx(
        example["p"], abs=1.1e-6
    )


@pytest.fixture(scope="module")
def million():
    return np.random.default_rng(800_22).integers(0, 2, 1_000_000).astype(np.uint8)


LENGTHS = (128, 6_272, 20_000, 750_000, 1_000_000)


@pytest.mark.parametrize("size", LENGTHS)
def test_the_c_code_of_the_publication_agrees(million, size):
    suite = pytest.importorskip(
        "sp80022suite", reason="NIST's C code is not installed (extra 'bench'): nothing to compare with"
    )
    row = million[:size]
    raw = row.tobytes()
    assert bits.monobit(row) == pytest.approx(suite.frequency(raw), abs=1e-9)
    assert bits.block_frequency(row, 100) == pytest.approx(suite.block_frequency(100, raw), abs=1e-9)
    assert bits.runs(row) == pytest.approx(suite.runs(raw), abs=1e-9)
    assert bits.longest_run(row) == pytest.approx(suite.longest_run_of_ones(raw), abs=1e-9)
    assert min(bits.serial(row, 5)) == pytest.approx(suite.serial(5, raw), abs=1e-8)
    assert bits.approximate_entropy(row, 4) == pytest.approx(suite.approximate_entropy(4, raw), abs=1e-8)
    assert min(bits.cumulative_sums(row)) == pytest.approx(suite.cumulative_sums(raw), abs=1e-9)


def test_the_longest_run_of_a_block_by_hand():
    blocks = ["11111111", "00000000", "01110110", "10101010"]
    assert bits._longest_runs(row_of("".join(blocks)), 8).tolist() == [8, 0, 3, 1]


@pytest.mark.parametrize("length", range(2, 12))
def test_patterns_are_counted_around_the_ring(length):
    row = np.random.default_rng(length).integers(0, 2, 300).astype(np.uint8)
    ring = "".join(map(str, row.tolist() + row[: length - 1].tolist()))
    by_hand = [ring[at : at + length] for at in range(300)]
    counts = bits._pattern_counts(row, length)
    assert {f"{value:0{length}b}": n for value, n in enumerate(counts) if n} == {
        pattern: by_hand.count(pattern) for pattern in by_hand
    }


FAULTS = {
    "a share of .503 ones": lambda random: random.random(1_000_000) < 0.503,
    "each bit like the last, 505 times in 1,000": lambda random: np.cumsum(random.random(1_000_000) < 0.495) % 2 == 1,
    "one block of ten without ones": lambda random: random.integers(0, 2, 1_000_000) * (np.arange(1_000_000) >= 1e5),
}
FINDERS = {
    "a share of .503 ones": bits.monobit,
    "each bit like the last, 505 times in 1,000": bits.runs,
    "one block of ten without ones": lambda row: bits.block_frequency(row, 10_000),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_the_test_that_is_for_it(fault):
    assert FINDERS[fault](FAULTS[fault](np.random.default_rng(1)).astype(np.uint8)) < 1e-6


def test_a_generator_with_a_fixed_seed_passes_them_all(million):
    p = [bits.monobit(million), bits.block_frequency(million, 128), bits.runs(million), bits.longest_run(million)]
    p += [*bits.serial(million, 16), bits.approximate_entropy(million, 10), *bits.cumulative_sums(million)]
    assert min(p) > 0.001


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bits.monobit([]), "0 bits are too few"),
        (lambda: bits.runs([1]), "1 bits are too few"),
        (lambda: bits.block_frequency([1, 0], 3), "defined from 3 on"),
        (lambda: bits.block_frequency([1, 0], 0), "one bit or more"),
        (lambda: bits.longest_run([0, 1] * 60), "defined from 128 on"),
        (lambda: bits.longest_run([0, 1] * 100, 128), "defined from 6272 on"),
        (lambda: bits.longest_run([0, 1] * 100, 9), "no table for blocks of 9"),
        (lambda: bits.serial([1, 0, 1], 4), "defined from 4 on"),
        (lambda: bits.serial([1, 0, 1], 1), "two bits or more"),
        (lambda: bits.approximate_entropy([1, 0], 2), "defined from 3 on"),
        (lambda: bits.monobit([0, 2]), "0 or 1"),
        (lambda: bits.monobit([0, -1]), "0 or 1"),
        (lambda: bits.monobit([[0, 1]]), "one row"),
        (lambda: bits.monobit([0.5, 1]), "one row"),
    ],
)
def test_what_a_test_is_not_defined_for_is_one_sentence(call, words):
    with pytest.raises(SampleError, match=words):
        call()


@pytest.mark.parametrize("bit", [0, 1])
def test_bits_that_are_all_alike_are_too_few_to_tell_or_too_many_alike(bit):
    assert bits.runs([bit] * 15) == 1.0
    assert bits.runs([bit] * 16) == 0.0

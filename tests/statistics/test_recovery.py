"""Generators that are solved from their outputs, and one that isn't."""

from __future__ import annotations

import json
import random
import secrets
import subprocess
from itertools import islice

import numpy as np
import pytest
from pitbench.virtual.interpreter import find_interpreter
from pitbench_hil.statistics.recovery import PREDICTORS, congruential, mersenne_twister, solved_by, xorshift, yasmarang
from pitbench_hil.statistics.samples import SampleError

TWISTER = "MT19937"
YASMARANG = "yasmarang (MicroPython's random), from its seed"


def words_of(next_word, number: int) -> list[int]:
    return [next_word() for _ in range(number)]


def test_python_s_own_generator_is_solved_from_624_words():
    source = random.Random(42)
    words = words_of(lambda: source.getrandbits(32), 650)
    assert mersenne_twister.predict(words[:624], 26) == words[624:]
    assert mersenne_twister.predict(words[:640], 10) == words[640:]
    assert mersenne_twister.predict(words[:623], 1) is None
    assert solved_by(words) == TWISTER


def test_numpy_s_generator_of_that_kind_is_solved_too_from_the_middle_of_its_stream():
    words = np.random.MT19937(7).random_raw(2_000)[1_111 : 1_111 + 700]
    assert solved_by(words) == TWISTER


def test_a_word_that_is_wrong_is_no_mersenne_twister():
    source = random.Random(42)
    words = words_of(lambda: source.getrandbits(32), 630)
    words[627] ^= 1
    assert mersenne_twister.predict(words, 1) is None


def test_the_first_words_of_marsaglia_s_xorshift():
    # Marsaglia 2003, page 4: y = 2463534242 gives 723471715 first.
    assert xorshift.step(2463534242, (13, -17, 5)) == 723471715


@pytest.mark.parametrize("shifts", [(13, -17, 5), (-9, 7, -28), (1, -3, 10)])
def test_xorshift_is_solved_from_two_words(shifts):
    words = [0xC0FFEE]
    for _ in range(9):
        words.append(xorshift.step(words[-1], shifts))
    assert xorshift.predict(words[:2], 8) == words[2:]
    assert solved_by(words) == "xorshift32"
    assert xorshift.predict(words[:1], 1) is None
    assert xorshift.predict([0, 0], 1) is None


def congruential_words(a: int, c: int, number: int) -> list[int]:
    words = [12345]
    for _ in range(number - 1):
        words.append((a * words[-1] + c) % 2**32)
    return words


@pytest.mark.parametrize("name", congruential.KNOWN)
def test_a_known_congruential_generator_is_solved_from_two_words(name):
    words = congruential_words(*congruential.KNOWN[name], 8)
    assert congruential.predict(words[:2], 6) == words[2:]


def test_an_unknown_one_is_solved_from_four():
    words = congruential_words(747796405, 2891336453, 9)
    assert congruential.predict(words[:4], 5) == words[4:]
    assert congruential.predict(words[:3], 1) is None
    assert solved_by(words) == "linear congruential, modulo 2^32"


ASK = """
import json, random
first = [random.getrandbits(32) for _ in range(8)]
random.seed(20260730)
print(json.dumps([first, [random.getrandbits(32) for _ in range(8)]]))
"""


def test_micropython_s_own_random_is_solved(tmp_path):
    (tmp_path / "ask.py").write_text(ASK)
    command = [*find_interpreter("unix").bare, str(tmp_path / "ask.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    _, seeded = json.loads(done.stdout)
    assert seeded == list(islice(yasmarang.outputs(20260730), 8))
    assert yasmarang.predict(seeded[:2], 6) == seeded[2:]
    assert solved_by(seeded) == YASMARANG


@pytest.mark.parametrize("seed", [0, 1, 0xFFFFFFFF, yasmarang.POWER_ON, 987654321])
def test_the_first_word_gives_the_seed_away(seed):
    assert seed in yasmarang.seeds_of(next(yasmarang.outputs(seed)))


def test_a_seed_that_is_found_makes_the_word_it_was_found_from():
    found = [seed for word in range(0, 2**32, 2**28) for seed in yasmarang.seeds_of(word)]
    assert len(found) >= 8
    assert all(next(yasmarang.outputs(seed)) % 2**28 == 0 for seed in found)


def test_words_some_way_after_power_on_are_solved_too():
    words = list(islice(yasmarang.outputs(yasmarang.POWER_ON), 5_000, 5_010))
    assert solved_by(words) == YASMARANG
    seeded = list(islice(yasmarang.outputs(99), 5_000, 5_010))
    assert yasmarang.predict(seeded, 1) is None


def test_no_predictor_solves_the_system_s_generator():
    words = [secrets.randbits(32) for _ in range(700)]
    assert solved_by(words) is None
    assert all(predict(words, 1) is None for name, predict in PREDICTORS.items())


def test_what_nothing_can_be_predicted_from_is_refused():
    with pytest.raises(SampleError, match="too few words"):
        solved_by([1, 2, 3, 4, 5])
    with pytest.raises(SampleError, match="32 bits"):
        solved_by([2**32] * 10)

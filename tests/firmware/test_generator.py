"""Draws: rescaling without bias, orders equally likely, entropy for all of them, and none from a dead source."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import product
from math import ceil, factorial, lgamma, log, log2, prod
from random import Random

import pytest
from device.generator import DeadSource, Generator
from drbg_reference import Reference
from hal.entropy import Entropy

UNIQUE = b"\xe6\x61\x41\x04\x03\x2f\x5b\x27"
# Cards, and log2 of the distinct orders of as many decks of 52.
SHOES = {52: 225.6, 104: 499.5, 312: 1646.8, 416: 2229.3}


class Fed:
    """Entropy that is the same with each seed of the test; remembers what it gave."""

    name = "fed"

    def __init__(self, seed: int = 1) -> None:
        self.random, self.healthy, self.given = Random(seed), True, b""

    def read(self, n: int) -> bytes:
        data = self.random.randbytes(n)
        self.given += data
        return data


class Exhausted(Exception):
    """All chosen words are used up."""


class Chosen:
    """Words chosen by the test, one at a time: nothing is lost when fresh entropy makes the generator drop a block."""

    def __init__(self, words, width: int = 1) -> None:
        self.words, self.width, self.asked = iter(words), width, 0

    def generate(self, n: int) -> bytes:
        self.asked += 1
        for word in self.words:
            return word.to_bytes(self.width, "big")
        raise Exhausted


def seeded(seed: int = 1, unique: bytes = UNIQUE, saved: bytes = b"") -> Generator:
    generator = Generator(Fed(seed), unique)
    generator.restore(saved)
    return generator


def chosen(words, width: int = 1) -> Generator:
    generator = seeded()
    generator.source = Chosen(words, width)
    generator.begin()
    return generator


def order_for(n: int):
    return bytearray(n) if n <= 256 else array("H", bytes(2 * n))


# -- rescaling: 13:69E-1.28G(b)6


def until_exhausted(generator: Generator, n: int):
    while True:
        try:
            yield generator.below(n)
        except Exhausted:
            return


def outcomes_of_all_words(n: int, width: int) -> tuple[Counter, int]:
    """How many of all words of `width` bytes lead to each outcome, and how many are rejected."""
    words = list(range(256**width))
    # In sequence, the highest ones would look like a generator that is broken.
    Random(n).shuffle(words)
    generator = chosen(words, width)
    counts = Counter(until_exhausted(generator, n))
    assert generator.draws == sum(counts.values())
    return counts, generator.rejected


@pytest.mark.parametrize("n", range(1, 257))
def test_every_outcome_has_as_many_bytes(n):
    counts, rejected = outcomes_of_all_words(n, 1)
    assert counts == dict.fromkeys(range(n), 256 // n)
    assert rejected == 256 % n


@pytest.mark.parametrize("n", [257, 260, 300, 312, 364, 415, 416, 432, 1000, 32768, 32769, 65535, 65536])
def test_every_outcome_has_as_many_words_of_16_bits(n):
    counts, rejected = outcomes_of_all_words(n, 2)
    assert counts == dict.fromkeys(range(n), 65536 // n)
    assert rejected == 65536 % n


@pytest.mark.parametrize(
    ("n", "width", "first_rejected"), [(6, 1, 252), (52, 1, 208), (7, 1, 252), (300, 2, 65400), (416, 2, 65312)]
)
def test_the_highest_words_are_rejected(n, width, first_rejected):
    generator = chosen([first_rejected - 1, first_rejected, 256**width - 1, 5], width)
    assert [generator.below(n), generator.rejected] == [n - 1, 0]
    assert [generator.below(n), generator.rejected] == [5, 2]


@pytest.mark.parametrize("n", [0, -1, 65537])
def test_what_no_word_can_give_is_refused(n):
    with pytest.raises(ValueError, match="outcomes"):
        seeded().below(n)


def test_words_that_are_all_rejected_end_in_an_exception():
    generator = chosen(iter(lambda: 255, None))
    with pytest.raises(DeadSource, match="rejected"):
        generator.below(200)


def test_blocks_are_used_to_their_end_and_words_of_either_width_are_not_mixed():
    class Block:
        at = 0

        def generate(self, n: int) -> bytes:
            self.at += 64
            return bytes(range(self.at - 64, self.at))

    generator = seeded()
    generator.source = Block()
    generator.begin()
    assert [generator.below(256) for _ in range(8)] == list(range(8))
    assert generator.below(65536) == 64 << 8 | 65
    assert generator.below(256) == 128


# -- permutations: 13:69E-1.28X(f)


def test_three_cards_by_all_words():
    words = list(product(range(255), range(256)))
    generator = seeded()
    generator.begin = lambda: None  # fresh entropy comes when it must, not 65,280 times
    counts = Counter()
    for pair in words:
        generator.source = Chosen(pair)
        counts[bytes(generator.permutation(bytearray(3)))] += 1
    assert counts == dict.fromkeys(counts, len(words) // 6)
    assert len(counts) == 6


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_every_order_comes_from_one_sequence_of_outcomes(n):
    found = set()
    for words in product(*(range(k) for k in range(n, 1, -1))):
        found.add(bytes(chosen(words).permutation(bytearray(n))))
    assert len(found) == factorial(n)


def test_the_swap_goes_forward():
    # 0123, 0 with 2: 2103, 1 with 1, 2 with 3: 2130.
    assert chosen([2, 0, 1]).permutation(bytearray(4)) == bytes([2, 1, 3, 0])


@pytest.mark.parametrize("n", SHOES)
def test_what_stood_in_the_buffer_before_does_not_matter(n):
    used = order_for(n)
    for i in range(n):
        used[i] = (7 * i) % n
    first = seeded().permutation(order_for(n))
    assert seeded().permutation(used) == first
    assert sorted(first) == list(range(n))


def test_a_buffer_too_narrow_for_its_cards_is_refused():
    with pytest.raises(ValueError, match="order|range"):
        seeded().permutation(bytearray(300))


def expected_order(n: int, entropy: bytes) -> list[int]:
    """Of one deck after restore(b""), by the reference: of 256 bits 249 are spent, so that none are gathered later."""
    reference = Reference(entropy[:32], entropy[32:48], bytes(32) + UNIQUE)
    reference.generate(32, b"")
    reference.reseed(entropy[48:80], UNIQUE)
    order, words = list(range(n)), iter(reference.generate(64, b"") + reference.generate(64, b""))
    for i in range(n - 1):
        k = n - i
        j = i + next(word for word in words if word < 256 - 256 % k) % k
        order[i], order[j] = order[j], order[i]
    return order


@pytest.mark.parametrize("seed", range(20))
def test_a_deck_is_what_the_specification_makes_of_its_entropy(seed):
    generator = seeded(seed)
    order = list(generator.permutation(bytearray(52)))
    assert order == expected_order(52, generator.entropy.given)
    assert generator.draws == 51


# -- room for every outcome: 13:69E-1.28G(b)1


def log2_of_orders(n: int) -> float:
    decks = n // 52
    return (lgamma(n + 1) - 52 * lgamma(decks + 1)) / log(2)


@pytest.mark.parametrize(("n", "needed"), SHOES.items())
def test_a_shoe_gathers_the_bits_of_all_its_orders(n, needed):
    assert round(log2_of_orders(n), 1) == needed
    generator = seeded()
    before = len(generator.entropy.given)
    generator.permutation(order_for(n))
    assert generator.bits == 8 * (len(generator.entropy.given) - before)
    # More than distinct orders need: each card counts, also those that look the same.
    assert generator.bits >= lgamma(n + 1) / log(2) >= needed - 0.05
    assert generator.bits <= lgamma(n + 1) / log(2) * 1.08 + 256


class Told(Generator):
    """Tells between which draws fresh entropy came in."""

    def __init__(self) -> None:
        super().__init__(Fed(), UNIQUE)
        self.shares: list[list[int]] = []

    def fresh(self, bits: int = 256) -> None:
        super().fresh(bits)
        self.shares.append([])

    def below(self, n: int) -> int:
        drawn = super().below(n)
        self.shares[-1].append(n)
        return drawn


@pytest.mark.parametrize("n", SHOES)
def test_256_fresh_bits_never_decide_among_more_outcomes_than_they_have_values(n):
    generator = Told()
    generator.restore(b"")
    generator.permutation(order_for(n))
    assert sum(len(share) for share in generator.shares) == n - 1
    assert all(prod(share) <= 2**256 for share in generator.shares)
    assert len(generator.shares) == generator.bits // 256


def test_single_draws_gather_too_without_begin():
    generator = Told()
    generator.restore(b"")
    for _ in range(1000):
        generator.below(7)
    assert len(generator.shares) == ceil(1000 / (256 // ceil(log2(7))))


def test_more_bits_are_read_when_asked_for_and_never_less_than_256():
    generator = seeded()
    for asked, read in ((1, 32), (256, 32), (257, 33), (2230, 279)):
        before = len(generator.entropy.given)
        generator.fresh(asked)
        assert len(generator.entropy.given) - before == read


def test_each_shuffle_has_fresh_bits_however_few_the_last_one_took():
    generator = seeded()
    for _ in range(3):
        before = len(generator.entropy.given)
        generator.permutation(bytearray(5))
        assert (len(generator.entropy.given) - before, generator.bits, generator.draws) == (32, 256, 4)


def test_a_new_seed_leaves_nothing_of_the_old_one():
    generator = Told()
    generator.restore(b"")
    generator.below(256)
    generator.restore(b"")
    generator.below(256)
    assert len(generator.shares) == 2


def test_begin_counts_from_nought():
    generator = seeded()
    generator.permutation(bytearray(52))
    generator.begin()
    assert (generator.bits, generator.draws, generator.rejected) == (256, 0, 0)


def test_words_drawn_before_fresh_entropy_are_not_used_after_it():
    streams = []
    for late in (1, 2):
        generator = seeded()
        first = [generator.below(256) for _ in range(8)]
        generator.entropy.random = Random(late)
        generator.fresh()
        streams.append((first, [generator.below(256) for _ in range(8)]))
    assert streams[0][0] == streams[1][0]
    assert streams[0][1] != streams[1][1]


# -- seed and background: 13:69E-1.28G(b)4, 5


def deck(generator: Generator) -> bytes:
    return bytes(generator.permutation(bytearray(52)))


def test_boards_with_the_same_entropy_differ_by_their_id():
    decks = {deck(seeded(unique=bytes([n]) * 8)) for n in range(50)}
    assert len(decks) == 50


def test_a_start_never_repeats_another_even_if_entropy_does():
    saved, decks, states = b"", [], []
    for _ in range(50):
        generator = Generator(Fed(), UNIQUE)
        saved = generator.restore(saved)
        states.append(saved)
        decks.append(deck(generator))
    assert len(set(states)) == len(set(decks)) == 50
    assert {len(state) for state in states} == {32}


def test_fresh_entropy_alone_makes_another_start():
    assert deck(seeded(1, saved=bytes(32))) != deck(seeded(2, saved=bytes(32)))


def test_the_saved_state_is_neither_state_nor_words():
    generator = Generator(Fed(), UNIQUE)
    saved = generator.restore(b"")
    assert saved != generator._drbg._v
    later = generator.state()
    assert later != saved
    assert saved[:8] not in bytes(generator.below(256) for _ in range(512))


def test_only_idle_steps_differ_and_so_do_decks():
    decks = set()
    for idle in range(50):
        generator = seeded()
        for _ in range(idle):
            generator.background()
        decks.add(deck(generator))
    assert len(decks) == 50


def test_a_cycle_drops_what_was_drawn_before_it():
    generator, other = seeded(), seeded()
    assert generator.below(256) == other.below(256)
    other.background()
    assert [generator.below(256) for _ in range(16)] != [other.below(256) for _ in range(16)]


# -- a dead source: 13:69E-1.28G(b)2


DRAWS = {
    "below": lambda generator: generator.below(52),
    "permutation": lambda generator: generator.permutation(bytearray(52)),
    "begin": lambda generator: generator.begin(),
    "fresh": lambda generator: generator.fresh(),
    "restore": lambda generator: generator.restore(b""),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_no_draw_without_healthy_entropy(draw):
    generator = chosen(range(256))
    generator.below(52)
    generator.entropy.healthy = False
    asked = generator.source.asked
    with pytest.raises(DeadSource, match="fed"):
        DRAWS[draw](generator)
    assert generator.source.asked == asked


@pytest.mark.parametrize("draw", sorted(set(DRAWS) - {"restore"}))
def test_no_draw_without_a_seed(draw):
    generator = Generator(Fed(), UNIQUE)
    generator.source = Chosen(range(256))
    generator.background()
    with pytest.raises(DeadSource, match="not seeded"):
        DRAWS[draw](generator)
    assert generator.source.asked == 0


def test_a_source_that_dies_on_the_way_ends_the_shuffle():
    raw = Random(3)
    entropy = Entropy("dying", lambda n: raw.randbytes(n))
    generator = Generator(entropy, UNIQUE)
    generator.restore(b"")
    entropy.source = lambda n: raw.randbytes(n) if generator.bits < 1024 else bytes(n)
    with pytest.raises(DeadSource, match="dying"):
        generator.permutation(order_for(416))
    assert 0 < generator.draws < 415
    with pytest.raises(DeadSource):
        generator.below(2)


def test_a_stuck_source_is_found_before_the_first_draw():
    generator = Generator(Entropy("stuck", lambda n: b"\x5a" * n), UNIQUE)
    with pytest.raises(DeadSource, match="stuck"):
        generator.restore(b"")
    with pytest.raises(DeadSource):
        generator.below(52)

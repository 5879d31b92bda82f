"""Health tests of SP 800-90B, 4.3 and 4.4: cut-offs from their definition, and the alarm exactly there."""

from __future__ import annotations

from math import ceil, exp, lgamma, log, log1p
from random import Random

import pytest
from hal import entropy as hal
from hal.entropy import AdaptiveProportion, Entropy, RepetitionCount

WINDOW = 1024


def first_alarm(test, samples) -> int | None:
    return next((n for n, sample in enumerate(samples, 1) if not test.feed(sample)), None)


# -- cut-offs

# Vectors are for the first, the device has the second.
VECTORS, DEVICE = 20, 40


def repetition_cutoff(h: float, bits: int = VECTORS) -> int:
    """4.4.1: 1 + ceil(-log2(alpha) / H), for a false alarm rate alpha of 2^-bits."""
    return 1 + ceil(bits / h)


def chance(count: int, window: int, p: float) -> float:
    """Of seeing a sample of chance `p` exactly `count` times in a window."""
    ways = lgamma(window + 1) - lgamma(count + 1) - lgamma(window - count + 1)
    return exp(ways + count * log(p) + (window - count) * log1p(-p))


def proportion_cutoff(h: float, window: int, bits: int = VECTORS) -> int:
    """4.4.2: 1 + the least number that no more than a share of alpha of all windows exceeds."""
    tail, count = 0.0, window
    while (tail := tail + chance(count, window, 2**-h)) <= 2**-bits:
        count -= 1
    return 1 + count


@pytest.mark.parametrize(("h", "cutoff"), [(1, 21), (0.5, 41), (8, 4)])
def test_cutoffs_of_repetition_count(h, cutoff):
    assert repetition_cutoff(h) == cutoff


@pytest.mark.parametrize(
    ("h", "window", "cutoff"),
    [(1, 1024, 589), (0.8, 1024, 664), (0.5, 1024, 793), (1, 512, 311), (2, 512, 177), (4, 512, 62), (8, 512, 13)],
)
def test_cutoffs_of_adaptive_proportion(h, window, cutoff):
    assert proportion_cutoff(h, window) == cutoff


def test_the_device_has_the_cutoffs_of_what_its_samples_claim():
    assert (repetition_cutoff(8, DEVICE), proportion_cutoff(1, WINDOW, DEVICE)) == (hal._REPEATS, hal._PROPORTION)
    assert (hal._WINDOW, hal._START) == (WINDOW, 1024)
    assert bytes(n.bit_count() for n in range(16)) == hal._ONES


# -- the alarm


@pytest.mark.parametrize("cutoff", [21, 41, 6])
def test_repetition_count_alarms_at_its_cutoff(cutoff):
    assert first_alarm(RepetitionCount(cutoff), [7] * (cutoff - 1) + [8]) is None
    assert first_alarm(RepetitionCount(cutoff), [1, 2] + [7] * cutoff) == cutoff + 2


def packed(bits: list[int]) -> bytes:
    """Bits as bytes, lowest first."""
    return bytes(sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8))


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("cutoff", [589, 625, 793])
def test_adaptive_proportion_alarms_at_its_cutoff(cutoff, first):
    rest = WINDOW - cutoff
    below = [first] * (cutoff - 1) + [1 - first] * (rest + 1)
    assert first_alarm(AdaptiveProportion(cutoff), packed(below)) is None
    late = [first] + [1 - first] * rest + [first] * (cutoff - 1)
    assert first_alarm(AdaptiveProportion(cutoff), packed(late)) == WINDOW // 8
    early = [first] * cutoff + [1 - first] * rest
    assert first_alarm(AdaptiveProportion(cutoff), packed(early)) == ceil(cutoff / 8)


def test_adaptive_proportion_starts_again_with_each_window():
    window = [1] * 588 + [0] * 436
    assert first_alarm(AdaptiveProportion(589), packed(window * 3)) is None


def alarm_bit_by_bit(bits: list[int], cutoff: int) -> int | None:
    """4.4.2 as it is written, for binary samples: number of the bit that raises the alarm."""
    for start in range(0, len(bits), WINDOW):
        window, count = bits[start : start + WINDOW], 0
        for at, bit in enumerate(window, 1):
            count += bit == window[0]
            if count >= cutoff:
                return start + at
    return None


@pytest.mark.parametrize("ones", [0.45, 0.5, 0.55, 0.58])
def test_bytes_are_counted_as_their_bits_would_be(ones):
    random = Random(20)
    for _ in range(20):
        bits = [int(random.random() < ones) for _ in range(4 * WINDOW)]
        expected = alarm_bit_by_bit(bits, 560)
        found = first_alarm(AdaptiveProportion(560), packed(bits))
        assert found == (None if expected is None else ceil(expected / 8))


# -- the source


class Source:
    """Good samples, and from `bad_from` on one byte again and again; counts what it gave."""

    def __init__(self, bad_from: int | None = None) -> None:
        self.random, self.bad_from, self.given = Random(90), bad_from, 0

    def __call__(self, n: int) -> bytes:
        data = bytearray(self.random.randbytes(n))
        for at in range(n):
            if self.bad_from is not None and self.given + at >= self.bad_from:
                data[at] = 0xA5
        self.given += n
        return bytes(data)


def test_a_good_source_stays_healthy():
    entropy = Entropy()
    for _ in range(20):
        entropy.read(256)
    assert entropy.healthy


def test_the_first_1024_samples_are_tested_and_given_to_nobody():
    source = Source()
    entropy = Entropy("counted", source)
    assert source.given == 0
    first = entropy.read(8)
    assert (source.given, entropy.healthy) == (1032, True)
    assert first == Random(90).randbytes(1024 + 8)[1024:]
    entropy.start()
    entropy.read(8)
    assert source.given == 1040


@pytest.mark.parametrize(("bad_from", "healthy"), [(0, False), (1018, False), (1019, True)])
def test_start_up_finds_what_is_wrong_within_its_samples(bad_from, healthy):
    entropy = Entropy("stuck", Source(bad_from))
    entropy.start()
    assert entropy.healthy is healthy


def test_the_tests_go_on_after_start_up_across_reads():
    entropy = Entropy("stuck later", Source(1034))
    entropy.read(15)
    assert entropy.healthy
    entropy.read(1)
    assert not entropy.healthy


@pytest.mark.parametrize("source", [lambda n: bytes(n), lambda n: b"\x55\x77" * (n // 2)], ids=["stuck", "biased"])
def test_an_alarm_stays(source):
    entropy = Entropy("bad", source)
    entropy.read(512)
    assert not entropy.healthy
    entropy.source = lambda n: bytes(range(n))
    entropy.read(64)
    assert not entropy.healthy


def fails(n: int) -> bytes:
    raise OSError(5)


@pytest.mark.parametrize("source", [fails, lambda n: Random(1).randbytes(n - 1)], ids=["fails", "short"])
def test_a_source_that_gives_nothing_or_too_little_is_none(source):
    entropy = Entropy("none", source)
    entropy.read(8)
    assert not entropy.healthy

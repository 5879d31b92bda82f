"""Health tests of SP 800-90B, 4.4: the alarm comes exactly at the cut-off."""

import pytest
from hal.entropy import AdaptiveProportion, Entropy, RepetitionCount


def first_alarm(test, samples) -> int | None:
    return next((n for n, sample in enumerate(samples, 1) if not test.feed(sample)), None)


@pytest.mark.parametrize("cutoff", [21, 41, 4])
def test_repetition_count_alarms_at_its_cutoff(cutoff):
    assert first_alarm(RepetitionCount(cutoff), [7] * (cutoff - 1) + [8]) is None
    assert first_alarm(RepetitionCount(cutoff), [1, 2] + [7] * cutoff) == cutoff + 2


@pytest.mark.parametrize("cutoff", [589, 664, 793])
def test_adaptive_proportion_alarms_at_its_cutoff(cutoff):
    rest = 1024 - cutoff
    assert first_alarm(AdaptiveProportion(cutoff), [1] * cutoff) == cutoff
    assert first_alarm(AdaptiveProportion(cutoff), [1] * (cutoff - 1) + [0] * (rest + 1)) is None


def test_adaptive_proportion_starts_again_with_each_window():
    window = [1] * 588 + [0] * 436
    assert first_alarm(AdaptiveProportion(589), window * 3) is None


def test_a_good_source_stays_healthy():
    entropy = Entropy()
    for _ in range(20):
        entropy.read(256)
    assert entropy.healthy


@pytest.mark.parametrize("source", [lambda n: bytes(n), lambda n: b"\x55\x77" * (n // 2)], ids=["stuck", "biased"])
def test_an_alarm_stays(source):
    entropy = Entropy("bad", source)
    entropy.read(512)
    assert not entropy.healthy
    entropy._source = lambda n: bytes(range(n))
    entropy.read(64)
    assert not entropy.healthy

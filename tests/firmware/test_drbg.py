"""HMAC_DRBG against NIST's vectors, and against a second one written from SP 800-90A with CPython's hmac."""

from __future__ import annotations

import pytest
from device import drbg, hmac_sha256
from device.drbg import HmacDrbg, known_answer
from drbg_reference import VECTORS, Reference
from hypothesis import given
from hypothesis import strategies as st

# -- NIST


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: row["group"])
def test_nists_vectors(row):
    made = HmacDrbg(*(bytes.fromhex(row[name]) for name in ("entropy", "nonce", "personalisation")))
    out = None
    for name, *words in row["calls"]:
        arguments = [bytes.fromhex(word) for word in words]
        out = made.generate(128, *arguments) if name == "generate" else made.reseed(*arguments)
    assert out == bytes.fromhex(row["returned"])


def test_the_known_answers_are_nists():
    by_entropy = {row["entropy"]: row for row in VECTORS}
    for entropy, nonce, _, begins in drbg._KNOWN:
        assert by_entropy[entropy]["nonce"] == nonce
        assert by_entropy[entropy]["returned"].startswith(begins)
    assert known_answer() is True


def no_second_round(self, data):
    self._mix(b"\x00", data)


def reseed_does_nothing(self, entropy, additional=b""):
    if self._v == b"\x01" * 32:
        self._update(entropy + additional)


def no_update_after_output(self, n, additional=b""):
    self._v = hmac_sha256.tag(self._key, self._v)
    return self._v[:n]


@pytest.mark.parametrize(
    ("name", "broken"),
    [("_update", no_second_round), ("reseed", reseed_does_nothing), ("generate", no_update_after_output)],
)
def test_the_known_answer_finds_a_broken_function(monkeypatch, name, broken):
    monkeypatch.setattr(HmacDrbg, name, broken)
    assert known_answer() is False


# -- a second implementation

EXTRA = st.binary(max_size=70)
ENTROPY = st.binary(min_size=32, max_size=100)
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("generate"), st.integers(0, 200), EXTRA),
        st.tuples(st.just("reseed"), ENTROPY, EXTRA),
    ),
    max_size=8,
)


@given(ENTROPY, st.binary(min_size=16, max_size=40), EXTRA, CALLS)
def test_any_calls_give_what_the_specification_gives(entropy, nonce, personalisation, calls):
    made, reference = HmacDrbg(entropy, nonce, personalisation), Reference(entropy, nonce, personalisation)
    for name, *arguments in calls:
        assert getattr(made, name)(*arguments) == getattr(reference, name)(*arguments)


# -- limits of table 2


def test_too_little_entropy_and_too_long_requests_are_refused():
    with pytest.raises(ValueError, match="entropy"):
        HmacDrbg(bytes(31), bytes(16))
    with pytest.raises(ValueError, match="nonce"):
        HmacDrbg(bytes(32), bytes(15))
    made = HmacDrbg(bytes(32), bytes(16))
    with pytest.raises(ValueError, match="entropy"):
        made.reseed(bytes(31))
    with pytest.raises(ValueError, match="request"):
        made.generate(65537)
    assert len(made.generate(65536)) == 65536

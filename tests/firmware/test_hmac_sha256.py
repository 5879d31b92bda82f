"""HMAC on the board is CPython's."""

from __future__ import annotations

import hmac

from device.hmac_sha256 import hmac_sha256, pads, tag
from hypothesis import given
from hypothesis import strategies as st


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_hmac_is_that_of_the_library(key, message):
    assert hmac_sha256(key, message) == hmac.new(key, message, "sha256").digest()


@given(st.binary(max_size=80), st.binary(max_size=80), st.binary(max_size=80))
def test_a_message_in_two_parts_is_one_message(key, message, rest):
    padded = pads(key)
    assert tag(padded, message, rest) == hmac.new(key, message + rest, "sha256").digest()

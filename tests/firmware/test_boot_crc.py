"""The boot block's CRC-16/KERMIT against the definition's check value and against crcmod."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from kermit import crc16

SOURCE = Path(__file__).parents[2] / "firmware" / "boot" / "crc.py"
SPEC = importlib.util.spec_from_file_location("boot_crc", SOURCE)
ours = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(ours)


def test_the_check_value_is_that_of_the_definition():
    assert ours.crc16(b"123456789") == 0x2189


@given(st.binary(), st.binary())
def test_any_bytes_in_any_pieces_have_the_crc_that_crcmod_gives(a, b):
    assert ours.crc16(b, ours.crc16(a)) == crc16(a + b)

"""Frames whose CRC is half right: they tell a whole comparison from one of a single byte."""

from __future__ import annotations

import crcmod.predefined  # type: ignore[import-untyped]

_crc = crcmod.predefined.mkCrcFun("kermit")
EXAMPLES = 2


def with_crc(body: bytes) -> bytes:
    """`body` and its CRC-16/KERMIT, low byte first."""
    return bytes(body + _crc(body).to_bytes(2, "little"))


def half_right(frame: bytes) -> list[bytes]:
    """The frame with wrong CRCs: one byte right, the sum over the whole frame wrong in one byte only, none at all."""
    body, right = frame[:-2], frame[-2:]
    simple = [bytes([right[0], right[1] ^ 0xFF]), bytes([right[0] ^ 0xFF, right[1]]), right[::-1], b"\0\0", b"\xff\xff"]
    return [body + crc for crc in (*simple, *_in_one_byte(body, 0x00FF), *_in_one_byte(body, 0xFF00)) if crc != right]


def _in_one_byte(body: bytes, mask: int) -> list[bytes]:
    """CRCs for which the sum over frame and CRC, zero for a good one, is zero within `mask` only."""
    found: list[bytes] = []
    for number in range(1, 0x10000):
        crc = number.to_bytes(2, "little")
        rest = _crc(body + crc)
        if rest and not rest & mask:
            found.append(crc)
        if len(found) == EXAMPLES:
            break
    return found

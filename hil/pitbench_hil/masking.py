"""Voucher numbers are masked in everything that the bench keeps (N.J.A.C. 13:69E-1.40(l)).

Masking keeps the length, so that a frame can still be read. What looks like a number is masked: the bench needn't be
told which numbers are secret.
"""

from __future__ import annotations

import re
from typing import Any

from pitbench.masking import mask_number, mask_wire

# In text a number has at least twelve digits in a row: a shorter run may be part of a digest.
_TOKEN = re.compile(r"[0-9A-Za-z]+")
_IN_TEXT = re.compile(r"[0-9]{12,}")
_DIGEST = re.compile(r"(?=.*[a-f])[0-9a-f]{32,}")
# The same digits written as hex of their ASCII codes, with or without spaces.
_AS_HEX = re.compile(r"(?:\b|(?<=[ :]))(?:3[0-9][ :]?){12,}")


def mask_text(text: str) -> str:
    """The text with every number of twelve digits or more masked; hex digests stay."""
    text = _AS_HEX.sub(_mask_hex, text)
    if not _IN_TEXT.search(text):
        return text
    return _TOKEN.sub(lambda match: match[0] if _DIGEST.fullmatch(match[0]) else _mask_token(match[0]), text)


def mask_value(value: Any) -> Any:
    """Plain data with every string in it masked, keys too; so are whole numbers of twelve digits or more."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, bytes | bytearray):
        return mask_wire(bytes(value))
    if isinstance(value, dict):
        return {mask_value(key): mask_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [mask_value(item) for item in value]
    is_long = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**11
    return mask_text(str(value)) if is_long else value


def _mask_token(token: str) -> str:
    return _IN_TEXT.sub(lambda match: mask_number(match[0]), token)


def _mask_hex(match: re.Match[str]) -> str:
    """Hide all but the last four of a run of hex-coded digits, in hex as well."""
    pairs = re.findall(r"3[0-9]", match[0])
    hidden = iter(["2a"] * (len(pairs) - 4) + pairs[-4:])
    return re.sub(r"3[0-9]", lambda _: next(hidden), match[0])

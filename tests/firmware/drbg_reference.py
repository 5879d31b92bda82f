"""HMAC_DRBG once more, from the specification, and the draws that follow from it; NIST's vectors for both."""

from __future__ import annotations

import hmac
import json
from pathlib import Path

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "hmac_drbg.json").read_text("utf-8"))["vectors"]


class Reference:
    """SP 800-90A Rev. 1, 10.1.2.2 to 10.1.2.5, step by step."""

    def __init__(self, entropy: bytes, nonce: bytes, personalisation: bytes) -> None:
        self.key, self.v = b"\x00" * 32, b"\x01" * 32
        self.update(entropy + nonce + personalisation)

    def hmac(self, data: bytes) -> bytes:
        return hmac.new(self.key, data, "sha256").digest()

    def update(self, provided: bytes) -> None:
        for separator in (b"\x00", b"\x01") if provided else (b"\x00",):
            self.key = self.hmac(self.v + separator + provided)
            self.v = self.hmac(self.v)

    def reseed(self, entropy: bytes, additional: bytes) -> None:
        self.update(entropy + additional)

    def generate(self, n: int, additional: bytes) -> bytes:
        if additional:
            self.update(additional)
        temp = b""
        while len(temp) < n:
            self.v = self.hmac(self.v)
            temp += self.v
        self.update(additional)
        return temp[:n]

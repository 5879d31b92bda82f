# HMAC_DRBG with SHA-256 at 256 bits of strength: SP 800-90A Rev. 1, 10.1.2.
from binascii import unhexlify

from device.hmac_sha256 import pads, tag
from micropython import const

_BYTES = const(32)  # of a digest, and of the strength
_NONCE = const(16)  # 8.6.7: half the strength
_REQUEST = const(65536)  # table 2: 2^19 bits


class HmacDrbg:
    def __init__(self, entropy, nonce, personalisation=b""):
        if len(nonce) < _NONCE:
            raise ValueError("nonce")
        self._key = pads(bytes(_BYTES))
        self._v = b"\x01" * _BYTES
        self.reseed(entropy, nonce + personalisation)

    # Table 2 wants one in 2^48 requests: they aren't counted, a thousand a second for 8,900 years.
    def reseed(self, entropy, additional=b""):
        if len(entropy) < _BYTES:
            raise ValueError("entropy")
        self._update(entropy + additional)

    def generate(self, n, additional=b""):
        if n > _REQUEST:
            raise ValueError("request")
        if additional:
            self._update(additional)
        out = bytearray(n)
        for at in range(0, n, _BYTES):
            self._v = v = tag(self._key, self._v)
            out[at : at + _BYTES] = v if n - at >= _BYTES else v[: n - at]
        self._update(additional)
        return out

    # 10.1.2.2
    def _update(self, data):
        self._mix(b"\x00", data)
        if data:
            self._mix(b"\x01", data)

    def _mix(self, separator, data):
        self._key = pads(tag(self._key, self._v + separator, data))
        self._v = tag(self._key, self._v)


# NIST CAVP, HMAC_DRBG.rsp, SHA-256, count 0, without and with a reseed: entropy, nonce, reseed, and the first 16 of
# the 128 bytes that the second request gives.
_KNOWN = (
    (
        "ca851911349384bffe89de1cbdc46e6831e44d34a4fb935ee285dd14b71a7488",
        "659ba96c601dc69fc902940805ec0ca8",
        "",
        "e528e9abf2dece54d47c7e75e5fe3021",
    ),
    (
        "06032cd5eed33f39265f49ecb142c511da9aff2af71203bffaf34a9ca5bd9c0d",
        "0e66f71edc43e42a45ad3c6fc6cdc4df",
        "01920a4e669ed3a85ae8a33b35a74ad7fb2a6bb4cf395ce00334a9c9a5a5d552",
        "76fc79fe9b50beccc991a11b5635783a",
    ),
)


# 11.3: every function is tested before it is used, at each start.
def known_answer():
    for row in _KNOWN:
        entropy, nonce, reseed, expected = [unhexlify(text) for text in row]
        drbg = HmacDrbg(entropy, nonce)
        if reseed:
            drbg.reseed(reseed)
        drbg.generate(128)
        if drbg.generate(128)[:16] != expected:
            return False
    return True

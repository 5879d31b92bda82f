# Authenticated requests: challenge and response over the link. A secret is
# set at commissioning, none by default; a nonce serves once.
from binascii import hexlify, unhexlify

from device.hmac_sha256 import hmac_sha256


def same(a, b):
    difference = len(a) ^ len(b)
    for x, y in zip(a, b):
        difference |= x ^ y
    return difference == 0


class Access:
    # secrets: {role: hex}, kept in the record. random(n): bytes from hal.
    def __init__(self, secrets, random):
        self.secrets = secrets
        self.random = random
        self.nonce = None

    def challenge(self):
        self.nonce = hexlify(self.random(8)).decode()
        return self.nonce

    # The proof covers the nonce and what is asked, so that neither can be
    # replayed nor bent to another request.
    def proven(self, role, asked, proof):
        nonce, self.nonce = self.nonce, None
        secret = self.secrets.get(role)
        if not nonce or not secret:
            return False
        expected = hmac_sha256(unhexlify(secret), ("%s|%s|%s" % (nonce, role, asked)).encode())
        return same(hexlify(expected), proof.encode())

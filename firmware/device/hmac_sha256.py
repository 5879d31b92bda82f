# HMAC (FIPS 198-1), by SHA-256 where no other hash is named.
import hashlib

_BLOCK = 64
# As integers: one exclusive or in place of 64.
_INNER = int.from_bytes(b"\x36" * _BLOCK, "big")
_OUTER = int.from_bytes(b"\x5c" * _BLOCK, "big")


# What a key needs once, however many messages follow. A hash can't be copied here, so it isn't the state behind them.
def pads(key, new=hashlib.sha256):
    if len(key) > _BLOCK:
        key = new(key).digest()
    n = int.from_bytes(key + bytes(_BLOCK - len(key)), "big")
    return (n ^ _INNER).to_bytes(_BLOCK, "big"), (n ^ _OUTER).to_bytes(_BLOCK, "big")


# The message comes in two parts, so that nobody has to join them.
def tag(padded, message, rest=b""):
    inner = hashlib.sha256(padded[0])
    inner.update(message)
    inner.update(rest)
    outer = hashlib.sha256(padded[1])
    outer.update(inner.digest())
    return outer.digest()


def hmac_sha256(key, message):
    return tag(pads(key), message)

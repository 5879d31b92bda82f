"""The boot block's RSA against the cryptography package: what it signs is taken, and no other block ever is."""

from __future__ import annotations

import hashlib
import random

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, SHA512
from pitbench.signing import is_signed, signing_key
from verifier import Verifier

SIZE = 256
# RFC 8017, 9.2, note 1.
SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")
SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")
# The same without the NULL parameters, which some verifiers take.
NO_NULL_INFO = bytes.fromhex("302f300b0609608648016503040201" + "0420")
TEXT = b"what was signed"
HASH = hashlib.sha256(TEXT).digest()


@pytest.fixture(scope="module")
def private() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory):
    return Verifier(tmp_path_factory.mktemp("root"), signing_key()).authority


def modulus(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_numbers().n.to_bytes(SIZE, "big")


def raw(key: rsa.RSAPrivateKey, block: bytes) -> bytes:
    """A block as it is, raised with the private exponent: what a careless or evil signer would make."""
    numbers = key.private_numbers()
    return pow(int.from_bytes(block, "big"), numbers.d, numbers.public_numbers.n).to_bytes(SIZE, "big")


def padded(tail: bytes, *, kind: int = 1, fill: bytes = b"\xff") -> bytes:
    return bytes([0, kind]) + fill * (SIZE - 3 - len(tail)) + b"\0" + tail


def test_signatures_of_many_random_messages_fit_and_fit_nothing_else(authority, private):
    rng = random.Random(2048)
    before = b"\0" * 32
    for _ in range(150):
        text = rng.randbytes(rng.randrange(500))
        signature = private.sign(text, PKCS1v15(), SHA256())
        digest = hashlib.sha256(text).digest()
        assert authority.fits(digest, signature, modulus(private))
        assert is_signed(text, signature, modulus(private))
        assert not authority.fits(before, signature, modulus(private))
        wrong = bytearray(signature)
        wrong[rng.randrange(SIZE)] ^= 1 << rng.randrange(8)
        assert not authority.fits(digest, bytes(wrong), modulus(private))
        before = digest


def test_our_own_signature_fits(authority):
    key = signing_key()
    assert authority.fits(HASH, key.sign(TEXT), key.modulus)
    assert key.sign(TEXT) == key.sign(TEXT)


def test_the_block_is_that_of_the_standard(authority, private):
    assert authority.fits(HASH, raw(private, padded(SHA256_INFO + HASH)), modulus(private))


def garbage_behind(length: int) -> bytes:
    """Bleichenbacher's forgery of 2006: short padding, the hash, then whatever makes it a perfect power."""
    head = b"\0\1" + b"\xff" * 8 + b"\0" + SHA256_INFO + HASH
    return head + bytes(SIZE - len(head) - length) + b"\x55" * length


BLOCKS = {
    "encryption padding": padded(SHA256_INFO + HASH, kind=2),
    "padding of type 0": padded(SHA256_INFO + HASH, kind=0, fill=b"\0"),
    "padding of zeros": padded(SHA256_INFO + HASH, fill=b"\0"),
    "padding of FE": padded(SHA256_INFO + HASH, fill=b"\xfe"),
    "one byte of the padding": padded(SHA256_INFO + HASH).replace(b"\xff", b"\xfe", 1),
    "garbage behind the hash": garbage_behind(64),
    "zeros behind the hash": garbage_behind(0),
    "no algorithm": padded(HASH),
    "algorithm without NULL": padded(NO_NULL_INFO + HASH),
    "SHA-1's name": padded(SHA1_INFO + HASH),
    "SHA-1": padded(SHA1_INFO + hashlib.sha1(TEXT).digest()),
    "hash cut": padded(SHA256_INFO + HASH[:-1]),
    "hash of another": padded(SHA256_INFO + hashlib.sha256(b"another").digest()),
    "no separator": b"\0\1" + b"\xff" * (SIZE - 2 - len(SHA256_INFO) - 32) + SHA256_INFO + HASH,
    "first byte 1": b"\1" + padded(SHA256_INFO + HASH)[1:],
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
def test_other_blocks_are_refused_though_the_key_made_them(authority, private, block):
    assert not authority.fits(HASH, raw(private, block), modulus(private))


def test_other_paddings_and_hashes_of_the_same_key_are_refused(authority, private):
    for padding, algorithm in ((PSS(MGF1(SHA256()), 32), SHA256()), (PKCS1v15(), SHA1()), (PKCS1v15(), SHA512())):
        assert not authority.fits(HASH, private.sign(TEXT, padding, algorithm), modulus(private))


def test_numbers_at_the_edges_are_refused(authority, private):
    n = int.from_bytes(modulus(private), "big")
    good = int.from_bytes(private.sign(TEXT, PKCS1v15(), SHA256()), "big")
    for number in (0, 1, n - 1, n, n + 1, 2**2048 - 1):
        assert not authority.fits(HASH, number.to_bytes(SIZE, "big"), modulus(private))
    assert not authority.fits(HASH, good.to_bytes(SIZE + 1, "big"), modulus(private))
    assert not authority.fits(HASH, b"", modulus(private))


def test_only_one_writing_of_a_signature_is_taken(authority, private):
    """The same number modulo n, in as many bytes: the check itself would find it right."""
    n, tried = int.from_bytes(modulus(private), "big"), 0
    while True:
        text, tried = b"%d" % tried, tried + 1
        signature = private.sign(text, PKCS1v15(), SHA256())
        again = int.from_bytes(signature, "big") + n
        if again < 2**2048:
            break
    digest = hashlib.sha256(text).digest()
    assert authority.fits(digest, signature, modulus(private))
    assert not authority.fits(digest, again.to_bytes(SIZE, "big"), modulus(private))


def test_a_micropython_without_three_argument_pow_says_so(authority, monkeypatch, tmp_path):
    def pow_of_two(base: int, exponent: int) -> int:
        raise AssertionError

    checker = Verifier(tmp_path, signing_key())
    (tmp_path / "image").mkdir()
    (tmp_path / "image" / "manifest").write_bytes(TEXT)
    (tmp_path / "image" / "manifest.sig").write_bytes(signing_key().sign(TEXT))
    assert len(checker.authority.trust()) == 32
    monkeypatch.setitem(vars(checker.authority), "pow", pow_of_two)
    with pytest.raises(checker.verify.Refused, match="lacks pow with three arguments"):
        checker.authority.trust()

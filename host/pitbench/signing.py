"""The key that signs an image's manifest: RSA-2048, PKCS#1 v1.5 with SHA-256.

PKCS#1 v1.5 and not PSS: the signed block is one fixed string of bytes, so that a board rebuilds it and compares it
whole (nothing in it is parsed, no padding can hide anything), and signing needs no random number, so that one revision
and one key give the same bytes again. The private key stays on the PC; the boot block has the modulus.
"""

from __future__ import annotations

import argparse
import hashlib
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pitbench.image_error import ImageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

TEST_KEY = Path(__file__).parent / "keys" / "test_key.pem"
ENVIRONMENT = "PITBENCH_SIGNING_KEY"
TEST_NAME = "test key"
BITS = 2048
EXPONENT = 65537
_NAME_MAX = 24
_MAKE_ONE = "Make one with `openssl genrsa -out key.pem 2048`."


@dataclass(frozen=True)
class SigningKey:
    """A private key and what the boot block gets of it.

    Args:
        name: "test key" for the published one, else the name of its file.
        modulus: 256 bytes, big-endian.
    """

    name: str
    modulus: bytes
    _private: RSAPrivateKey

    @property
    def fingerprint(self) -> str:
        """The first 16 hex digits of the modulus' SHA-256."""
        return fingerprint(self.modulus)

    @property
    def label(self) -> str:
        """Fingerprint and name, as a board's identity gives them."""
        return f"{self.fingerprint} {self.name}"

    def sign(self, text: bytes) -> bytes:
        """The signature of a text, 256 bytes."""
        # Late: whoever signs nothing doesn't wait for the library.
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        return self._private.sign(text, PKCS1v15(), SHA256())

    def secret_numbers(self) -> dict[str, int]:
        """What nobody else may know, by its name in RFC 8017: for who searches for it where it mustn't be."""
        private = self._private.private_numbers()
        factors = {"d": private.d, "p": private.p, "q": private.q}
        return factors | {"dP": private.dmp1, "dQ": private.dmq1, "qInv": private.iqmp}


def fingerprint(modulus: bytes) -> str:
    """The first 16 hex digits of a modulus' SHA-256."""
    return hashlib.sha256(modulus).hexdigest()[:16]


def signing_key(path: Path | None = None) -> SigningKey:
    """Return the key of a PEM file: `path`, else the one that $PITBENCH_SIGNING_KEY names, else the test key.

    Raises ImageError for a file that can't be read, or holds no RSA key of 2,048 bits.
    """
    return _loaded(Path(path or os.environ.get(ENVIRONMENT) or TEST_KEY))


def add_signing_key(parser: argparse.ArgumentParser) -> None:
    """The option --signing-key of a command that builds an image."""
    parser.add_argument(
        "--signing-key",
        type=Path,
        metavar="KEY.pem",
        help=f"RSA-{BITS} private key that signs the image (default: ${ENVIRONMENT}, else the published test key)",
    )


def is_signed(text: bytes, signature: bytes, modulus: bytes) -> bool:
    """Whether a signature is that of the key with this modulus over the text; asked of the cryptography package."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
    from cryptography.hazmat.primitives.hashes import SHA256

    public = RSAPublicNumbers(EXPONENT, int.from_bytes(modulus, "big")).public_key()
    try:
        public.verify(signature, text, PKCS1v15(), SHA256())
    except InvalidSignature:
        return False
    return True


def _loaded(path: Path) -> SigningKey:
    try:
        return _parsed(path.read_bytes(), path.stem)
    except OSError as error:
        raise ImageError(f"The signing key {path} can't be read ({error.strerror}).", _MAKE_ONE) from error
    except ValueError as error:
        raise ImageError(f"The signing key {path} won't do: {error}.", _MAKE_ONE) from error


# A process builds many images; to parse and prove a key takes 50 ms.
@lru_cache
def _parsed(pem: bytes, name: str) -> SigningKey:
    private = _private(pem)
    numbers = private.public_key().public_numbers()
    if private.key_size != BITS or numbers.e != EXPONENT:
        raise ValueError(f"it has {private.key_size} bits and exponent {numbers.e}, not {BITS} and {EXPONENT}")
    test = _private(TEST_KEY.read_bytes()).public_key().public_numbers()
    return SigningKey(TEST_NAME if numbers == test else _plain(name), numbers.n.to_bytes(BITS // 8, "big"), private)


@lru_cache
def _private(pem: bytes) -> RSAPrivateKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(pem, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise ValueError("it is no private key in PEM without a password") from error
    if not isinstance(private, RSAPrivateKey):
        raise ValueError("it is no RSA key")
    return private


def _plain(name: str) -> str:
    """A file's name as the link can print it; never the test key's."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
    return plain[:_NAME_MAX] or "key"

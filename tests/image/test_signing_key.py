"""The key that signs an image: the published one, or one's own; never in an image; the same bytes with the same key."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from pitbench.board_facts import board_names
from pitbench.cli import main
from pitbench.image import build_image
from pitbench.image_error import ImageError
from pitbench.manifest import manifest_faults, resealed
from pitbench.signature import MANIFEST_FILE, SEALS, SIGNATURE_FILE
from pitbench.signing import ENVIRONMENT, TEST_KEY, signing_key


def written(key: RSAPrivateKey | ec.EllipticCurvePrivateKey, path: Path, password: bytes | None = None) -> Path:
    how = BestAvailableEncryption(password) if password else NoEncryption()
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how))
    return path


@pytest.fixture(scope="module")
def vendors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(rsa.generate_private_key(65537, 2048), tmp_path_factory.mktemp("keys") / "acme 2026.pem")


def build(folder: Path, **more: object):
    return build_image("bill-acceptor", "release", folder, **more)


def test_the_default_is_the_published_key_and_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    key = signing_key()
    assert key.label == f"{key.fingerprint} test key"
    image = build(tmp_path)
    assert image.key == key.label
    assert b"test key" in image.files["/boot/key.mpy"]
    assert "TEST" in TEST_KEY.read_text().splitlines()[0]


def test_the_test_key_is_called_so_under_any_other_name(tmp_path):
    copy = tmp_path / "acme.pem"
    copy.write_bytes(TEST_KEY.read_bytes()[TEST_KEY.read_bytes().index(b"-----") :])
    assert signing_key(copy).name == "test key"


def test_a_key_called_test_key_is_not_the_test_key(tmp_path):
    other = signing_key(written(rsa.generate_private_key(65537, 2048), tmp_path / "test key.pem"))
    assert other.name == "test_key"
    assert other.fingerprint != signing_key(TEST_KEY).fingerprint


@pytest.mark.parametrize("own", [False, True])
def test_the_same_revision_and_key_are_the_same_bytes(tmp_path, vendors, own):
    key = signing_key(vendors if own else None)
    first, second = build(tmp_path / "one", key=key), build(tmp_path / "other", key=key)
    assert first.files == second.files
    assert manifest_faults(first.files, key.modulus) == []


def test_another_key_changes_seals_and_boot_block_alone(tmp_path, vendors):
    test, own = build(tmp_path / "one"), build(tmp_path / "other", key=signing_key(vendors))
    differ = {path for path in test.files if test.files[path] != own.files[path]}
    assert differ == {MANIFEST_FILE, SIGNATURE_FILE, "/boot/key.mpy"}
    assert test.crc == own.crc
    assert test.digest != own.digest
    assert own.key == f"{signing_key(vendors).fingerprint} acme_2026"


def test_the_environment_names_a_key_and_an_option_goes_before_it(tmp_path, vendors, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(vendors))
    assert build(tmp_path / "one").key == signing_key(vendors).label
    assert signing_key(TEST_KEY).name == "test key"


def test_the_command_takes_a_key_and_prints_its_fingerprint(tmp_path, vendors, capsys):
    assert main(["image", "bill-acceptor", "--signing-key", str(vendors), "--out", str(tmp_path / "image")]) == 0
    assert f"key       {signing_key(vendors).label}\n" in capsys.readouterr().out


def secrets_of(pem: bytes) -> list[bytes]:
    key = load_pem_private_key(pem, None)
    assert isinstance(key, RSAPrivateKey)
    numbers = key.private_numbers()
    return [n.to_bytes((n.bit_length() + 7) // 8, "big") for n in (numbers.p, numbers.q, numbers.d, numbers.dmp1)]


@pytest.mark.parametrize("board", board_names())
def test_the_private_key_is_in_no_file_that_goes_to_a_board(tmp_path, board):
    files = build(tmp_path, board=board).files
    content = b"".join(files.values())
    for secret in secrets_of(TEST_KEY.read_bytes()):
        for form in (secret, secret[::-1], secret.hex().encode(), str(int.from_bytes(secret, "big")).encode()):
            assert form[:24] not in content
    assert b"PRIVATE KEY" not in content
    assert signing_key().modulus in files["/boot/key.mpy"]


def unusable(folder: Path, what: str) -> Path:
    path = folder / "key.pem"
    if what == "a public key":
        path.write_text("-----BEGIN PUBLIC KEY-----\nMA==\n-----END PUBLIC KEY-----\n")
    elif what == "noise":
        path.write_bytes(b"\xff\x00 no key")
    elif what == "an elliptic curve":
        written(ec.generate_private_key(ec.SECP256R1()), path)
    elif what == "3,072 bits":
        written(rsa.generate_private_key(65537, 3072), path)
    elif what == "exponent 3":
        written(rsa.generate_private_key(3, 2048), path)
    elif what == "a password":
        written(rsa.generate_private_key(65537, 2048), path, b"secret")
    return path


@pytest.mark.parametrize(
    "what", ["missing", "a public key", "noise", "an elliptic curve", "3,072 bits", "exponent 3", "a password"]
)
def test_a_key_that_will_not_do_is_said_in_a_sentence(tmp_path, what):
    with pytest.raises(ImageError, match=r"The signing key .*key.pem (can't be read|won't do)"):
        signing_key(unusable(tmp_path, what))


def test_a_bench_without_the_key_cannot_seal(tmp_path, vendors):
    image = build(tmp_path, key=signing_key(vendors))
    with pytest.raises(ImageError, match="this bench has .* test key"):
        resealed(image.files, image.files, signing_key(TEST_KEY))
    again = resealed(image.files, image.files, signing_key(vendors))
    assert {path: again[path] for path in SEALS} == {path: image.files[path] for path in SEALS}

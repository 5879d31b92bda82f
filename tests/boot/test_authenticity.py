"""Nothing of an image that its key's holder didn't sign is used: the boot block's verifier, on CPython."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pitbench.image import Image, build_image, install
from pitbench.manifest import manifest_faults, manifest_text, read_head, resealed
from pitbench.signature import CRC_FILE, MANIFEST_FILE, SEALS, SIGNATURE_FILE, image_crc
from pitbench.signing import SigningKey, signing_key
from verifier import Verifier


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image("bill-acceptor", "bench", tmp_path_factory.mktemp("sound"))


@pytest.fixture(scope="module")
def other_key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return signing_key(written(rsa.generate_private_key(65537, 2048), tmp_path_factory.mktemp("key") / "vendor.pem"))


def written(key: rsa.RSAPrivateKey, path: Path) -> Path:
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return path


@pytest.fixture
def board(sound: Image, tmp_path: Path) -> Verifier:
    install(sound, tmp_path / "board")
    return Verifier(tmp_path / "board", signing_key())


def put(board: Verifier, files: dict[str, bytes]) -> None:
    """The image on the board is these files from now on."""
    for path in (board.root / "image").rglob("*"):
        if path.is_file():
            path.unlink()
    for path, data in files.items():
        place = board.root / path[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def with_fitting_crc(files: dict[str, bytes]) -> dict[str, bytes]:
    """What somebody without the key can do: the CRC fits the altered files."""
    return {**files, CRC_FILE: image_crc(files).to_bytes(2, "big")}


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :]


# -- at the start


def test_a_sound_image_is_authentic(board, sound):
    boot = board.start()
    assert (boot.ok, boot.why, boot.doubt) == (True, "", "")
    assert boot.key == sound.key == f"{signing_key().fingerprint} test key"
    assert (boot.image_version, boot.image_digest) == (1, sound.digest)
    assert (board.root / "data" / "version").read_text() == "1\n"


def test_one_changed_byte_in_each_file_in_turn_is_found_and_named(board, sound):
    trusted = board.start().trusted
    for number, (path, data) in enumerate(sound.image_files.items()):
        place = board.root / path[1:]
        place.write_bytes(flipped(data, number * 37 % len(data)))
        ok, why = board.run(trusted)
        named = MANIFEST_FILE if path == SIGNATURE_FILE else path
        assert (ok, why) == (False, f"altered file {named}")
        boot = board.start()
        assert boot.doubt or not boot.ok
        place.write_bytes(data)
    assert board.run(trusted) == (True, "")
    assert board.start().doubt == ""


@pytest.mark.parametrize("path", ["/image/device/log.mpy", "/image/main.mpy", "/image/bench/faults.mpy"])
def test_a_crc_that_was_made_to_fit_hides_nothing(board, sound, path):
    put(board, with_fitting_crc({**sound.image_files, path: flipped(sound.files[path], 20)}))
    boot = board.start()
    assert boot.ok
    assert boot.doubt == f"altered file {path}"


def test_an_embedded_crc_that_was_altered_is_named_where_no_other_file_was(board, sound):
    put(board, {**sound.image_files, CRC_FILE: flipped(sound.files[CRC_FILE], 0)})
    assert board.start().doubt == f"altered file {CRC_FILE}"


def altered(files: dict[str, bytes], how: str) -> dict[str, bytes]:
    path = "/image/device/log.mpy"
    rest = {name: data for name, data in files.items() if name != path}
    return {
        "missing": rest,
        "stray": {**files, "/image/device/json.py": b"x"},
        "stray at the end": {**files, "/image/zz": b"x"},
        "renamed": {**rest, "/image/device/logs.mpy": files[path]},
        "swapped": {**files, path: files["/image/main.mpy"], "/image/main.mpy": files[path]},
        "longer": {**files, path: files[path] + b"\0"},
        "empty": {**files, path: b""},
    }[how]


CHANGES = ["missing", "stray", "stray at the end", "renamed", "swapped", "longer", "empty"]


@pytest.mark.parametrize("how", CHANGES)
def test_files_that_the_manifest_does_not_list_so_are_refused_with_a_crc_that_fits(board, sound, how):
    put(board, with_fitting_crc(altered(sound.image_files, how)))
    boot = board.start()
    assert boot.ok
    assert boot.doubt.split(" file ")[0] in ("missing", "extra", "altered")


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("missing", "missing file /image/device/log.mpy"),
        ("stray", "extra file /image/device/json.py"),
        ("stray at the end", "extra file /image/zz"),
        ("renamed", "missing file /image/device/log.mpy"),
        ("swapped", "altered file /image/device/log.mpy"),
    ],
)
def test_the_reason_names_the_first_file_that_is_wrong(board, sound, how, says):
    trusted = board.start().trusted
    put(board, altered(sound.image_files, how))
    assert board.run(trusted) == (False, says)


@pytest.mark.parametrize("how", ["missing", "stray", "renamed", "swapped", "longer", "empty"])
def test_what_the_keys_holder_sealed_is_refused_by_its_crc_alone(board, sound, how):
    put(board, resealed(altered(sound.image_files, how), sound.files, signing_key()))
    boot = board.start()
    assert not boot.ok
    assert "CRC" in boot.why


MANIFESTS: dict[str, Any] = {
    "one digit": lambda text: flipped(text, len(text) - 200),
    "version raised": lambda text: text.replace(b"version 1\n", b"version 2\n"),
    "other device": lambda text: text.replace(b"bill-acceptor", b"card-shuffler"),
    "a line less": lambda text: text[: text.rindex(b"\n", 0, -1) + 1],
    "a line more": lambda text: text + b"0" * 64 + b" 1 /image/zz\n",
    "no last newline": lambda text: text[:-1],
    "carriage returns": lambda text: text.replace(b"\n", b"\r\n"),
    "empty": lambda text: b"",
    "a megabyte": lambda text: bytes(1 << 20),
}


@pytest.mark.parametrize("change", MANIFESTS.values(), ids=MANIFESTS)
def test_an_altered_manifest_is_refused_at_the_start_and_later(board, sound, change):
    trusted = board.start().trusted
    put(board, {**sound.image_files, MANIFEST_FILE: change(sound.files[MANIFEST_FILE])})
    assert "is no signature of /image/manifest" in board.start().doubt
    assert not board.run(trusted)[0]


SIGNATURES: dict[str, Any] = {
    "one bit": lambda data: flipped(data, 100),
    "a byte less": lambda data: data[:-1],
    "a byte more": lambda data: data + b"\0",
    "a zero before it": lambda data: b"\0" + data,
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(256),
    "one": lambda data: bytes(255) + b"\1",
    "of another text": lambda data: signing_key().sign(b"another text"),
}


@pytest.mark.parametrize("change", SIGNATURES.values(), ids=SIGNATURES)
def test_an_altered_signature_is_refused_at_the_start_and_later(board, sound, change):
    trusted = board.start().trusted
    put(board, {**sound.image_files, SIGNATURE_FILE: change(sound.files[SIGNATURE_FILE])})
    assert "is no signature of /image/manifest" in board.start().doubt
    assert board.run(trusted) == (False, f"altered file {MANIFEST_FILE}")


@pytest.mark.parametrize("path", [MANIFEST_FILE, SIGNATURE_FILE])
def test_without_manifest_or_signature_nothing_is_trusted(board, sound, path):
    trusted = board.start().trusted
    put(board, {name: data for name, data in sound.image_files.items() if name != path})
    boot = board.start()
    assert boot.ok
    assert boot.doubt == "no signed manifest in /image/manifest"
    assert not board.run(trusted)[0]


def test_another_key_in_the_boot_block_refuses_the_image(board, other_key):
    boot = Verifier(board.root, other_key).start()
    assert boot.ok
    assert f"by key {other_key.label}" in boot.doubt


def test_an_image_of_another_key_is_refused(board, sound, other_key):
    text = sound.files[MANIFEST_FILE]
    put(board, {**sound.image_files, SIGNATURE_FILE: other_key.sign(text)})
    assert "is no signature" in board.start().doubt
    assert not board.run(board.start().trusted or b"")[0]


def test_a_vendors_key_and_image_together_are_authentic(other_key, tmp_path):
    built = build_image("bill-acceptor", "release", tmp_path / "image", key=other_key)
    install(built, tmp_path / "board")
    boot = Verifier(tmp_path / "board", other_key).start()
    assert (boot.ok, boot.doubt, boot.key) == (True, "", f"{other_key.fingerprint} vendor")
    assert manifest_faults(built.files, other_key.modulus) == []


def test_a_manifest_that_was_trusted_is_not_replaced_by_another_signed_one(board, sound):
    """While the application runs, RSA isn't repeated: what counts is the manifest of the start."""
    trusted = board.start().trusted
    put(board, resealed({**sound.image_files, "/image/zz": b"x"}, sound.files, signing_key()))
    ok, why = board.run(trusted)
    assert not ok
    assert why == f"altered file {MANIFEST_FILE}"


# -- before a late load


def test_a_file_that_is_loaded_late_is_read_alone(board, sound):
    trusted = board.start().trusted
    path = "/image/link/audit.mpy"
    (board.root / "image" / "main.mpy").write_bytes(b"altered")
    assert board.run(trusted, path) == (True, "")
    (board.root / path[1:]).write_bytes(flipped(sound.files[path], 9))
    assert board.run(trusted, path) == (False, f"altered file {path}")


@pytest.mark.parametrize("stray", ["/image/link/audit.py", "/image/link.py", "/image/hashlib.py", "/hashlib.py"])
def test_a_stray_file_is_found_before_a_late_load(board, stray):
    trusted = board.start().trusted
    (board.root / stray[1:]).write_bytes(b"")
    assert board.run(trusted, "/image/link/audit.mpy") == (False, f"extra file {stray}")


def test_a_check_that_has_not_ended_says_nothing_good(board):
    check = board.verify.Authenticity(board.start().trusted)
    assert check.step() is None
    assert check._result() == (False, "not checked")


# -- older versions


@pytest.fixture
def versions(tmp_path: Path) -> dict[int, Image]:
    return {
        number: build_image("bill-acceptor", "release", tmp_path / f"v{number}", product={"IMAGE_VERSION": number})
        for number in (1, 2, 10)
    }


def test_an_older_version_than_the_newest_that_ran_is_refused(versions, tmp_path):
    board = Verifier(tmp_path / "board", signing_key())
    found = []
    for number in (1, 2, 1, 2, 10, 2, 1, 10):
        install(versions[number], board.root)
        found.append(board.start().doubt)
    assert [bool(doubt) for doubt in found] == [False, False, True, False, False, True, True, False]
    assert found[5] == "version 2 of the image is older than 10, which ran here"


def test_a_refused_image_leaves_no_version_behind(versions, tmp_path):
    board = Verifier(tmp_path / "board", signing_key())
    install(versions[10], board.root)
    put(board, with_fitting_crc(altered(versions[10].image_files, "stray")))
    assert board.start().doubt
    assert not (board.root / "data" / "version").exists()
    install(versions[1], board.root)
    assert board.start().doubt == ""


def test_a_torn_version_is_that_of_a_new_board(board):
    (board.root / "data" / "version").write_text("")
    assert board.start().doubt == ""
    assert (board.root / "data" / "version").read_text() == "1\n"


# -- on the PC


def test_the_pc_finds_the_same(sound):
    modulus = signing_key().modulus
    assert manifest_faults(sound.files, modulus) == []
    assert manifest_faults(altered(sound.image_files, "missing"), modulus) == ["missing file /image/device/log.mpy"]
    assert manifest_faults(altered(sound.image_files, "longer"), modulus) == ["altered file /image/device/log.mpy"]
    assert manifest_faults(altered(sound.image_files, "stray"), modulus) == ["extra file /image/device/json.py"]
    assert "no signature" in manifest_faults({**sound.files, SIGNATURE_FILE: b""}, modulus)[0]


def test_the_manifest_lists_every_file_but_itself_and_its_signature(sound):
    listed = [line.split(" ", 2)[2] for line in sound.files[MANIFEST_FILE].decode().splitlines()[6:]]
    assert listed == sorted(sound.image_files.keys() - {MANIFEST_FILE, SIGNATURE_FILE})
    assert CRC_FILE in listed
    assert set(SEALS) - {CRC_FILE} == {MANIFEST_FILE, SIGNATURE_FILE}


def test_its_head_says_what_it_is(sound):
    head = read_head(sound.files)
    assert (head.device, head.kind, head.revision, head.version) == ("bill-acceptor", "bench", sound.revision, 1)
    assert manifest_text(sound.files, head) == sound.files[MANIFEST_FILE]
    assert manifest_text(sound.files, dataclasses.replace(head, version=2)) != sound.files[MANIFEST_FILE]

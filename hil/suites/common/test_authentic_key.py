"""1.28H(b), (c): how long the digest is, whose the signature is, where its private key is not; and older versions."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterator
from pathlib import Path

from pitbench.image import Image
from pitbench.manifest import manifest_faults, read_head, sealed
from pitbench.signing import TEST_KEY, SigningKey, fingerprint, signing_key
from pitbench.targets import open_target
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.authentic import Altered, find_all
from pitbench_hil.check import Check
from pitbench_hil.forgeries import another_key, forgeries, modulus_of, rekeyed, wrong_digits
from pitbench_hil.marks import images, rule
from pitbench_hil.run import Run

DIGITS, BITS_OF_A_DIGIT = 64, 4
# A shorter piece may stand anywhere by chance.
PIECE = 16


@rule("HOUSE-digest-128")
@images("bench", "release")
def test_every_digit_of_a_digest_is_compared(altered: Altered, check: Check, image: Image) -> None:
    # Every other digit on each kind of image: 32 of them are 128 bits, and fewer show nothing, on a slow target either.
    digits = range(image.kind == "release", DIGITS, 2)
    count = find_all(check, altered, wrong_digits(image.files, digits))
    compared = count.mutations - count.booted_on
    check.measure("bits_compared", compared * BITS_OF_A_DIGIT)
    check.measure("digits_not_compared", count.booted_on)


@rule("HOUSE-asymmetric-512")
@images("bench", "release")
def test_what_the_board_holds_verifies_and_cannot_sign(altered: Altered, check: Check, image: Image, run: Run) -> None:
    modulus = modulus_of(image.files)
    check.note("key of the boot block", fingerprint=fingerprint(modulus), verified_by="cryptography")
    check.measure("key_bits", int.from_bytes(modulus, "big").bit_length())
    faults = manifest_faults(image.image_files, modulus)
    check.expect("faults by the manifest", faults, [])
    check.measure("unverified", len(faults))
    count = find_all(check, altered, run.few(forgeries(image.files, "made-with-the-public-key")))
    check.measure("forgeries_accepted", count.booted_on)


def traces(key: SigningKey) -> Iterator[tuple[str, bytes]]:
    """Everything that a private key may look like in a file, by name: pieces of it, so that a part is enough."""
    for name, number in key.secret_numbers().items():
        big = number.to_bytes((number.bit_length() + 7) // 8, "big")
        piece = big[8 : 8 + PIECE]
        yield f"{name}, big-endian", piece
        yield f"{name}, little-endian", piece[::-1]
        yield f"{name}, hex", piece.hex().encode()
        yield f"{name}, capital hex", piece.hex().upper().encode()
        yield f"{name}, decimal", str(number)[20:60].encode()
        for shift in range(3):
            # The first and the last group depend on what stands beside them.
            yield f"{name}, base64 by {shift}", base64.b64encode(bytes(shift) + big)[8:28]


@rule("HOUSE-no-private-key")
@images("bench", "release")
def test_no_part_of_the_private_key_is_on_the_board(fresh: AttendedBench, check: Check, image: Image) -> None:
    found = [
        f"{name} in {path}"
        for name, trace in (*traces(signing_key()), ("PEM", b"PRIVATE KEY"))
        for path, data in image.files.items()
        if trace in data
    ]
    check.note("files searched", files=len(image.files), board=fresh.link.identity["uid"])
    check.expect("places", found, [])
    check.measure("parts_found", len(found))


@rule("HOUSE-key-named")
@images("bench", "release")
def test_the_identity_names_the_key(run: Run, check: Check, image: Image, tmp_path: Path) -> None:
    # Boards of its own: one that names another key than its image's is refused before any rule is judged on it.
    wrong = []
    # Published, so that anybody can sign with it.
    test_key = signing_key(TEST_KEY).fingerprint
    for number, built in enumerate((image, rekeyed(image, another_key()))):
        root = tmp_path / str(number) / "board"
        with open_target(run.target, device=run.device, image=built, kind=image.kind, root=root) as board:
            if built is image:
                # By its digest alone: what it says of the key is what is judged here.
                caps = ("link", "image") if board.virtual else ("link",)
                run.identify(board.identity, rung=board.rung, caps=caps, pc={"digest": image.digest})
            named = str(board.identity["key"])
        key = fingerprint(modulus_of(built.files))
        check.note("key", identity=named, pc=key)
        check.expect("a test key, and only that, is called one", named.endswith(" test key"), key == test_key)
        if named.split(" ")[0] != key:
            wrong.append(named)
    check.measure("wrongly_named", len(wrong))


@rule("HOUSE-older-version")
@images("bench", "release")
def test_an_older_image_is_refused_though_it_is_signed(altered: Altered, check: Check, image: Image) -> None:
    head, key = read_head(image.files), signing_key()
    booted_on = refused = 0
    for rise, runs in ((0, True), (5, True), (0, False), (4, False), (5, True), (6, True)):
        version = head.version + rise
        check.stimulus("image of this version, signed with the same key", version=version)
        altered.start(sealed(image.files, dataclasses.replace(head, version=version), key))
        look = altered.looks(())
        told = look.said.startswith("works")
        booted_on += told and not runs
        refused += runs and not told
        if not runs and not told:
            check.expect("the reason names both", f"version {version} of the image is older than" in look.said, True)
    check.measure("booted_on", booted_on)
    check.measure("refused_starts", refused)

"""Forgeries are what they say: no image of the key, and where a byte is free with the CRC that was there before."""

from __future__ import annotations

import pytest
from pitbench.image import Image, build_image
from pitbench.manifest import manifest_faults, signed_files
from pitbench.signature import CRC_FILE, SEALS, image_crc, image_part
from pitbench.signing import signing_key
from pitbench_hil.comparing import different_files
from pitbench_hil.forgeries import (
    FORGERS,
    KEY_FILE,
    another_key,
    forgeries,
    is_forged,
    marking_code,
    modulus_of,
    one_byte_changed,
    rekeyed,
    with_crc_kept,
    wrong_digits,
)

UNSEEN_BY_THE_CRC = ("manifest", "signature", "key", "code-and-manifest", "appended", "stray")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image("shuffler", "release", tmp_path_factory.mktemp("image"))


@pytest.mark.parametrize("kind", FORGERS)
def test_the_pc_finds_every_forgery(image: Image, kind: str) -> None:
    made = forgeries(image.files, kind)
    assert len(made) == len(list(FORGERS[kind](image.files))) >= 4
    assert len({tuple(sorted(forgery.files.items())) for forgery in made}) == len(made)


def test_the_sound_image_is_no_forgery(image: Image) -> None:
    assert modulus_of(image.files) == signing_key().modulus
    assert not is_forged(image.files, image.files, signing_key().modulus)


@pytest.mark.parametrize("kind", UNSEEN_BY_THE_CRC)
def test_the_crc_is_as_it_was_where_a_byte_is_free(image: Image, kind: str) -> None:
    for forgery in forgeries(image.files, kind):
        assert image_crc(image_part(forgery.files)) == image.crc, forgery.name


def test_one_byte_in_each_file_in_turn_is_changed_and_the_crc_kept(image: Image) -> None:
    for path in signed_files(image.files):
        changed = one_byte_changed(image.files, path)
        assert different_files(image.files, changed) == [path]
        assert len(changed[path]) == len(image.files[path])
        assert image_crc(image_part(changed)) == image.crc


def test_somebodys_code_is_laid_into_a_file_and_the_crc_kept(image: Image) -> None:
    for path in (p for p in signed_files(image.files) if p not in SEALS):
        changed = with_crc_kept(image.files, path, marking_code(path))
        assert image_crc(image_part(changed)) == image.crc
        assert changed[path][:-2] == marking_code(path)[:-2]


def test_where_no_byte_is_free_the_embedded_crc_fits(image: Image) -> None:
    for kind in ("truncated", "renamed", "swapped", "missing"):
        for forgery in forgeries(image.files, kind):
            if CRC_FILE in forgery.files and forgery.extra:
                fits = image_crc(image_part(forgery.files)).to_bytes(2, "big")
                assert forgery.files[CRC_FILE] == fits, forgery.name


def test_each_digit_of_a_digest_is_wrong_once_under_a_sound_signature(image: Image) -> None:
    last = signed_files(image.files)[-1]
    for forgery in wrong_digits(image.files, range(64)):
        assert manifest_faults(image_part(forgery.files), signing_key().modulus) == [f"altered file {last}"]


def test_an_image_of_another_key_is_sound_by_that_key_alone(image: Image) -> None:
    other = rekeyed(image, another_key())
    assert other.key == another_key().label
    assert different_files(image.files, other.files) == [KEY_FILE, "/image/manifest", "/image/manifest.sig"]
    assert manifest_faults(other.image_files, another_key().modulus) == []
    assert modulus_of(other.files) == another_key().modulus

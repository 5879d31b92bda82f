"""Mutations are what they say: each changes the reference CRC, and those that keep an 8-bit check keep it."""

from pathlib import Path

import pytest
from pitbench.image import Image, build_image, install
from pitbench.signature import embedded_crc, image_crc, image_files, image_part
from pitbench.virtual.flash import FolderFlash
from pitbench_hil.comparing import different_files
from pitbench_hil.mutations import (
    CHECKS_8,
    MAKERS,
    SHADOWS,
    lay_out,
    measured,
    mutations,
    one_byte_altered,
    shadowing,
)
from pitbench_hil.rabbit_signing import measures_otherwise, sign_as_its_own

ALTERED = [kind for kind in MAKERS if kind != "extra-file"]


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image("bill-acceptor", "release", tmp_path_factory.mktemp("image"))


@pytest.mark.parametrize("kind", ALTERED)
def test_every_mutation_disagrees_with_the_embedded_value(image: Image, kind: str) -> None:
    made = mutations(image.files, kind)
    assert len(made) >= 10
    for mutation in made:
        altered = image_part(mutation.files)
        assert image_crc(altered) != embedded_crc(altered), mutation.name
        assert different_files(image.files, mutation.files)


def test_a_mutation_that_changes_nothing_is_dropped(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    made = mutations(image.files, "bit-flips")[0]
    same = type(made)("nothing altered", image.files)
    monkeypatch.setitem(MAKERS, "bit-flips", lambda files: iter([same, made]))
    assert mutations(image.files, "bit-flips") == [made]


def test_bits_are_flipped_in_every_measured_file(image: Image) -> None:
    flipped = {path for m in mutations(image.files, "bit-flips") for path in different_files(image.files, m.files)}
    assert flipped == set(measured(image.files))


def test_an_8_bit_check_sees_nothing_of_the_changes_made_for_it(image: Image) -> None:
    made = mutations(image.files, "same-crc-8")
    for name, check in CHECKS_8.items():
        own = [mutation for mutation in made if mutation.name.endswith(f"{name} kept")]
        assert len(own) == 3
        assert {check(mutation.files) for mutation in own} == {check(image.files)}


def test_moved_bytes_and_swapped_files_lose_nothing(image: Image) -> None:
    for kind in ("moved-across-files", "swapped", "renamed"):
        for mutation in mutations(image.files, kind):
            assert sum(map(len, mutation.files.values())) == sum(map(len, image.files.values())), mutation.name


def test_a_board_is_altered_and_put_right_again(image: Image, tmp_path: Path) -> None:
    install(image, tmp_path)
    for kind in MAKERS:
        for mutation in mutations(image.files, kind)[:3]:
            lay_out(FolderFlash(tmp_path), image.files, mutation.files)
            assert image_files(tmp_path) == dict(sorted(image_part(mutation.files).items()))
            lay_out(FolderFlash(tmp_path), mutation.files, image.files)
    assert image_files(tmp_path) == dict(sorted(image.image_files.items()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["boot", "boot.py", "data", "image", "main.py"]


def test_one_altered_byte_is_in_the_name_of_one_file(image: Image) -> None:
    for which, path in enumerate(measured(image.files)):
        altered, sound = one_byte_altered(image.files, which), image.files[path]
        assert different_files(image.files, altered) == [path]
        name = path.removeprefix("/image/").replace(".mpy", ".py").encode()
        last_letter = sound.index(name) + len(name) - len("x.py")
        assert [at for at, byte in enumerate(sound) if altered[path][at] != byte] == [last_letter]


def test_shadows_stand_beside_bytecode(image: Image) -> None:
    assert {path.split("/")[2].split(".")[0] for path in SHADOWS} <= {
        path.split("/")[2].removesuffix(".mpy") for path in image.files if path.startswith("/boot/")
    }
    assert [mutation.extra for mutation in shadowing(image.files)] == list(SHADOWS)


def test_a_sound_boot_block_embeds_the_signature(image: Image, tmp_path: Path) -> None:
    folder = tmp_path / "image"
    install(image, folder)
    (folder / "image" / "crc").write_bytes(b"\0\0")
    sign_as_its_own(folder, folder)
    assert (folder / "image" / "crc").read_bytes() == image.crc.to_bytes(2, "big")
    assert measures_otherwise({"boot/verify.py": ""})
    assert not measures_otherwise({"device/log.py": ""})

"""A board whose image isn't what its key's holder signed, with a CRC that fits: it never runs, and says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from boot_bench import Bench
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pitbench.image import Image, build_image, install
from pitbench.signature import image_crc, image_files
from pitbench.signing import signing_key
from test_mutations import check_refusal

NEW = "/image/device/json.mpy"


def fit_crc(root: Path) -> None:
    """What somebody without the key can do."""
    (root / "image" / "crc").write_bytes(image_crc(image_files(root)).to_bytes(2, "big"))


def change(root: Path, path: str) -> None:
    place = root / path[1:]
    place.write_bytes(place.read_bytes() + b"\0")


def replace_main(root: Path) -> None:
    (root / "image/main.mpy").write_bytes((root / "image/product.mpy").read_bytes())


CHANGES: dict[str, Callable[[Path], object]] = {
    "a file changed": lambda root: change(root, "/image/device/log.mpy"),
    "main replaced": replace_main,
    "a file added": lambda root: (root / NEW[1:]).write_bytes(b"M"),
    "a file removed": lambda root: (root / "image/device/log.mpy").unlink(),
    "a file renamed": lambda root: (root / "image/device/log.mpy").rename(root / "image/device/logs.mpy"),
    "the manifest changed": lambda root: change(root, "/image/manifest"),
    "the manifest removed": lambda root: (root / "image/manifest").unlink(),
    "the signature changed": lambda root: change(root, "/image/manifest.sig"),
    "the signature removed": lambda root: (root / "image/manifest.sig").unlink(),
}


def refusal(bench: Bench) -> str:
    """Why a board refuses, for want of authenticity alone; it didn't start twice, and nothing crashed."""
    check_refusal(bench, "authenticity")
    status = bench.ask(do="status")["ok"]
    assert (status["standing"], status["light"]) == (["authenticity"], "red")
    return str(status["why"])


@pytest.mark.parametrize("how", CHANGES)
def test_it_never_runs(start, root, how):
    CHANGES[how](root)
    fit_crc(root)
    why = refusal(start())
    assert " file /image/" in why or "/image/manifest" in why


@pytest.mark.parametrize("path", ["/image/bench/faults.mpy", "/image/main.mpy"])
def test_the_reason_names_the_file(start, root, path):
    change(root, path)
    fit_crc(root)
    assert refusal(start()) == f"altered file {path}"


def test_where_the_crc_is_wrong_too_the_file_is_named_behind_it(start, root):
    change(root, "/image/main.mpy")
    bench = start()
    check_refusal(bench, "signature")
    why = bench.ask(do="status")["ok"]["why"]
    assert why.startswith("CRC is ")
    assert why.endswith("; altered file /image/main.mpy")


@pytest.mark.parametrize("cause", ["watchdog", "soft", "host"])
def test_it_never_runs_after_any_reset(start, root, cause):
    CHANGES["a file changed"](root)
    fit_crc(root)
    refusal(start(cause))


def test_put_right_it_runs_again(start, root, image):
    CHANGES["a file changed"](root)
    fit_crc(root)
    bench = start()
    refusal(bench)
    bench.board.cut()
    install(image, root)
    bench.board.power_on()
    assert bench.line() == b"READY power\n"


def test_another_key_in_the_boot_block_takes_no_image_of_ours(start, root, image, tmp_path):
    own = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "vendor.pem").write_bytes(own)
    key = signing_key(tmp_path / "vendor.pem")
    other = built(image, tmp_path / "other", key=key)
    (root / "boot/key.mpy").write_bytes(other.files["/boot/key.mpy"])
    assert f"is no signature of /image/manifest by key {key.label}" in refusal(start())


def test_an_older_image_is_refused_and_a_newer_one_runs(start, root, image, tmp_path):
    bench = start()
    for number, runs in ((2, True), (1, False), (3, True)):
        bench.board.cut()
        install(built(image, tmp_path / str(number), product={"IMAGE_VERSION": number}), root)
        bench.line(0.1)
        bench.board.power_on()
        if runs:
            assert bench.line() == b"READY power\n"
        else:
            assert "version 1 of the image is older than 2" in bench.ask(do="status")["ok"]["why"]


def built(image: Image, out: Path, **more: object) -> Image:
    """The same image with the stand-in application, otherwise made."""
    return build_image("bill-acceptor", "bench", out, sources=image.folder.parent / "firmware", **more)

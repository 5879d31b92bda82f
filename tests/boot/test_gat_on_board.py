"""GAT's wire in MicroPython: digests of the board's own files equal the PC's over the image, and outlast a cut."""

import hashlib
import hmac
import shutil
import time
from pathlib import Path

import pytest
from boot_bench import KERMIT, Bench
from pitbench.deadline import Deadline
from pitbench.image import build_image, install
from pitbench.sources import FIRMWARE


@pytest.fixture(scope="module", params=["unix", "wasm"])
def gat_image(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("gat_on_board")
    shutil.copytree(FIRMWARE, folder / "firmware", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "gat_main.py", folder / "firmware" / "main.py")
    return build_image("shuffler", "bench", folder / "out", board=request.param, sources=folder / "firmware")


@pytest.fixture
def bench(gat_image, tmp_path):
    install(gat_image, tmp_path / "board")
    bench = Bench(tmp_path / "board", "power", gat_image.board)
    assert bench.line() == b"READY\n"
    yield bench
    bench.close()


def ask(bench, command: int, data: bytes = b"") -> bytes:
    head = bytes((command, len(data) + 4)) + data
    reply = bench.frame(head + KERMIT(head).to_bytes(2, "big"))
    assert KERMIT(reply[:-2]).to_bytes(2, "big") == reply[-2:]
    return reply[2:-2]


def report(bench) -> list[str]:
    text, number, status = b"", 1, 0
    while status == 0:
        part = ask(bench, 3, b"\1" + number.to_bytes(2, "big"))
        status, number, text = part[0], number + 1, text + part[3:]
    assert status == 2
    return text.decode().split("\r\n")


def digest(how: str, seed: bytes, data: bytes) -> str:
    return hmac.new(seed, data, how).hexdigest() if seed else hashlib.new(how, data).hexdigest()


# The WASM build has no SHA-1.
HOW = {"unix": ("SHA-1", "HMAC-SHA1", "sha1"), "wasm": ("SHA-256", "HMAC-SHA256", "sha256")}


def test_digests_of_two_seeds_and_none_equal_the_pcs_and_the_last_outlasts_a_cut(bench, gat_image):
    plain, keyed, how = HOW[gat_image.board]
    for seed in (b"", b"1234", b"another seed"):
        assert ask(bench, 4, b"\1" + seed) == b"\3"
        wait = Deadline(20.0)
        while ask(bench, 1)[2] != 6 and not wait.passed:
            time.sleep(0.01)
        lines = report(bench)
        found = {line.split("  ")[1]: line.split("  ")[0] for line in lines if "  /" in line}
        assert found == {path: digest(how, seed, data) for path, data in gat_image.files.items()}
        assert f"Algorithm: {keyed if seed else plain}" in lines
    bench.board.cut()
    bench.board.power_on()
    assert bench.line() == b"READY\n"
    assert ask(bench, 1)[2] == 4
    assert report(bench) == lines

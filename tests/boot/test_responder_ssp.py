"""The minimal responder of a product that speaks SSP: software error to every poll, who it is, nothing accepted."""

import os
import shutil
from pathlib import Path

import crcmod
import pytest
from boot_bench import Bench
from pitbench.image import build_image, install
from pitbench.sources import FIRMWARE

CRC = crcmod.mkCrcFun(0x18005, initCrc=0xFFFF, rev=False)
POLL, ERROR = bytes.fromhex("7f0001071188"), b"\xf6"


@pytest.fixture(scope="session")
def ssp_image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ssp")
    shutil.copytree(FIRMWARE, folder / "firmware", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "stand_in_main.py", folder / "firmware" / "main.py")
    return build_image("bill-acceptor", "bench", folder / "out", wire="ssp", sources=folder / "firmware")


@pytest.fixture
def bench(ssp_image, tmp_path):
    install(ssp_image, tmp_path / "board")
    (tmp_path / "board/image/crc").write_bytes(b"\0\0")
    bench = Bench(tmp_path / "board", "power")
    yield bench
    bench.close()


def frame(*data: int, first: int = 0) -> bytes:
    body = bytes((first, len(data), *data))
    return b"\x7f" + (body + CRC(body).to_bytes(2, "little")).replace(b"\x7f", b"\x7f\x7f")


def ask(bench: Bench, data: bytes, seconds: float = 2.0) -> bytes:
    """Raw bytes, and what answers them."""
    os.write(bench.wire, data)
    return bench.receive(bench.wire, lambda got: len(got) > 2 and len(got) >= got[2] + 5, seconds)


def test_the_poll_of_these_tests_is_the_published_one():
    assert frame(0x07) == POLL


def test_the_link_names_the_wire(bench):
    hello = bench.ask(do="hello", session=1)["ok"]
    assert hello["wire"] == "ssp"
    assert "embedded is 0000" in hello["inoperable"]


@pytest.mark.parametrize("command", [0x07, 0x56])
@pytest.mark.parametrize("first", [0, 0x80])
def test_a_poll_is_answered_with_software_error(bench, command, first):
    assert ask(bench, frame(command, first=first)) == frame(0xF6, first=first)


def test_what_changes_nothing_is_answered(bench):
    assert ask(bench, frame(0x11)) == frame(0xF0)
    assert ask(bench, frame(0x09, first=0x80)) == frame(0xF0, first=0x80)
    assert ask(bench, frame(0x06, 6)) == frame(0xF0)
    assert ask(bench, frame(0x06, 9)) == frame(0xF8)


def test_who_it_is_is_told(bench, ssp_image):
    assert ask(bench, frame(0x20)) == frame(0xF0, *b"PB0000000000%04X" % ssp_image.crc)
    uid = bench.ask(do="hello", session=1)["ok"]["uid"]
    assert ask(bench, frame(0x0C)) == frame(0xF0, *(int(uid[-8:], 16) & 0x7FFFFFFF).to_bytes(4, "big"))


@pytest.mark.parametrize(
    "data", [(0x0A,), (0x02, 0xFF, 0xFF), (0x01,), (0x18,), (0x08,), (0x57,), (0x4A, *[1] * 8), (0x99,)]
)
def test_nothing_else_is_done(bench, data):
    assert ask(bench, frame(*data)) == frame(0xF5)


def test_no_key_is_ever_set(bench):
    assert ask(bench, frame(0x7E, *[1] * 16)) == frame(0xFA)


def test_a_damaged_frame_and_another_devices_are_met_with_silence(bench):
    assert ask(bench, POLL[:-1] + b"\0", 0.15) == b""
    assert ask(bench, frame(0x07, first=0x10), 0.15) == b""
    assert ask(bench, POLL) == frame(0xF6)


def test_frames_are_found_behind_noise_and_joined(bench):
    os.write(bench.wire, b"\x00\xff\x7f\x00" + POLL + frame(0x09, first=0x80) + POLL)
    expected = frame(0xF6) + frame(0xF0, first=0x80) + frame(0xF6)
    assert bench.receive(bench.wire, lambda data: len(data) >= len(expected), 2) == expected


def test_a_doubled_7f_is_one_byte(bench):
    assert ask(bench, frame(0x99, 0x7F, 0x7F)) == frame(0xF5)

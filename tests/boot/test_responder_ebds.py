"""The minimal responder of an acceptor that speaks EBDS: failure to every request, and nothing accepted."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from boot_bench import Bench
from pitbench.image import build_image, install
from pitbench.sources import FIRMWARE

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ebds.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
POLL, SOFT_RESET = FRAMES["host", "poll"], FRAMES["host", "soft reset"]
# Out of service, failure; model 54, no code revision.
FAILURE, INVALID = bytes.fromhex("001004005400"), bytes.fromhex("001006005400")


@pytest.fixture(scope="session")
def ebds_image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ebds")
    shutil.copytree(FIRMWARE, folder / "firmware", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "stand_in_main.py", folder / "firmware" / "main.py")
    return build_image("bill-acceptor", "bench", folder / "out", sources=folder / "firmware", wire="ebds")


@pytest.fixture
def bench(ebds_image, tmp_path):
    install(ebds_image, tmp_path / "board")
    (tmp_path / "board/image/crc").write_bytes(b"\0\0")
    bench = Bench(tmp_path / "board", "power")
    yield bench
    bench.close()


def frame(control: int, data: bytes) -> bytes:
    body = bytes((len(data) + 5, control)) + data
    check = 0
    for byte in body:
        check ^= byte
    return b"\x02" + body + bytes((3, check))


def test_the_polls_of_these_tests_are_the_published_ones():
    assert frame(0x10, b"\x7f\x10\0") == POLL
    assert frame(0x60, b"\x7f\x7f\x7f") == SOFT_RESET


def test_the_link_names_the_wire(bench):
    hello = bench.ask(do="hello", session=1)["ok"]
    assert hello["wire"] == "ebds"
    assert "embedded is 0000" in hello["inoperable"]


@pytest.mark.parametrize("bit", [0, 1])
def test_a_poll_is_answered_with_failure_and_its_own_bit(bench, bit):
    assert bench.frame(frame(0x10 | bit, b"\x7f\x1c\0")) == frame(0x20 | bit, FAILURE)
    assert bench.frame(frame(0x10 | bit, b"\x7f\x3c\0")) == frame(0x20 | bit, FAILURE)


def test_the_software_crc_is_the_measured_one(bench, ebds_image):
    nibbles = bytes(int(digit, 16) for digit in f"{ebds_image.crc:04x}")
    assert bench.frame(FRAMES["host", "software CRC query"]) == frame(0x60, nibbles + b"\0\0")


OTHERS = [SOFT_RESET, frame(0x60, b"\0\0\5"), frame(0x70, b"\2\0\0\0\1"), frame(0x30, bytes(3)), frame(0x51, bytes(3))]


@pytest.mark.parametrize("data", OTHERS, ids=bytes.hex)
def test_any_other_request_is_invalid(bench, data):
    assert bench.frame(data) == frame(0x20 | data[2] & 1, INVALID)
    assert bench.frame(POLL) == frame(0x20, FAILURE)


DAMAGED = [POLL[:-1] + b"\0", POLL[:-2] + b"\2" + POLL[-1:], POLL[:3] + b"\xff" + POLL[4:-1] + b"\xf7", b"\2\7\x10"]
DAMAGED += [frame(0x20, b"\x7f\x10\0"), frame(0x12, b"\x7f\x10\0"), FRAMES["device", "idle, cassette present"]]


@pytest.mark.parametrize("data", DAMAGED, ids=bytes.hex)
def test_what_is_no_frame_of_its_host_is_met_with_silence(bench, data):
    assert bench.frame(data, 0.15) == b""
    assert bench.frame(POLL) == frame(0x20, FAILURE)


def test_frames_are_found_split_joined_and_behind_noise(bench):
    for byte in POLL[:-1]:
        os.write(bench.wire, bytes([byte]))
        time.sleep(0.005)
    assert bench.frame(POLL[-1:]) == frame(0x20, FAILURE)
    os.write(bench.wire, b"\x00\xff\x02\x7f\x03" + POLL * 3)
    assert bench.receive(bench.wire, lambda data: len(data) >= 33, 2) == frame(0x20, FAILURE) * 3


def test_a_flood_of_noise_leaves_it_alive(bench):
    noise = os.urandom(20_000)
    for start in range(0, len(noise), 500):
        os.write(bench.wire, noise[start : start + 500])
        time.sleep(0.002)
    bench.receive(bench.wire, lambda data: False, 0.4)
    assert bench.frame(POLL) == frame(0x20, FAILURE)
    assert bench.board.crashes == 0

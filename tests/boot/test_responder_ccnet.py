"""The minimal responder of an acceptor that speaks CCNET: failure to every poll, who it is, and nothing accepted."""

import json
import os
import shutil
from pathlib import Path

import pytest
from boot_bench import KERMIT, Bench
from pitbench.image import build_image, install
from pitbench.sources import FIRMWARE

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "ccnet.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
POLL, ACK = FRAMES["host", "poll"], FRAMES["either", "ack"]


def frame(*body: int, address: int = 3) -> bytes:
    head = bytes([2, address, len(body) + 5, *body])
    return head + KERMIT(head).to_bytes(2, "little")


FAILURE, ILLEGAL = frame(0x47, 0x59), frame(0x30)


@pytest.fixture(scope="session")
def ccnet_image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ccnet")
    shutil.copytree(FIRMWARE, folder / "firmware", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "stand_in_main.py", folder / "firmware" / "main.py")
    return build_image("bill-acceptor", "bench", folder / "out", sources=folder / "firmware", wire="ccnet")


@pytest.fixture
def bench(ccnet_image, tmp_path):
    install(ccnet_image, tmp_path / "board")
    (tmp_path / "board/image/crc").write_bytes(b"\0\0")
    bench = Bench(tmp_path / "board", "power")
    yield bench
    bench.close()


def ask(bench, data: bytes, seconds: float = 2.0) -> bytes:
    """Bytes sent over the wire, and the frame that answers them (empty: silence)."""
    os.write(bench.wire, data)
    return bench.receive(bench.wire, lambda got: len(got) > 2 and len(got) >= got[2], seconds)


def test_the_link_names_the_wire_and_the_reason(bench):
    hello = bench.ask(do="hello", session=1)["ok"]
    assert hello["wire"] == "ccnet"
    assert "embedded is 0000" in hello["inoperable"]


def test_a_poll_is_answered_with_failure(bench):
    assert ask(bench, POLL) == FAILURE
    assert ask(bench, ACK, 0.15) == b""
    assert ask(bench, POLL) == FAILURE


def test_the_identification_is_told_and_carries_the_measured_crc(bench, ccnet_image):
    reply = ask(bench, FRAMES["host", "identification"])
    assert KERMIT(reply) == 0
    assert reply[3:-2] == b"PB-CCN-010 %04X" % ccnet_image.crc + b" " * 12 + bytes(7)


OTHERS = [
    data for (sender, name), data in FRAMES.items() if sender == "host" and name not in ("poll", "identification")
]


@pytest.mark.parametrize("data", [*OTHERS, frame(0x50), frame(0x99, 1, 2, 3)], ids=bytes.hex)
def test_any_other_command_is_illegal(bench, data):
    assert ask(bench, data) == ILLEGAL
    assert ask(bench, POLL) == FAILURE


SILENCE = [ACK, frame(0xFF), POLL[:-1] + b"\0", POLL[:4] + b"\xda\x80", frame(0x33, address=1), b"\x02\x03\x05\x33"]


@pytest.mark.parametrize("data", SILENCE, ids=bytes.hex)
def test_what_needs_no_answer_is_met_with_silence(bench, data):
    assert ask(bench, data, 0.15) == b""
    assert ask(bench, POLL) == FAILURE


def test_frames_are_found_split_joined_and_behind_noise(bench):
    os.write(bench.wire, POLL[:2])
    os.write(bench.wire, POLL[2:5])
    assert ask(bench, POLL[5:]) == FAILURE
    os.write(bench.wire, b"\x00\xff\x02\x03\xff" + POLL * 3)
    assert bench.receive(bench.wire, lambda data: len(data) >= 3 * len(FAILURE), 2) == FAILURE * 3


def test_a_flood_of_noise_leaves_it_alive(bench):
    noise = os.urandom(20_000)
    for start in range(0, len(noise), 500):
        os.write(bench.wire, noise[start : start + 500])
        bench.receive(bench.wire, lambda data: False, 0.002)
    bench.receive(bench.wire, lambda data: False, 0.3)
    assert ask(bench, POLL) == FAILURE
    assert bench.board.crashes == 0

"""The minimal responder of a product that speaks ccTalk: a fault to every self-check and poll, nothing accepted."""

import json
import os
import shutil
import time
from pathlib import Path

import crcmod.predefined
import pytest
from boot_bench import Bench
from pitbench.image import build_image, install
from pitbench.sources import FIRMWARE

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "cctalk.json").read_text())
FRAMES = {(row["protocol"][7:], row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
XMODEM = crcmod.predefined.mkCrcFun("xmodem")
POLL, ACK = FRAMES["crc", "host", "simple poll"], FRAMES["crc", "device", "ack"]
KINDS = ("sum", "crc")


@pytest.fixture(scope="session")
def cctalk_image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cctalk")
    shutil.copytree(FIRMWARE, folder / "firmware", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "stand_in_main.py", folder / "firmware" / "main.py")
    return build_image("bill-acceptor", "bench", folder / "out", sources=folder / "firmware", wire="cctalk")


@pytest.fixture
def bench(cctalk_image, tmp_path):
    install(cctalk_image, tmp_path / "board")
    (tmp_path / "board/image/crc").write_bytes(b"\0\0")
    bench = Bench(tmp_path / "board", "power")
    yield bench
    bench.close()


def frame(header: int, data: bytes = b"", kind: str = "crc", to: int = 40, source: int = 1) -> bytes:
    if kind == "sum":
        body = bytes((to, len(data), source, header)) + data
        return body + bytes((-sum(body) % 256,))
    crc = XMODEM(bytes((to, len(data), header)) + data)
    return bytes((to, len(data), crc & 255, header)) + data + bytes((crc >> 8,))


def ask(bench: Bench, header: int, data: bytes = b"", kind: str = "crc", seconds: float = 2.0) -> tuple[int, bytes]:
    """Header and data of the answer, which is in the kind of the request."""
    os.write(bench.wire, frame(header, data, kind))
    reply = bench.receive(bench.wire, lambda got: len(got) > 1 and len(got) >= got[1] + 5, seconds)
    assert reply == frame(reply[3], reply[4:-1], kind, to=1, source=40)
    return reply[3], reply[4:-1]


def silent(bench: Bench, data: bytes) -> bool:
    os.write(bench.wire, data)
    return bench.receive(bench.wire, lambda got: bool(got), 0.15) == b""


def test_the_board_holds_the_responder_of_its_own_wire_only(cctalk_image, image):
    boot = {path for path in cctalk_image.files if path.startswith("/boot/resp")}
    assert boot == {"/boot/responder.mpy", "/boot/responder_wire.mpy"}
    assert cctalk_image.files["/boot/responder_wire.mpy"] != image.files["/boot/responder_wire.mpy"]


def test_the_link_names_the_wire(bench):
    hello = bench.ask(do="hello", session=1)["ok"]
    assert hello["wire"] == "cctalk"
    assert "embedded is 0000" in hello["inoperable"]


def test_a_simple_poll_is_answered_as_the_vectors_have_it(bench):
    os.write(bench.wire, POLL)
    assert bench.receive(bench.wire, lambda got: len(got) >= 5, 2) == ACK
    os.write(bench.wire, FRAMES["sum", "host", "simple poll"])
    assert bench.receive(bench.wire, lambda got: len(got) >= 5, 2) == FRAMES["sum", "device", "simple poll reply"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_start_is_told_and_then_a_fatal_error(bench, kind):
    assert ask(bench, 159, kind=kind) == (0, bytes(11))
    assert ask(bench, 159, kind=kind) == (0, b"\1\0\x0d" + bytes(8))
    assert ask(bench, 159, kind=kind) == (0, b"\1\0\x0d" + bytes(8))
    assert ask(bench, 1, kind=kind) == (0, b"")
    assert ask(bench, 159, kind=kind) == (0, bytes(11))


@pytest.mark.parametrize("kind", KINDS)
def test_the_self_check_is_a_rom_checksum_mismatch_and_nothing_is_accepted(bench, kind):
    assert ask(bench, 232, kind=kind) == (0, b"\x1e")
    for header, data in ((228, b"\1"), (231, b"\xff\xff"), (153, b"\3")):
        assert ask(bench, header, data, kind) == (5, b"")
    assert ask(bench, 227, kind=kind) == (0, b"\0")
    assert ask(bench, 230, kind=kind) == (0, b"\0\0")
    assert ask(bench, 154, b"\1", kind) == (0, b"\xfe")


def test_what_it_is_carries_the_measured_crc(bench, cctalk_image):
    assert ask(bench, 241) == (0, b"PB-CCT-000 %04X" % cctalk_image.crc)
    assert ask(bench, 245) == (0, b"Bill Validator")
    assert ask(bench, 246) == (0, b"PBN")
    assert ask(bench, 4) == (0, b"\1\4\7")


UNANSWERED = [
    POLL[:-1] + b"\0",
    frame(254, kind="sum")[:-1] + b"\0",
    frame(254, to=2),
    frame(254, kind="sum", to=2),
    frame(254, to=0),
    frame(254, kind="sum", source=2),
    frame(157, b"\1"),
    frame(197),
    ACK,
    frame(0, b"\x28" + POLL, to=2),
]


@pytest.mark.parametrize("data", UNANSWERED, ids=bytes.hex)
def test_what_is_no_request_to_it_is_met_with_silence(bench, data):
    assert silent(bench, data)
    assert ask(bench, 254) == (0, b"")


def test_frames_are_found_split_joined_and_behind_noise(bench):
    for byte in POLL[:-1]:
        os.write(bench.wire, bytes([byte]))
        time.sleep(0.005)
    os.write(bench.wire, POLL[-1:])
    assert bench.receive(bench.wire, lambda got: len(got) >= 5, 2) == ACK
    os.write(bench.wire, b"\x02\x41\x28\x09" + POLL * 3)
    received = bench.receive(bench.wire, lambda got: len(got) >= 15, 0.5)
    assert ACK in received or ask(bench, 254) == (0, b"")


def test_a_flood_of_noise_leaves_it_alive(bench):
    noise = os.urandom(20_000)
    for start in range(0, len(noise), 500):
        os.write(bench.wire, noise[start : start + 500])
        time.sleep(0.002)
    time.sleep(0.2)
    bench.receive(bench.wire, lambda data: False, 0.2)
    assert ask(bench, 254) == (0, b"")
    assert bench.board.crashes == 0

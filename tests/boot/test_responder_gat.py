"""The minimal responder of a product that speaks GAT: status error, the reason as the last result, no calculation."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from boot_bench import KERMIT, Bench
from pitbench.image import build_image, install
from pitbench.sources import FIRMWARE

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "gat.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
STATUS, ERROR = FRAMES["host", "status query"], FRAMES["device", "error, text"]


@pytest.fixture(scope="session")
def gat_image(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gat")
    shutil.copytree(FIRMWARE, folder / "firmware", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).parent / "stand_in_main.py", folder / "firmware" / "main.py")
    return build_image("shuffler", "bench", folder / "out", sources=folder / "firmware")


@pytest.fixture
def bench(gat_image, tmp_path):
    install(gat_image, tmp_path / "board")
    (tmp_path / "board/image/crc").write_bytes(b"\0\0")
    bench = Bench(tmp_path / "board", "power")
    yield bench
    bench.close()


def frame(command: int, data: bytes = b"") -> bytes:
    head = bytes((command, len(data) + 4)) + data
    return head + KERMIT(head).to_bytes(2, "big")


def result(bench, number: int, form: int = 1) -> bytes:
    reply = bench.frame(frame(3, bytes((form,)) + number.to_bytes(2, "big")))
    assert reply == frame(0x83, reply[2:-2])
    return reply[2:-2]


def test_the_board_holds_the_responder_of_its_own_wire_only(gat_image, image):
    boot = {path for path in gat_image.files if path.startswith("/boot/resp")}
    assert boot == {"/boot/responder.mpy", "/boot/responder_wire.mpy"}
    assert gat_image.files["/boot/responder_wire.mpy"] != image.files["/boot/responder_wire.mpy"]
    assert gat_image.files["/boot/responder.mpy"] == image.files["/boot/responder.mpy"]


def test_the_link_names_the_wire(bench):
    hello = bench.ask(do="hello", session=1)["ok"]
    assert hello["wire"] == "gat"
    assert "embedded is 0000" in hello["inoperable"]


def test_a_status_is_an_error(bench):
    assert bench.frame(STATUS) == ERROR


def test_the_last_result_is_the_reason(bench, gat_image):
    assert bench.frame(FRAMES["host", "last status query"]) == FRAMES["device", "last: level 1, at an unknown time"]
    reason = f"OUT OF SERVICE: CRC is {gat_image.crc:04x}, embedded is 0000; altered file /image/crc\r\n"
    assert result(bench, 1) == b"\2\0\1" + reason.encode()


@pytest.mark.parametrize(("number", "form"), [(0, 1), (2, 1), (257, 1), (1, 2), (1, 0)])
def test_there_is_no_other_result(bench, number, form):
    assert result(bench, number, form) == b"\4" + number.to_bytes(2, "big")


@pytest.mark.parametrize("name", [name for sender, name in FRAMES if sender == "host" and name.startswith("start")])
def test_no_level_can_be_calculated(bench, name):
    assert bench.frame(FRAMES["host", name]) == FRAMES["device", "level error"]
    assert bench.frame(STATUS) == ERROR


DAMAGED = [STATUS[:-1] + b"\0", STATUS[:2] + STATUS[:1:-1], frame(1, b"\0"), frame(5), frame(0x81), frame(0), b"\1\4"]


@pytest.mark.parametrize("data", DAMAGED, ids=bytes.hex)
def test_what_is_no_frame_of_a_host_is_met_with_silence(bench, data):
    assert bench.frame(data, 0.15) == b""
    assert bench.frame(STATUS) == ERROR


def test_frames_are_found_split_joined_and_behind_noise(bench):
    for byte in STATUS[:-1]:
        os.write(bench.wire, bytes([byte]))
        time.sleep(0.005)
    assert bench.frame(STATUS[-1:]) == ERROR
    os.write(bench.wire, b"\x00\xff\x01\x05" + STATUS * 3)
    assert bench.receive(bench.wire, lambda data: len(data) >= 3 * len(ERROR), 2) == ERROR * 3


def test_a_flood_of_noise_leaves_it_alive(bench):
    noise = os.urandom(20_000)
    for start in range(0, len(noise), 500):
        os.write(bench.wire, noise[start : start + 500])
        time.sleep(0.002)
    time.sleep(0.2)
    bench.receive(bench.wire, lambda data: False, 0.2)
    assert bench.frame(STATUS) == ERROR
    assert bench.board.crashes == 0

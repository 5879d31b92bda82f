"""The minimal responder: answers who and why on both ports, and accepts nothing, whatever is sent."""

import json
import os
import time

import pytest
from boot_bench import KERMIT, pack

POLL = bytes.fromhex("fc05112756")


@pytest.fixture
def bench(start, root):
    (root / "image" / "crc").write_bytes(b"\0\0")
    return start()


def frame(*body: int) -> bytes:
    head = bytes([0xFC, len(body) + 4, *body])
    return head + KERMIT(head).to_bytes(2, "little")


def test_the_poll_of_these_tests_is_the_published_one():
    assert frame(0x11) == POLL


def test_identity_is_given_as_far_as_it_is_known(bench, image):
    hello = bench.ask(do="hello", session=99)["ok"]
    assert hello["crc"] == f"{image.crc:04x}"
    assert hello["inoperable"] == f"CRC is {image.crc:04x}, embedded is 0000; altered file /image/crc"
    assert (hello["firmware"], hello["board"], hello["wire"]) == ("pitbench", "unix", "id003")
    assert (hello["device"], hello["version"]) == (None, None)


def test_status_names_the_failure_and_shows_red(bench):
    status = bench.ask(do="status")["ok"]
    assert (status["light"], status["enabled"], status["standing"]) == ("red", False, ["signature"])
    assert "CRC" in status["message"]


@pytest.mark.parametrize("op", ["insert", "challenge", "commission", "clear_memory", "restart", "advance", "meters", 7])
def test_everything_else_is_refused(bench, op):
    assert bench.ask(do=op)["err"]["code"] == "inoperable"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"id":1,"do":"hello"}\t0000\n', "bad_crc"),
        (b"\n", "bad_crc"),
        (b"\x03\x04 hello\n", "bad_crc"),
        (pack(b"{"), "bad_json"),
        (pack(b"[1]"), "bad_json"),
        (pack(b'{"do":"hello"}'), "bad_json"),
        (pack(b"7"), "bad_json"),
        (pack(b'{"id":1,"do":"hello","x":"' + b"x" * 400 + b'"}'), "too_long"),
        (pack(b'{"id":1,"do":"hello","x":"' + b"x" * 240 + b'"}'), "too_long"),
    ],
)
def test_a_bad_line_is_answered_with_an_error(bench, line, code):
    assert bench.reply(line)["err"]["code"] == code
    assert bench.ask(do="status")["ok"]


def test_joined_and_split_lines_are_taken_one_by_one(bench):
    line = pack(json.dumps({"id": 1, "do": "status"}).encode())
    for byte in line[:-1]:
        os.write(bench.link, bytes([byte]))
    assert bench.reply(line[-1:])["ok"]
    os.write(bench.link, line)
    end = time.monotonic() + 5
    data = bench.receive(bench.link, lambda got: got.count(b"\n") == 1, end - time.monotonic())
    os.write(bench.link, line * 2)
    data += bench.receive(bench.link, lambda got: got.count(b"\n") == 2, 5)
    assert data.count(b'"state": "inoperable"') == 3


def test_a_poll_is_answered_with_failure_and_the_rom_code(bench):
    assert bench.frame(POLL) == frame(0x49, 0xB0)


def test_the_version_is_told_and_carries_the_measured_crc(bench, image):
    reply = bench.frame(frame(0x88))
    assert reply[2] == 0x88
    assert KERMIT(reply) == 0
    assert reply[3:-2].endswith(b" %04X" % image.crc)


@pytest.mark.parametrize("command", [0x40, 0x41, 0x42, 0x43, 0x44, 0xC0, 0xC3, 0x8A, 0xDC])
def test_any_other_command_is_invalid(bench, command):
    assert bench.frame(frame(command, 0, 0)) == frame(0x4B)


def test_a_damaged_frame_is_met_with_silence(bench):
    assert bench.frame(POLL[:-1] + b"\0", 0.15) == b""
    assert bench.frame(POLL) == frame(0x49, 0xB0)


def test_noise_before_a_frame_is_passed_over(bench):
    assert bench.frame(b"\x00\xff\xfc\x02" + POLL) == frame(0x49, 0xB0)


def test_a_false_start_is_forgotten_after_a_gap(bench):
    os.write(bench.wire, b"\xfc\xff")
    assert bench.receive(bench.wire, lambda data: False, 0.1) == b""
    # A responder that was kept waiting reads both at once: then the next poll is answered, as hosts poll.
    assert frame(0x49, 0xB0) in [bench.frame(POLL), bench.frame(POLL)]


def test_joined_frames_are_answered_each(bench):
    os.write(bench.wire, POLL * 3)
    assert bench.receive(bench.wire, lambda data: len(data) == 18, 2) == frame(0x49, 0xB0) * 3


def test_a_host_that_reads_nothing_cant_stop_the_link(bench):
    for _ in range(60):
        os.write(bench.wire, POLL * 20)
        time.sleep(0.001)
    assert bench.ask(do="status")["ok"]


def test_a_flood_of_noise_leaves_it_alive(bench):
    noise = os.urandom(40_000)
    for start in range(0, len(noise), 500):
        os.write(bench.wire, noise[start : start + 500])
        os.write(bench.link, noise[start : start + 500].replace(b"\n", b"x"))
        time.sleep(0.002)
    os.write(bench.link, b"\n")
    bench.receive(bench.link, lambda data: False, 0.3)
    bench.receive(bench.wire, lambda data: False, 0.1)
    assert bench.ask(do="status")["ok"]
    assert bench.frame(POLL) == frame(0x49, 0xB0)
    assert bench.board.crashes == 0

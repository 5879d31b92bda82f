"""GAT on the device: what is asked and told, as the vectors have it; digests, their source, and where they last."""

from __future__ import annotations

import base64
import hashlib
import xml.etree.ElementTree as ET

import pytest
from gat_bench import (
    CODE,
    FRAMES,
    IDLE,
    LAST_STATUS,
    SECRET,
    STARTED,
    STATUS,
    VECTORS,
    Board,
    digest,
    expected,
    frame,
    rows,
)
from wire import gat_report
from wire.gat_report import Digest

SEEDS = [b"", b"1234", bytes(range(20)), b"\xff" * 100]


@pytest.fixture
def board(tmp_path, monkeypatch) -> Board:
    return Board(tmp_path, monkeypatch)


def test_the_port_is_set_to_9600_8n1(board):
    assert board.port.how == (9600, 8, "N", 1)


@pytest.mark.parametrize("row", [key for key in FRAMES if key[0] == "device"], ids=lambda row: row[1])
def test_a_frame_of_the_device_is_built_as_the_vectors_have_it(board, row):
    good = FRAMES[row]
    assert board.wire._frame(good[0], good[2:-2]) == good


def test_a_board_that_calculated_nothing_is_idle_and_has_no_result(board):
    assert board.send(STATUS) == IDLE
    assert board.send(LAST_STATUS) == FRAMES["device", "last: none"]
    assert board.ask(3, b"\1\0\1") == b"\x83\4\0\1"


def test_a_calculation_is_requested_runs_and_is_done(board):
    assert board.send(FRAMES["host", "start level 1"]) == STARTED
    assert board.send(STATUS) == FRAMES["device", "requested, text"]
    board.turn()
    assert board.ask(1) == b"\x81\x03\x50\x09\x01"
    board.finish()
    assert board.ask(1) == b"\x81\x03\x50\x06\x01"
    assert board.send(STATUS) == board.send(STATUS)


def test_the_vectors_special_functions_are_started_and_end_as_xml(board):
    for name in ("Get Special Functions", "Get File", "Component", "Component, seed 31 32 33 34"):
        assert board.send(FRAMES["host", f"start {name}"]) == STARTED
        board.turn()
        assert board.send(STATUS) == FRAMES["device", "calculating, XML"]
        board.finish()
        assert board.send(STATUS) == FRAMES["device", "done, XML"]
        assert board.result(2).startswith(b'<?xml version="1.0"?>\r\n')
    board.now += 5000
    assert board.send(LAST_STATUS) == FRAMES["device", "last: level ba, 5 s ago"]


@pytest.mark.parametrize("level", [0, 2, 3, 0x10, 0xB9, 0xBB, 0xFF])
def test_an_unknown_level_is_an_error_and_starts_nothing(board, level):
    assert board.ask(4, bytes((level,))) == b"\x84\x04"
    assert board.wire.work is None
    assert board.send(STATUS) == IDLE


NO_FUNCTION = [b"", b"\0", b"\1Get File\t/image/crc", b"Get Special Functions", b"\0Get", b"\0Get File", b"\0Component"]
NO_FUNCTION += [b"\0Get File\t", b"\0Component\t", b"\0Component\t/image/crc\txyz", b"\0Component\t/image/crc\t123"]
NO_FUNCTION += [
    b"\0Component\t/image/crc\t12\t34",
    b"\0Get File\t/image/crc\t12",
    b"\0\xff\xfe",
    b"\0Put File\t/boot.py",
]


@pytest.mark.parametrize("parameter", NO_FUNCTION)
def test_what_there_is_no_function_for_is_acknowledged_and_not_started(board, parameter):
    board.calculate(1, b"kept")
    before = board.result(1)
    assert board.ask(4, b"\xba" + parameter) == b"\x84\x01"
    assert board.wire.work is None
    assert board.result(1) == before


def test_a_start_while_one_runs_is_acknowledged_and_changes_nothing(board):
    board.ask(4, b"\x01" + b"1234")
    board.turn()
    assert board.ask(4, b"\x01" + b"other") == b"\x84\x01"
    board.finish()
    assert rows(board.result(1).decode()) == expected(b"1234")


# -- digests


@pytest.mark.parametrize("seed", SEEDS)
def test_the_report_has_the_digest_of_every_file_of_boot_block_and_image(board, seed):
    report = board.calculate(1, seed)
    assert rows(report) == expected(seed)
    assert f"Algorithm: {'HMAC-SHA1' if seed else 'SHA-1'}\r\n" in report
    assert f"Seed: {seed.hex()}\r\n" in report
    assert report.endswith(f"\r\nFiles: {len(CODE)}\r\n")
    assert "Name: shuffler\r\nVersion: 0.1.0\r\nRevision: c0ffee\r\n" in report


@pytest.mark.parametrize("seed", ["", "(none)", "31323334", "ff" * 70])
def test_the_xml_report_says_the_same(board, seed):
    root = ET.fromstring(board.function("Get File", "AuthenticationResponse.xml", seed))
    found = {row.get("Name"): row.get("Checksum") for row in root.iter("Component")}
    assert found == expected(bytes.fromhex(seed) if seed != "(none)" else b"")
    assert root.find("Game").get("Name") == "shuffler"


@pytest.mark.parametrize("path", CODE)
def test_one_component_can_be_asked_for(board, path):
    for seed in (["31323334"], ["(none)"], []):
        rows = ET.fromstring(board.function("Component", path, *seed)).iter("Component")
        key = b"1234" if seed == ["31323334"] else b""
        assert [(row.get("Name"), row.get("Checksum")) for row in rows] == [(path, digest(CODE[path], key))]


def test_a_board_without_sha_1_says_that_it_takes_sha_256(board, monkeypatch):
    monkeypatch.setattr(gat_report, "_new", hashlib.sha256)
    monkeypatch.setattr(gat_report, "_KEYED", "HMAC-SHA256")
    report = board.calculate(1, b"1234")
    assert rows(report) == expected(b"1234", "sha256")
    assert "Algorithm: HMAC-SHA256\r\n" in report


@pytest.mark.parametrize("row", VECTORS["digests"], ids=lambda row: row["algorithm"])
def test_digests_are_the_published_ones(row):
    made = Digest(hashlib.sha1 if "1" in row["algorithm"][-2:] else hashlib.sha256, bytes.fromhex(row["key"]))
    made.update(bytes.fromhex(row["data"]))
    assert made.hex() == row["digest"]


def test_a_file_altered_between_two_calculations_changes_its_digest_alone(board):
    before = rows(board.calculate(1, b"1234"))
    (board.root / "image/device/drbg.mpy").write_bytes(b"DRBG" * 128)
    after = rows(board.calculate(1, b"1234"))
    assert {path for path in CODE if before[path] != after[path]} == {"/image/device/drbg.mpy"}
    assert after["/image/device/drbg.mpy"] == digest(b"DRBG" * 128, b"1234")


def test_a_file_that_joined_is_listed_and_one_that_went_is_not(board):
    (board.root / "image/stray & <x>.py").write_bytes(b"x")
    (board.root / "hashlib.py").write_bytes(b"y")
    (board.root / "image/crc").unlink()
    files = {**CODE, "/image/stray & <x>.py": b"x", "/hashlib.py": b"y"}
    del files["/image/crc"]
    assert rows(board.calculate(1)) == expected(files=files)
    root = ET.fromstring(board.function("Get File", "AuthenticationResponse.xml"))
    assert {row.get("Name") for row in root.iter("Component")} == set(files)


def test_special_functions_list_every_component(board):
    root = ET.fromstring(board.function("Get Special Functions"))
    found = [[row.text for row in function] for function in root.iter("Function")]
    assert {row[1] for row in found if row[0] == "Component"} == set(CODE)
    assert {row[0] for row in found} == {"Get Special Functions", "Get File", "Component"}


# -- files


def test_a_file_that_runs_here_is_given(board):
    for path, data in CODE.items():
        given = ET.fromstring(board.function("Get File", path))
        assert (given.get("Name"), base64.b64decode(given.text)) == (path, data)


NOT_GIVEN = ["/data/a", "/data/gat0", "/image/../data/a", "data/a", "//data/a", "/boot", "/image", "/image/none.mpy"]


@pytest.mark.parametrize("path", NOT_GIVEN)
@pytest.mark.parametrize("function", ["Get File", "Component"])
def test_no_other_file_is_given_or_digested(board, path, function):
    reason = board.fails(0xBA, f"\0{function}\t{path}".encode())
    assert ET.fromstring(reason).text == f"no component {path}"
    assert SECRET not in reason.encode()
    assert base64.b64encode(SECRET)[:20] not in reason.encode()


def test_nothing_of_data_is_in_any_report(board):
    assert "/data" not in board.calculate(1)
    assert "/data" not in board.function("Get Special Functions")


def test_a_file_over_8_kb_is_not_given_but_digested(board):
    (board.root / "image/main.mpy").write_bytes(b"x" * 8193)
    assert "longer than 8192 bytes" in board.fails(0xBA, b"\0Get File\t/image/main.mpy")
    assert digest(b"x" * 8193) in board.function("Component", "/image/main.mpy")
    (board.root / "image/main.mpy").write_bytes(b"x" * 8192)
    assert len(base64.b64decode(ET.fromstring(board.function("Get File", "/image/main.mpy")).text)) == 8192


# -- X(h): what can't be read


def break_reading(board, monkeypatch, path: str) -> None:
    good = gat_report.open

    def opened(name, mode):
        if name == path:
            raise OSError(5)
        return good(name, mode)

    monkeypatch.setattr(gat_report, "open", opened)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_file_that_cant_be_read_is_an_error_with_the_reason(board, monkeypatch, seed):
    break_reading(board, monkeypatch, "/image/device/generator.mpy")
    assert board.fails(1, seed) == "Error: /image/device/generator.mpy can't be read: OSError(5)\r\n"
    reason = board.fails(0xBA, b"\0Get File\tAuthenticationResponse.xml")
    assert "/image/device/generator.mpy can't be read" in ET.fromstring(reason).text


def test_an_image_that_cant_be_listed_is_an_error(board):
    (board.root / "image/empty").mkdir()
    assert "empty folder" in board.fails(1)


def test_an_error_is_left_by_the_next_calculation(board, monkeypatch):
    with monkeypatch.context() as broken:
        break_reading(board, broken, "/boot.py")
        board.fails(1)
    assert rows(board.calculate(1)) == expected()


# -- a piece at a time


def test_no_turn_reads_more_than_512_bytes_and_the_main_loop_is_asked_back_at_once(board, monkeypatch):
    read = []
    good = gat_report.open

    class Counted:
        def __init__(self, name, mode):
            self.file = good(name, mode)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def readinto(self, chunk):
            read.append(len(chunk))
            return self.file.readinto(chunk)

    monkeypatch.setattr(gat_report, "open", Counted)
    board.ask(4, b"\1")
    while board.wire.ok is None:
        before = len(read)
        board.turn()
        # the end of one file, and the start of the next
        assert sum(read[before:]) <= 1024
        if board.wire.ok is None:
            assert board.wire.next() <= board.now
    assert board.wire.next() > board.now


def test_idle_it_asks_for_no_turn(board):
    board.turn()
    assert board.wire.next() > board.now + 500


def test_a_status_is_answered_in_the_middle_of_a_calculation(board):
    board.ask(4, b"\1")
    while board.wire.work:
        board.turn()
        if board.wire.work:
            assert board.status() == 9
            board.now += 20


# -- where it lasts


def test_the_last_result_outlasts_a_power_cut(board):
    report = board.calculate(1, b"1234")
    board.start(500)
    assert board.send(STATUS) == IDLE
    assert board.result(1).decode() == report
    board.today += 5
    assert board.ask(2) == b"\x82\x01\0\0\0\5"


def test_its_age_over_a_power_cut_is_unknown_without_a_calendar(board):
    board.calculate(1)
    board.today = None
    board.start(500)
    assert board.send(LAST_STATUS) == FRAMES["device", "last: level 1, at an unknown time"]
    board.calculate(1)
    board.today = 1_700_000_000
    board.start(500)
    assert board.send(LAST_STATUS) == FRAMES["device", "last: level 1, at an unknown time"]


def test_a_calendar_that_went_back_tells_no_age(board):
    board.calculate(1)
    board.today -= 10
    board.start(500)
    assert board.ask(2)[2:] == b"\xff" * 4


def test_one_write_a_calculation_and_done_is_said_after_it(board):
    for n in range(1, 5):
        board.ask(4, b"\1" + bytes((n,)))
        writes = board.files.writes
        while board.files.writes == writes:
            assert board.status() in (1, 9)
            board.turn(20)
        assert board.status() == 6
        board.turn(1000)
        assert board.files.writes == n


def torn(data: bytes) -> list[bytes]:
    half = len(data) // 2
    rest = len(data) - half
    return [b"", data[:half], data[:half] + bytes(rest), data[:half] + b"\xff" * rest, data[:10]]


def test_a_write_torn_by_a_cut_leaves_the_result_before(board):
    for n in range(6):
        report = board.calculate(1, bytes((n + 1,)))
        written = board.root / f"data/gat{n & 1}"  # the one that is next
        whole = board.files.read(f"gat{n + 1 & 1}")
        for data in torn(whole):
            written.write_bytes(data)
            board.start(500)
            assert board.result(1).decode() == report


def test_a_cut_in_a_calculation_leaves_the_result_before_and_says_idle(board):
    report = board.calculate(1, b"1234")
    board.ask(4, b"\1other")
    for _ in range(5):
        board.turn()
    board.start(500)
    assert board.send(STATUS) == IDLE
    assert board.result(1).decode() == report


def test_one_altered_byte_of_the_record_makes_it_nobodys(board):
    board.calculate(1)
    path = board.root / "data/gat1"
    good = path.read_bytes()
    for at in (0, 4, 8, 12, 13, 14, 15, 16, 200, len(good) - 1):
        path.write_bytes(good[:at] + bytes((good[at] ^ 1,)) + good[at + 1 :])
        board.start(500)
        assert board.send(LAST_STATUS) == FRAMES["device", "last: none"]


def test_no_write_falls_into_a_frame_that_is_received_or_sent(board):
    board.ask(4, b"\1")
    while board.wire.ok is None:
        board.turn()
    board.send(STATUS)
    for _ in range(8):  # eight bytes take 8.3 ms
        board.turn()
    assert board.files.writes == 0
    board.send(STATUS[:2])
    for _ in range(5):
        board.turn(8)
    assert board.files.writes == 0
    board.send(STATUS[2:])
    board.turn(20)
    assert board.files.writes == 1


def test_a_result_that_cant_be_stored_is_an_error_of_the_device(board, monkeypatch):
    def full(name, data):
        raise OSError(28)

    monkeypatch.setattr(board.files, "write", full)
    assert "can't be stored: OSError(28)" in board.fails(1)
    assert board.events == [("store_error", "OSError(28)")]


# -- parts of a result


def test_the_parts_are_248_bytes_and_the_last_says_so(board):
    report = board.calculate(1, b"1234").encode()
    parts = -(-len(report) // 248)
    assert parts > 2
    assert board.ask(3, b"\1" + parts.to_bytes(2, "big"))[1] == 2
    assert board.ask(3, b"\1" + (parts - 1).to_bytes(2, "big"))[1] == 0
    assert board.ask(3, b"\1\0\2") == b"\x83\0\0\2" + report[248:496]
    assert board.ask(3, b"\1\0\2") == b"\x83\0\0\2" + report[248:496]


@pytest.mark.parametrize("number", [0, 9, 256, 65535])
def test_a_part_that_there_isnt_is_refused(board, number):
    board.calculate(1)
    assert board.ask(3, b"\1" + number.to_bytes(2, "big")) == b"\x83\4" + number.to_bytes(2, "big")


def test_frame_9_is_refused_as_the_vectors_have_it(board):
    board.calculate(1)
    assert board.send(frame(3, b"\1\0\x09")) == FRAMES["device", "results, frame 9 refused"]


def test_a_result_is_given_in_its_own_format_only(board):
    board.calculate(1)
    for form in (0, 2, 3):
        assert board.ask(3, bytes((form,)) + b"\0\1") == b"\x83\4\0\1"


def test_no_part_is_given_while_the_next_result_is_made(board):
    board.calculate(1)
    board.ask(4, b"\1")
    assert board.ask(3, b"\1\0\1") == b"\x83\4\0\1"
    board.turn()
    assert board.ask(3, b"\1\0\1") == b"\x83\4\0\1"


def test_nothing_is_ever_asked_of_the_device(board):
    board.calculate(1)
    board.function("Get Special Functions")
    board.wire.tick(board.now + 100_000)
    assert board.events == []


# -- memory, and a host that never pauses


def test_a_report_is_held_in_pages_however_long_it_is(board):
    for n in range(100):
        (board.root / f"image/another_{n}.mpy").write_bytes(b"x")
    board.function("Get Special Functions")
    pages = board.wire.result._pages
    assert len(pages) > 40
    assert {len(page) for page in pages[:-1]} == {248}
    board.start(500)
    assert [bytes(page) for page in pages] == [board.wire._kept().page(n) for n in range(len(pages))]


def test_a_host_that_asks_without_a_pause_gets_its_result_too(board):
    board.ask(4, b"\1")
    started = board.now
    while board.status() != 6:
        board.turn()
        assert board.now - started < 2000
    assert board.files.writes == 1


def test_every_file_is_read_into_the_same_memory(board, monkeypatch):
    good, into = gat_report.open, []

    class Watched:
        def __init__(self, name, mode):
            self.file = good(name, mode)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def readinto(self, chunk):
            into.append(chunk.obj)
            return self.file.readinto(chunk)

    monkeypatch.setattr(gat_report, "open", Watched)
    board.calculate(1)
    assert len(into) > 2 * len(CODE)
    assert all(memory is into[0] for memory in into)

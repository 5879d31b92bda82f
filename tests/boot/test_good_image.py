"""A good image boots after every kind of reset, and gets what the boot block promises."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from boot_bench import Bench
from pitbench.deadline import Deadline
from pitbench.image import build_image, install
from pitbench.signature import image_crc
from pitbench.sources import FIRMWARE

WRAP = 1 << 30


@pytest.mark.parametrize("cause", ["power", "watchdog", "soft", "host"])
def test_a_good_image_boots_and_learns_the_cause(start, cause):
    assert start(cause).line() == b"READY %s\n" % cause.encode()


def test_the_application_is_told_who_the_board_is(start, image):
    bench = start()
    bench.line()
    facts = json.loads(bench.tell("facts"))
    assert facts["crc"] == f"{image.crc:04x}"
    assert facts["digest"] == image.digest
    assert facts["path"] == ["/image"]
    assert (facts["board"], facts["boot_block"], facts["reset"]) == ("unix", "filesystem", "power")
    assert "responder" not in facts["modules"]


def test_the_boot_block_leaves_the_heap_to_the_application(start):
    bench = start()
    bench.line()
    assert json.loads(bench.tell("facts"))["free"] > 150_000


def test_two_boards_have_two_unique_ids(start, tmp_path, root):
    shutil.copytree(root, tmp_path / "other")
    first, second = start(), Bench(tmp_path / "other", "power")
    try:
        ids = [json.loads((bench.line(), bench.tell("facts"))[1])["uid"] for bench in (first, second)]
    finally:
        second.close()
    assert len(set(ids)) == 2
    assert all(len(uid) == 16 for uid in ids)


def test_the_signature_can_be_checked_again_in_small_steps(start, image):
    bench = start()
    bench.line()
    again = json.loads(bench.tell("signature"))
    assert again["result"] == [True, ""]
    assert again["crc"] == image.crc
    assert again["steps"] >= sum(len(data) for data in image.image_files.values()) // 1024


def test_the_signature_sees_an_image_that_changes_while_it_runs(start, root):
    bench = start()
    bench.line()
    path = root / "image" / "main.mpy"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    assert json.loads(bench.tell("signature"))["result"][0] is False


@pytest.mark.parametrize(("seed", "width"), [(0, 16), (0x1234, 16), (0, 32), (0x1234, 32)])
def test_seeded_checksums_equal_the_pcs(start, image, seed, width):
    bench = start()
    bench.line()
    assert int(bench.tell(f"checksum {seed} {width}")) == image_crc(image.image_files, seed, width)


@pytest.mark.parametrize("how", ["soft", "watchdog", "power", "host"])
def test_an_intended_reset_is_told_at_the_next_start(start, how):
    bench = start()
    bench.line()
    assert bench.tell(f"restart {how}") == b"READY %s\n" % how.encode()
    assert bench.board.boots == 2
    facts = json.loads(bench.tell("facts"))
    assert (facts["cause"], facts["mark"]) == (how, how)


def test_a_mark_is_used_once(start, root):
    bench = start()
    bench.line()
    bench.tell("restart soft")
    assert not (root / "data" / "boot").exists()


def test_a_cut_that_the_board_asks_for_stays_off(start):
    bench = start()
    bench.line()
    os.write(bench.link, b"cut\n")
    bench.board.wait_off(Deadline(5.0))
    bench.board.power_on()
    assert bench.line() == b"READY power\n"


def test_an_application_that_crashes_is_reset_then_left_inoperable(start):
    bench = start()
    bench.line()
    for _ in range(2):
        assert bench.tell("crash") == b"READY crash\n"
    os.write(bench.link, b"crash\n")
    reply = retry_hello(bench)
    assert "failed 3 times in a row: ValueError" in reply["ok"]["inoperable"]
    assert bench.ask(do="status")["ok"]["standing"] == ["failure"]
    bench.board.reset("watchdog")
    assert bench.ask(do="status")["ok"]["standing"] == ["failure"]
    bench.board.cut()
    bench.board.power_on()
    assert bench.line() == b"READY power\n"


def retry_hello(bench) -> dict:
    end = time.monotonic() + 5
    while bench.board.boots < 4 and time.monotonic() < end:
        time.sleep(0.01)
    return bench.ask(do="hello", session=1)


def test_an_application_that_returns_is_a_failure_too(start, image, root, tmp_path):
    patched = build_image(
        "bill-acceptor",
        "bench",
        tmp_path / "out",
        sources=with_main(tmp_path, FIRMWARE, "def run(boot):\n    pass\n"),
    )
    install(patched, root)
    bench = start()
    assert "main.run returned" in retry_hello(bench)["ok"]["inoperable"]


def with_main(folder: Path, firmware: Path, text: str) -> Path:
    shutil.copytree(firmware, folder / "fw", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "fw" / "main.py").write_text(text)
    return folder / "fw"


def test_ticks_wrap_as_on_a_board_and_start_near_it(start):
    bench = start()
    bench.line()
    assert WRAP - 20_000 <= int(bench.tell("ticks")) < WRAP


def test_a_stray_module_in_the_root_is_never_imported(start, root):
    # It shadows the built-in for anybody who asks for `hashlib`; found as an extra file as well.
    (root / "hashlib.py").write_text("raise SystemExit\n")
    (root / "struct.py").write_text("raise SystemExit\n")
    assert "extra file /hashlib.py" in start().ask(do="hello")["ok"]["inoperable"]


def test_a_board_without_a_data_folder_makes_it(start, root):
    (root / "data").rmdir()
    assert start().line() == b"READY power\n"
    assert (root / "data").is_dir()


def test_a_board_whose_bench_reads_nothing_goes_on(start):
    bench = start()
    bench.line()
    for _ in range(40):
        os.write(bench.link, b"x " * 60 + b"\n")
        time.sleep(0.002)
    bench.receive(bench.link, lambda data: False, 0.3)
    assert bench.tell("ticks").strip().isdigit()


def test_a_closed_host_costs_no_processor_time(start):
    bench = start()
    bench.line()
    os.close(bench.wire)
    before = cpu_seconds(bench.board.pid)
    time.sleep(0.5)
    assert cpu_seconds(bench.board.pid) - before < 0.1
    bench.wire = os.open(bench.board.wire_path, os.O_RDWR | os.O_NOCTTY)
    assert bench.tell("ticks").strip().isdigit()


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

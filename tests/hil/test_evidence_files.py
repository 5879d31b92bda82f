import json
import subprocess
import time
from pathlib import Path

import pytest
from pitbench_hil.durable import EvidenceError, Lines, read_lines, write_whole
from pitbench_hil.lateness import Metronome
from pitbench_hil.manifest import renew_entry, verify_manifest, write_manifest
from pitbench_hil.masking import mask_text, mask_value, mask_wire
from pitbench_hil.records import NOT_IDENTIFIED, Record, facts_of
from pitbench_hil.trace_file import TraceFile
from pitbench_hil.verdict import Expectation, Measurement

NUMBER = "123456789012345678"
MASKED = "**************5678"


def everything_under(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.is_file())


def test_numbers_are_masked_and_digests_are_not():
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert mask_text(f"voucher {NUMBER}, digest {digest}") == f"voucher {MASKED}, digest {digest}"
    assert mask_text("1234567890123456789012345678901234567890").endswith("*7890")
    assert mask_value({"barcodes": [NUMBER], "n": int(NUMBER), "now": 1073741824}) == {
        "barcodes": [MASKED],
        "n": MASKED,
        "now": 1073741824,
    }


def test_a_number_in_hex_is_masked_in_text_too():
    spaced = NUMBER.encode().hex(" ")
    assert spaced[:8] not in mask_text(f"received fc 18 13 6f {spaced}")
    assert NUMBER.encode().hex() not in mask_text(f"received {NUMBER.encode().hex()}")


def test_wire_bytes_keep_their_length():
    frame = b"\xfc\x17\x13\x6f" + NUMBER.encode() + b"\x12\x34"
    masked = mask_wire(frame)
    assert masked == b"\xfc\x17\x13\x6f" + MASKED.encode() + b"\x12\x34"


@pytest.mark.parametrize("port", ["wire", "link"])
@pytest.mark.parametrize("cut", range(1, len(NUMBER)))
def test_a_number_split_over_two_reads_is_masked(tmp_path, port, cut):
    data = b'{"barcode":"' + NUMBER.encode() + b'"}\n'
    trace = TraceFile(tmp_path / "t.jsonl")
    trace(1.0, port, "from_board", data[: 12 + cut])
    trace(1.5, port, "to_board", b"\x01")
    trace(2.0, port, "from_board", data[12 + cut :])
    trace.close()
    rows = [row for row in read_lines(tmp_path / "t.jsonl") if row["dir"] == "from_board"]
    whole = "".join(row.get("text") or bytes.fromhex(row["hex"]).decode() for row in rows)
    assert whole == data.decode().replace(NUMBER, MASKED)
    assert [row["t"] for row in rows] == [1.0, 2.0]


def test_what_waits_in_a_trace_is_written_at_its_end(tmp_path):
    trace = TraceFile(tmp_path / "t.jsonl")
    trace(1.0, "wire", "to_board", b"A1")
    trace.close()
    assert [row["hex"] for row in read_lines(tmp_path / "t.jsonl")] == ["41 31"]


def test_a_record_is_on_file_as_it_happens_and_a_torn_last_line_is_left_out(tmp_path):
    record = Record(tmp_path, "a", {"test": "t", "rules": ["R"], "image": "bench", "needs": []})
    record.measure(Measurement("accepted", 1, "items"), None)
    path = tmp_path / "records" / "a.jsonl"
    assert [row["kind"] for row in read_lines(path)] == ["start", "measure"]
    path.write_text(path.read_text()[:-10])
    assert [row["kind"] for row in read_lines(path)] == ["start"]
    assert not facts_of(read_lines(path), "R").finished


def test_no_file_of_a_record_holds_a_whole_number(tmp_path):
    record = Record(tmp_path, "a", {"test": "t", "rules": ["R"], "image": "bench", "needs": []})
    record.add("stimulus", text=f"voucher {NUMBER}", data={"barcode": NUMBER, "raw": NUMBER.encode()})
    record.expect(Expectation("number", NUMBER, "9" + NUMBER[1:]), None)
    record.trace(1.0, "wire", "from_board", NUMBER.encode())
    record.close()
    assert NUMBER not in everything_under(tmp_path)
    assert NUMBER.encode().hex(" ") not in everything_under(tmp_path)
    # Masked they look alike; that they differed is still known.
    assert not facts_of(read_lines(tmp_path / "records" / "a.jsonl"), "R").expectations[0].holds


def test_a_row_that_names_a_rule_bears_on_that_rule_alone(tmp_path):
    record = Record(tmp_path, "a", {"test": "t", "rules": ["R", "S"], "image": "bench", "needs": []})
    record.expect(Expectation("both", 1, 1), None)
    record.expect(Expectation("one", 1, 2), "R")
    assert [e.name for e in record.facts("S").expectations] == ["both"]
    assert [e.name for e in record.facts("R").expectations] == ["both", "one"]


def test_a_test_that_used_a_board_and_never_named_it_proves_nothing(tmp_path):
    record = Record(tmp_path, "a", {"test": "t", "rules": ["R"], "image": "bench", "needs": ["wire"]})
    assert record.facts("R").skipped == NOT_IDENTIFIED
    record.add("identity", identity={}, rung="unix", pc={})
    assert record.facts("R").skipped is None


def test_a_full_disk_is_one_clear_sentence(tmp_path):
    (tmp_path / "full.jsonl").symlink_to("/dev/full")
    lines = Lines(tmp_path / "full.jsonl")
    with pytest.raises(EvidenceError, match=r"The disk is full: .*full\.jsonl could not be written\. Free some space"):
        lines.add({"kind": "note"})


def test_a_file_is_put_in_place_whole(tmp_path, monkeypatch):
    write_whole(tmp_path / "run.json", "old")

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(EvidenceError, match="disk is full"):
        write_whole(tmp_path / "run.json", "new")
    assert (tmp_path / "run.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_the_manifest_finds_every_kind_of_change_and_sha256sum_reads_it(tmp_path):
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).write_text(name)
    write_manifest(tmp_path)
    assert verify_manifest(tmp_path) == []
    subprocess.run(["sha256sum", "-c", "--strict", "manifest.sha256"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "a").write_text("A")
    (tmp_path / "b").unlink()
    (tmp_path / "e").write_text("e")
    assert verify_manifest(tmp_path) == ["b is missing", "e was added", "a was altered"]


def test_renewing_one_entry_leaves_other_alterations_visible(tmp_path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "report.html").write_text("r")
    write_manifest(tmp_path)
    (tmp_path / "a").write_text("A")
    (tmp_path / "report.html").write_text("R")
    renew_entry(tmp_path, "report.html")
    assert verify_manifest(tmp_path) == ["a was altered"]


def test_what_json_does_not_know_is_kept_as_text(tmp_path):
    lines = Lines(tmp_path / "x.jsonl")
    lines.add({"kind": "note", "data": {"raw": b"\xfc\x05", "set": {1}, "path": Path("x")}})
    lines.close()
    row = json.loads((tmp_path / "x.jsonl").read_text())
    assert row["data"]["raw"] == "fc 05"
    assert row["data"]["set"] == [1]


def test_a_busy_pc_is_seen_by_the_metronome():
    metronome = Metronome()
    start = time.monotonic()
    # One bytecode that holds the interpreter lock for long: no other thread runs meanwhile.
    sum(range(10**7))
    busy = time.monotonic() - start
    worst = metronome.worst_since(start)
    metronome.stop()
    assert worst > busy / 2
    assert metronome.worst_since(time.monotonic() + 60) < worst

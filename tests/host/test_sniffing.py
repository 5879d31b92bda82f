"""What crosses a wire in words: pieces joined by time and direction, traces read line by line, numbers masked."""

from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pitbench import cli
from pitbench.errors import PitbenchError
from pitbench.protocols import names, protocol_named
from pitbench.sniffing import EITHER, GAP_S, Row, Sniffer, rows_of
from pitbench.transport import FROM_BOARD, TO_BOARD
from pitbench.virtual.ptys import PtyPort

POLL, IDLE = bytes.fromhex("fc05112756"), bytes.fromhex("fc05112756")
VOUCHER = bytes.fromhex("fc17136f313233343536373839303132333435363738")


def sniffed(rows: list[Row], protocol: str = "id003") -> list[str]:
    sniffer = Sniffer(protocol_named(protocol))
    lines = [line for row in rows for line in sniffer.take(row)]
    return [line.rpartition("   ")[2] for line in lines + sniffer.flush()]


def test_a_frame_in_pieces_is_one_line() -> None:
    rows = [Row(number * GAP_S, TO_BOARD, POLL[number : number + 1]) for number in range(len(POLL))]
    assert sniffed(rows) == ["status request"]


def test_a_pause_ends_a_frame() -> None:
    assert sniffed([Row(0, TO_BOARD, POLL[:2]), Row(1.01 * GAP_S, TO_BOARD, POLL[2:])]) == ["damaged", "damaged"]


def test_sides_are_told_apart() -> None:
    assert sniffed([Row(0, TO_BOARD, POLL), Row(0.001, FROM_BOARD, IDLE)]) == ["status request", "idle"]


def test_a_tap_on_one_line_says_what_either_side_would_mean() -> None:
    assert sniffed([Row(0, EITHER, POLL)]) == ["host: status request; device: idle"]


def test_frames_in_one_piece_are_all_said() -> None:
    assert sniffed([Row(0, TO_BOARD, POLL + bytes.fromhex("fc05402b15"))]) == ["status request, reset"]


def test_frames_are_said_one_by_one_as_they_end() -> None:
    sniffer = Sniffer(protocol_named("id003"))
    reset = bytes.fromhex("fc05402b15")
    first = sniffer.take(Row(0, TO_BOARD, POLL + reset[:2]))
    second = sniffer.take(Row(0.001, TO_BOARD, reset[2:]))
    assert [line.rpartition("   ")[2] for line in first + second] == ["status request", "reset"]
    assert sniffer.flush() == []


def vectors(name: str) -> list[dict[str, str]]:
    path = Path(__file__).parents[1] / "vectors" / f"{name}.json"
    rows: list[dict[str, str]] = json.loads(path.read_text()).get("frames", [])
    return rows


@pytest.mark.parametrize("name", names())
def test_every_known_frame_has_words(name: str) -> None:
    rows = vectors(name)
    assert rows
    for row in rows:
        to_board = row["from"] != "device"
        said = sniffed([Row(0, TO_BOARD if to_board else FROM_BOARD, bytes.fromhex(row["hex"]))], name)
        assert said not in ([], [""], ["damaged"]), row


def test_a_number_is_never_shown() -> None:
    sniffer = Sniffer(protocol_named("id003"))
    row = Row(0, FROM_BOARD, VOUCHER + b"\x00\x00")
    (line,) = [*sniffer.take(row), *sniffer.flush()]
    assert "31 32 33 34" not in line + row.json()
    assert "35 36 37 38" in line
    assert line.endswith("damaged")
    assert sniffed(list(rows_of([row.json()], "x"))) == ["a masked number"]


ROWS = [
    {"t": 1.5, "port": "link", "dir": "to_board", "text": "{}"},
    {"t": 2.0, "port": "wire", "dir": "to_board", "hex": POLL.hex(" ")},
    {"t": 2.01, "port": "wire", "dir": "from_board", "hex": IDLE.hex()},
]


def test_a_trace_is_said_with_its_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS) + "\n")
    assert cli.main(["sniff", str(path)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split() == ["2.000", ">", "fc", "05", "11", "27", "56", "status", "request"]
    assert second.split() == ["2.010", "<", "fc", "05", "11", "27", "56", "idle"]


def test_a_trace_is_read_in_order_of_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in reversed(ROWS)))
    assert cli.main(["sniff", str(path)]) == 0
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == [">", "<"]


def test_stdin_is_a_trace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(ROWS[1])))
    assert cli.main(["sniff", "-"]) == 0
    assert "status request" in capsys.readouterr().out


NO_ROWS = (
    "{",
    "[1]",
    '{"t": NaN, "dir": "to_board", "hex": "00"}',
    '{"t": 1, "dir": "up", "hex": "00"}',
    '{"t": 1, "dir": "to_board", "hex": "0g"}',
)


@pytest.mark.parametrize("line", NO_ROWS)
def test_a_line_that_is_no_row_is_named(line: str) -> None:
    with pytest.raises(PitbenchError, match="x, line 2 is no row of a trace"):
        list(rows_of([json.dumps(ROWS[1]), line], "x"))


@pytest.mark.parametrize("words", [["sniff"], ["sniff", "-", "--host", "/dev/x"]])
def test_what_to_listen_to_is_asked_for(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    assert "What is to be listened to?" in capsys.readouterr().err


@pytest.fixture
def line() -> Iterator[PtyPort]:
    port = PtyPort()
    yield port
    port.close()


def test_a_port_is_heard_and_recorded(line: PtyPort, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.jsonl"
    over = threading.Event()

    def speak() -> None:
        while not over.wait(2 * GAP_S):
            os.write(line.master, POLL)

    speaker = threading.Thread(target=speak)
    speaker.start()
    try:
        assert cli.main(["sniff", line.path, "--record", str(record), "--seconds", "0.5"]) == 0
    finally:
        over.set()
        speaker.join()
    assert "host: status request; device: idle" in capsys.readouterr().out
    with record.open() as lines:
        assert b"".join(row.data for row in rows_of(lines, "record"))[:5] == POLL

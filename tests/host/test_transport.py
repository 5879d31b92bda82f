"""Ports: who may open them, what is said when they cannot be used, what the trace keeps."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import serial
from pitbench.deadline import Deadline
from pitbench.link import LinkClient
from pitbench.patience import open_when_free
from pitbench.protocols.id003 import FRAMING
from pitbench.trace import Trace
from pitbench.transport import (
    FROM_BOARD,
    TO_BOARD,
    PortAbsent,
    PortBusy,
    PortDenied,
    TransportError,
    TransportGone,
    TransportStuck,
    _open_error,
    open_transport,
)
from pitbench.virtual import VirtualBoard
from pitbench.virtual.ptys import PtyPort


@pytest.fixture
def port() -> Iterator[PtyPort]:
    port = PtyPort()
    yield port
    port.close()


def test_bytes_pass_both_ways_unchanged(port: PtyPort) -> None:
    every = bytes(range(256))
    with open_transport(port.path) as transport:
        transport.write(every)
        assert os.read(port.master, 1000) == every
        os.write(port.master, every)
        assert transport.read(1.0) == every


def test_read_returns_nothing_at_its_timeout(port: PtyPort) -> None:
    with open_transport(port.path) as transport:
        assert transport.read(0.01) == b""


def test_an_absent_port_is_named() -> None:
    with pytest.raises(PortAbsent, match="/dev/nothing-here"):
        open_transport("/dev/nothing-here")


def test_a_port_of_somebody_else_is_named() -> None:
    # Tests may run as root, who is denied nothing: the mapping alone is looked at.
    error = _open_error("/dev/ttyX", PermissionError(13, "Permission denied"))
    assert isinstance(error, PortDenied)
    assert "dialout" in str(error)


def test_a_url_that_is_none_is_said() -> None:
    with pytest.raises(TransportError, match="cannot be opened"):
        open_transport("nonsense://x")


def test_two_benches_on_one_port(port: PtyPort) -> None:
    with open_transport(port.path), pytest.raises(PortBusy, match="in use by another bench"):
        open_transport(port.path)
    open_transport(port.path).close()


def test_the_other_bench_is_named_by_its_process(port: PtyPort) -> None:
    hold = "import sys; from pitbench.transport import open_transport; port = open_transport(sys.argv[1])\n"
    command = [sys.executable, "-c", hold + "print(1, flush=True); sys.stdin.read()", port.path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(PortBusy, match=f"process {other.pid}"):
            open_transport(port.path)
        other.communicate()


def test_a_port_that_is_soon_free_is_waited_for(port: PtyPort) -> None:
    holder = open_transport(port.path)
    with pytest.raises(PortBusy):
        open_when_free(port.path, Deadline(0.05))
    holder.close()
    open_when_free(port.path, Deadline(0.05)).close()


def test_a_port_that_goes_away_is_said(make_board: Callable[..., VirtualBoard]) -> None:
    board = make_board()
    link = LinkClient(open_transport(board.link_path))
    link.hello()
    board.stop()
    with pytest.raises(TransportGone, match="went away"):
        link.do("status")


def test_a_port_unplugged_while_it_is_read_is_said(port: PtyPort, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_transport(port.path) as transport:
        os.write(port.master, b"x")
        # What Linux hands out for a USB adapter that was pulled: ready to read, and nothing there.
        monkeypatch.setattr("pitbench.transport.os.read", lambda descriptor, size: b"")
        with pytest.raises(TransportGone, match="went away"):
            transport.read(1.0)


def test_a_board_that_takes_nothing_is_said(port: PtyPort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pitbench.transport.WRITE_TIMEOUT_S", 0.05)
    with open_transport(port.path) as transport, pytest.raises(TransportStuck, match="took no bytes"):
        transport.write(b"x" * 1_000_000)


def test_a_long_write_arrives_whole(port: PtyPort) -> None:
    import threading

    data, got = bytes(range(256)) * 200, bytearray()

    def board() -> None:
        os.set_blocking(port.master, True)
        while len(got) < len(data):
            got.extend(os.read(port.master, 4096))

    reader = threading.Thread(target=board)
    reader.start()
    with open_transport(port.path) as transport:
        transport.write(data)
        reader.join(5)
    assert bytes(got) == data


def test_the_trace_keeps_both_ports_in_order_of_time() -> None:
    trace, link, wire = Trace(), PtyPort(), PtyPort()
    with (
        open_transport(link.path, name="link", trace=trace) as one,
        open_transport(wire.path, name="wire", trace=trace) as two,
    ):
        one.write(b"ask\n")
        os.write(wire.master, b"\xfc\x05")
        assert two.read(1.0) == b"\xfc\x05"
    kept = [(record.port, record.direction, record.data) for record in trace.records]
    assert kept == [("link", TO_BOARD, b"ask\n"), ("wire", FROM_BOARD, b"\xfc\x05")]
    assert trace.records[0].time <= trace.records[1].time
    assert trace.records[1].line().endswith("wire < fc 05")
    link.close()
    wire.close()


def test_a_url_port_works_without_a_descriptor() -> None:
    with open_transport("loop://") as transport:
        transport.write(b"hello")
        assert transport.read(1.0) == b"hello"
        assert transport.read(0.01) == b""


def test_a_pty_can_be_opened_again_and_again_with_parity(board):
    for _ in range(3):
        open_transport(board.wire_path, name="wire", framing=FRAMING).close()


def test_a_strange_host_can_open_a_freshened_pty_with_parity(board):
    for _ in range(3):
        board.freshen_ports()
        serial.Serial(board.wire_path, 9600, parity="E").close()


@pytest.mark.parametrize("what", ["folder", "file", "device"])
def test_what_is_no_serial_port_is_said(what: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    path = {"folder": tmp_path, "file": tmp_path / "file", "device": Path("/dev/null")}[what]
    with pytest.raises(TransportError, match=f"{path} is no serial port"):
        open_transport(str(path))

"""A port on any machine: pty, raw TCP and RFC 2217 carry bytes both ways, and a host may come and go."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import serial
from pitbench import cli
from pitbench.bridging import Bridge, PtySide, Side, TcpSide
from pitbench.commands.bridge import Ear
from pitbench.errors import PitbenchError
from pitbench.sniffing import Row
from pitbench.transport import FROM_BOARD, TO_BOARD, open_transport
from pitbench.virtual.ptys import PtyPort

ASKED, ANSWERED = bytes(range(256)), bytes(reversed(range(256)))
# A side that fell silent has broken: nothing here takes so long.
LOST_S = 20.0


@pytest.fixture
def board() -> Iterator[PtyPort]:
    port = PtyPort()
    yield port
    port.close()


def heard(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size and select.select([descriptor], [], [], LOST_S)[0]:
        data += os.read(descriptor, size)
    return data


@contextmanager
def bridged(board: PtyPort, kind: str, rows: list[Row] | None = None) -> Iterator[Side]:
    over = threading.Event()
    with open_transport(board.path) as port:
        side: Side = (
            PtySide() if kind == "pty" else TcpSide("127.0.0.1", 0, port.pyserial if kind == "rfc2217" else None)
        )
        bridge = Bridge(port, side, rows.append if rows is not None else None)
        thread = threading.Thread(target=bridge.run, args=(lambda: not over.is_set(),))
        thread.start()
        try:
            yield side
        finally:
            over.set()
            thread.join()
            side.close()


@pytest.mark.parametrize("kind", ["pty", "tcp", "rfc2217"])
def test_bytes_cross_both_ways(board: PtyPort, kind: str) -> None:
    with bridged(board, kind) as side, serial.serial_for_url(side.address, timeout=LOST_S) as host:
        host.write(ASKED)
        assert heard(board.master, len(ASKED)) == ASKED
        os.write(board.master, ANSWERED)
        assert host.read(len(ANSWERED)) == ANSWERED


def test_a_host_of_rfc_2217_sets_the_line(board: PtyPort) -> None:
    with bridged(board, "rfc2217") as side:
        assert side.address.startswith("rfc2217://127.0.0.1:")
        with serial.serial_for_url(side.address, baudrate=19200, timeout=LOST_S) as host:
            host.write(b"\xff\xff")
            assert heard(board.master, 2) == b"\xff\xff"
        # The next host finds the port, whatever the last one left.
        with serial.serial_for_url(side.address, baudrate=9600, timeout=LOST_S) as host:
            host.write(b"again")
            assert heard(board.master, 5) == b"again"


def test_our_own_ports_open_what_a_bridge_offers(board: PtyPort) -> None:
    with bridged(board, "rfc2217") as side, open_transport(side.address) as host:
        host.write(ASKED)
        assert heard(board.master, len(ASKED)) == ASKED


def test_a_record_that_finds_no_room_ends_and_the_bridge_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    # What it still holds when it is closed can't be written either.
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as record:
        ear = Ear(None, record)
        for _ in range(2):
            ear(Row(0, TO_BOARD, b"asked"))
    assert capsys.readouterr().err.count("the record ends here") == 1


def test_a_host_that_left_is_followed_by_the_next(board: PtyPort) -> None:
    with bridged(board, "tcp") as side:
        address = ("127.0.0.1", int(side.address.rpartition(":")[2]))
        for word in (b"first", b"second"):
            with socket.create_connection(address, timeout=LOST_S) as host:
                host.sendall(word)
                assert heard(board.master, len(word)) == word
        os.write(board.master, b"to nobody")


def test_what_crosses_is_told(board: PtyPort) -> None:
    rows: list[Row] = []
    with bridged(board, "pty", rows) as side, serial.serial_for_url(side.address, timeout=LOST_S) as host:
        host.write(b"asked")
        assert heard(board.master, 5) == b"asked"
        os.write(board.master, b"told")
        assert host.read(4) == b"told"
    for direction, data in ((TO_BOARD, b"asked"), (FROM_BOARD, b"told")):
        assert b"".join(row.data for row in rows if row.direction == direction) == data


def test_an_address_in_use_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PitbenchError, match="Nothing can listen"):
        TcpSide("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize("address", ["here", "127.0.0.1:", "1:70000"])
def test_what_is_no_address_is_said(board: PtyPort, address: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bridge", board.path, "--tcp", address]) == 2
    assert f"{address} is no address to listen at" in capsys.readouterr().err


def test_the_command_says_where_the_port_is(board: PtyPort, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "trace.jsonl"
    assert cli.main(["bridge", board.path, "--tcp", "0", "--seconds", "0", "--record", str(record)]) == 0
    assert f"{board.path} is at socket://127.0.0.1:" in capsys.readouterr().out
    assert record.read_text() == ""

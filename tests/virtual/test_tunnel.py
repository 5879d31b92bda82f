"""A wire over the link, on a board with one port: the same host, the same answers, and what nobody reads is dropped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial
from pitbench import items
from pitbench.bridging import Bridge, PtySide
from pitbench.image import build_image
from pitbench.link import LinkError
from pitbench.protocols.id003 import Command, Decoder, Status, encode
from pitbench.targets import Board, open_target, prove_same_board
from pitbench.tunnel import PIECE, open_tunnel
from pitbench_hil.acceptor import AcceptorBench

TARGET = "unix:,wire=link"
POLL = encode(Command.STATUS_REQUEST)
VERSION = encode(Command.VERSION)
LOST_S = 20.0


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    with open_target(TARGET, root=tmp_path / "board") as board:
        yield board


def test_a_note_is_sold_over_the_tunnel_and_power_comes_and_goes(board: Board) -> None:
    assert "ID003" in prove_same_board(board)
    bench = AcceptorBench(board)
    bench.start()
    bench.stack(items.genuine(20))
    assert bench.truth()["values"] == {"2000": 1}
    bench.power_cycle()
    assert bench.status().cmd == Status.POWER_UP


def test_more_than_a_line_holds_goes_in_pieces(board: Board) -> None:
    board.wire.write(POLL * (PIECE // len(POLL)) + VERSION)
    assert frames(board)[-1] == Command.VERSION


def frames(board: Board) -> list[int]:
    decoder, found, silent = Decoder(), list[int](), 0
    while silent < 3:
        data = board.wire.read(0)
        silent = 0 if data else silent + 1
        found += [frame.cmd for frame in decoder.feed(data)]
    return found


def test_what_nobody_reads_is_dropped_and_the_next_answer_comes(board: Board) -> None:
    for _ in range(100):
        board.link.do("wire", hex=POLL.hex())
    board.wire.flush_input()
    board.wire.write(POLL)
    assert frames(board) == [Status.POWER_UP]


@pytest.mark.parametrize("text", ["0", "zz"])
def test_what_is_no_hex_is_refused(board: Board, text: str) -> None:
    with pytest.raises(LinkError, match="bad_args"):
        board.link.do("wire", hex=text)


def test_a_board_with_two_ports_has_no_such_operation(tmp_path: Path) -> None:
    with open_target("unix:", root=tmp_path / "board") as board, pytest.raises(LinkError, match="unknown_op"):
        board.link.do("wire")


def test_an_inoperable_board_answers_over_the_tunnel(tmp_path: Path) -> None:
    image = build_image("bill-acceptor", "bench", tmp_path / "image", tunnel=True)
    root = tmp_path / "board"
    with open_target(TARGET, image=image, root=root) as board:
        board.cut()
        (root / "image" / "main.mpy").write_bytes(b"M")
        board.power_on()
        assert board.identity["inoperable"]
        board.wire.write(POLL)
        assert frames(board) == [Status.FAILURE]


def test_a_host_of_another_program_has_a_port_by_the_bridge(board: Board) -> None:
    assert board.virtual is not None
    board.link.close()
    over = threading.Event()
    with open_tunnel(board.virtual.link_path) as wire:
        side = PtySide()
        thread = threading.Thread(target=Bridge(wire, side).run, args=(lambda: not over.is_set(),))
        thread.start()
        try:
            with serial.serial_for_url(side.address, timeout=LOST_S) as host:
                host.write(POLL)
                assert Decoder().feed(host.read(len(POLL)))[0].cmd == Status.POWER_UP
        finally:
            over.set()
            thread.join()
            side.close()

"""Boards that run a small double of the firmware, on the real interpreter and real ports."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from double_root import lay_root
from gat_double import GatDouble, Serving
from pitbench.link import LinkClient
from pitbench.transport import open_transport
from pitbench.virtual import VirtualBoard, find_interpreter
from pitbench.virtual.ptys import PtyPort


@pytest.fixture
def make_board(tmp_path: Path) -> Iterator[Callable[..., VirtualBoard]]:
    boards = []

    def make(main: str | None = None) -> VirtualBoard:
        boards.append(VirtualBoard(lay_root(tmp_path, main), find_interpreter("unix")))
        boards[-1].start()
        return boards[-1]

    yield make
    for board in boards:
        board.stop()


@pytest.fixture
def board(make_board: Callable[..., VirtualBoard]) -> VirtualBoard:
    return make_board()


@pytest.fixture
def link(board: VirtualBoard) -> Iterator[LinkClient]:
    client = LinkClient(open_transport(board.link_path))
    yield client
    client.close()


@pytest.fixture
def gat_double() -> GatDouble:
    return GatDouble()


@pytest.fixture
def gat_port(gat_double: GatDouble) -> Iterator[str]:
    """Path of a pty on which the scripted GAT device answers."""
    port = PtyPort()
    serving = Serving(gat_double, port.master)
    yield port.path
    serving.stop()
    port.close()

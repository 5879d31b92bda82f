"""Watching a board: events, state, text, and a restart after which its port has another name."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from double_root import lay_root
from fake_board import fake_board
from pitbench import usb_ports
from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.image import build_image, install
from pitbench.link import LinkClient
from pitbench.monitor import watch
from pitbench.returning import NotBack, reopened
from pitbench.transport import PortAbsent, open_transport
from pitbench.usb_ports import finder
from pitbench.virtual import VirtualBoard, find_interpreter
from serial.tools.list_ports_common import ListPortInfo


def row(device: str) -> ListPortInfo:
    info = ListPortInfo(device)
    info.vid, info.pid, info.serial_number, info.location = 0x2E8A, 5, "E66", "1-1:1.0"
    return info


def boards_in_turn(tmp_path: Path) -> Iterator[VirtualBoard]:
    """The same board before and after a restart that renames its port: another pty on the same flash."""
    root = lay_root(tmp_path)
    while True:
        with VirtualBoard(root, find_interpreter("unix")) as board:
            yield board


@pytest.fixture
def turns(tmp_path: Path) -> Iterator[Iterator[VirtualBoard]]:
    boards = boards_in_turn(tmp_path)
    yield boards
    boards.close()  # type: ignore[attr-defined]


def test_a_restart_that_renames_the_port_is_followed(
    turns: Iterator[VirtualBoard], monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = [next(turns).link_path]
    monkeypatch.setattr(usb_ports.list_ports, "comports", lambda: [row(port) for port in ports])
    find = finder(ports[0])
    with open_transport(ports[0]) as before:
        assert LinkClient(before).reconnect(Deadline(10))["boot"] == 1
        ports.clear()
        board = next(turns)
        assert find() is None
        ports.append(board.link_path)
    identity, port = reopened(find, Deadline(10), lambda transport: LinkClient(transport).hello())
    assert (identity["boot"], port) == (2, board.link_path)


def test_a_board_that_stays_away_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usb_ports.list_ports, "comports", lambda: [])
    with pytest.raises(NotBack, match="did not come back in time: its port is gone"):
        reopened(lambda: None, Deadline(0.2), lambda transport: True)
    with pytest.raises(NotBack, match="There is no port /dev/nowhere"):
        reopened(lambda: "/dev/nowhere", Deadline(0.2), lambda transport: True)


@pytest.fixture(scope="module")
def acceptor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualBoard]:
    folder = tmp_path_factory.mktemp("acceptor")
    install(build_image("bill-acceptor", "bench", folder / "image"), folder / "flash")
    with VirtualBoard(folder / "flash", find_interpreter("unix")) as board:
        yield board


def test_events_and_state_are_shown(acceptor: VirtualBoard) -> None:
    stopped, seen = threading.Event(), []
    for line in watch(lambda: acceptor.link_path, stopped):
        seen.append(line)
        if line.startswith("state "):
            stopped.set()
    assert "pitbench 0.1.0, bill-acceptor, boot 1 (power)" in seen[0]
    assert "power_on" in seen[1]
    assert "light" in seen[-1]


def test_a_port_that_goes_and_comes_is_followed(tmp_path: Path, acceptor: VirtualBoard) -> None:
    stopped, seen = threading.Event(), []
    with VirtualBoard(lay_root(tmp_path), find_interpreter("unix")) as first:
        where = [first.link_path, acceptor.link_path]
        for line in watch(lambda: where[0], stopped):
            seen.append(line)
            if "boot 1" in line and "double" in line:
                del where[0]
                first.stop()
            if "bill-acceptor" in line:
                stopped.set()
    assert any(line.endswith("is gone; waiting for the board") for line in seen)
    assert seen[-1].startswith(acceptor.link_path)


def test_the_text_of_a_prompt_is_shown(tmp_path: Path) -> None:
    stopped = threading.Event()
    with fake_board(tmp_path / "flash") as board:
        lines = watch(lambda: board.link_path, stopped)
        assert "MicroPython prompt; what it writes follows" in next(lines)


def test_a_port_that_was_never_there_is_said() -> None:
    with pytest.raises(PitbenchError, match="not plugged in"):
        next(watch(lambda: None, threading.Event()))
    with pytest.raises(PortAbsent, match="/dev/nowhere"):
        next(watch(lambda: "/dev/nowhere", threading.Event()))


def test_a_port_that_stays_away_is_said_once(acceptor: VirtualBoard) -> None:
    where, looks = [acceptor.link_path, *["/dev/nowhere"] * 3], []
    stopped, seen = threading.Event(), []

    def find() -> str:
        looks.append(where.pop(0) if len(where) > 1 else where[0])
        if len(looks) > 4:
            stopped.set()
        return looks[-1]

    for line in watch(find, stopped):
        seen.append(line)
        if line.startswith("state "):
            acceptor.stop()
    assert [line for line in seen if "is gone" in line] == [f"{acceptor.link_path} is gone; waiting for the board"]

"""Targets by their strings; a board that is opened through one; the proof that its ports are one board."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from double_root import lay_root
from pitbench import usb_ports
from pitbench.addresses import Target, parse_target, port_of
from pitbench.errors import BeyondRig, PitbenchError, UnknownName
from pitbench.targets import Board, NotOneBoard, open_target, prove_same_board
from pitbench.trace import Trace
from pitbench.transport import PortAbsent, PortBusy
from pitbench.virtual import VirtualBoard


@pytest.fixture
def double(tmp_path: Path) -> Iterator[Board]:
    with open_target("unix:", root=lay_root(tmp_path), trace=Trace()) as board:
        yield board


@pytest.mark.parametrize(("text", "kind"), [("virtual", None), ("unix:", "unix"), ("wasm:", "wasm"), ("unix", "unix")])
def test_virtual_targets(text: str, kind: str | None) -> None:
    assert parse_target(text) == Target(text, True, kind)


@pytest.mark.parametrize(
    ("text", "link", "wire"),
    [
        ("/dev/ttyACM0,wire=/dev/ttyUSB0", "/dev/ttyACM0", "/dev/ttyUSB0"),
        ("usb:E66,wire=usb:FT1", "usb:E66", "usb:FT1"),
        ("COM5,wire=COM6", "COM5", "COM6"),
        ("rfc2217://rack:4000,wire=socket://rack:4001", "rfc2217://rack:4000", "socket://rack:4001"),
    ],
)
def test_real_targets(text: str, link: str, wire: str) -> None:
    assert parse_target(text) == Target(text, False, None, link, wire)


@pytest.mark.parametrize(
    ("text", "uf2"), [("emu", ""), ("emu:", ""), ("emu:rp2.uf2", "rp2.uf2"), ("emu:/a/b.uf2", "/a/b.uf2")]
)
def test_emulated_targets(text: str, uf2: str) -> None:
    assert parse_target(text) == Target(text, True, "emu", uf2=uf2)


@pytest.mark.parametrize("text", ["", "pico", "unix:x", "emulator", "emulator:", "emux"])
def test_an_unknown_target_gets_the_choices(text: str) -> None:
    with pytest.raises(UnknownName, match="unix:, wasm:"):
        parse_target(text)


def test_an_unknown_option_gets_the_choices() -> None:
    with pytest.raises(UnknownName, match="wire=PORT"):
        parse_target("/dev/ttyACM0,baud=9600")


def test_a_target_without_a_wire_is_said() -> None:
    with pytest.raises(PitbenchError, match="wire=PORT"):
        parse_target("/dev/ttyACM0")


def test_usb_ports_are_found_by_serial_number(monkeypatch: pytest.MonkeyPatch) -> None:
    ports = [SimpleNamespace(serial_number="E66", device="/dev/ttyACM7", location="1-1")]
    monkeypatch.setattr(usb_ports.list_ports, "comports", lambda: ports)
    assert port_of("usb:E66") == "/dev/ttyACM7"
    with pytest.raises(PitbenchError, match="Plugged in now: E66"):
        port_of("usb:E67")


def test_a_virtual_board_opens_ready(double: Board) -> None:
    assert double.rung == "unix"
    assert double.identity["device"] == "double"


def test_power_goes_and_comes(double: Board) -> None:
    double.cut()
    assert double.power_on()["boot"] == 2
    assert double.identity["boot"] == 2


def test_closing_ends_the_board(tmp_path: Path) -> None:
    with open_target("unix:", root=lay_root(tmp_path)) as board:
        virtual = board.virtual
    assert virtual is not None
    assert not virtual.alive


def test_a_board_that_does_not_run_says_why(tmp_path: Path) -> None:
    root = lay_root(tmp_path, main="import nowhere")
    with pytest.raises(PitbenchError, match="no module named 'nowhere'"):
        open_target("unix:", root=root, timeout=0.1)


def test_ports_of_another_bench_are_refused(double: Board) -> None:
    assert double.virtual
    with pytest.raises(PortBusy):
        open_target(f"{double.virtual.link_path},wire={double.virtual.wire_path}")


def test_an_absent_wire_gives_the_link_back(make_board) -> None:
    board: VirtualBoard = make_board()
    for _ in range(2):
        with pytest.raises(PortAbsent, match="/dev/nothing"):
            open_target(f"{board.link_path},wire=/dev/nothing")


def test_a_real_port_is_a_board_whose_power_we_cannot_cut(make_board) -> None:
    virtual: VirtualBoard = make_board()
    with open_target(f"{virtual.link_path},wire={virtual.wire_path}") as board:
        assert board.rung == "board"
        assert "C0DE" in prove_same_board(board)
        with pytest.raises(BeyondRig, match="can't cut"):
            board.cut()


def test_link_and_wire_of_one_board(double: Board) -> None:
    assert "C0DE" in prove_same_board(double)


def test_another_image_on_the_wire_is_noticed(double: Board) -> None:
    double.link.identity["crc"] = "beef"
    with pytest.raises(NotOneBoard, match="beef"):
        prove_same_board(double)


def test_another_board_on_the_wire_is_noticed(double: Board, tmp_path: Path) -> None:
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    with open_target("unix:", root=lay_root(other_folder)) as other:
        mixed = Board(double.target, "unix", double.link, other.wire)
        with pytest.raises(NotOneBoard, match="counted 0"):
            prove_same_board(mixed)


def test_a_silent_wire_is_noticed(double: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pitbench.targets.WIRE_ANSWER_S", 0.05)
    monkeypatch.setattr(double.wire, "write", lambda data: None)
    with pytest.raises(NotOneBoard, match="nothing answered"):
        prove_same_board(double)


def test_an_inoperable_board_is_said_before_anything_is_proved(double: Board) -> None:
    double.link.identity["inoperable"] = "image does not match its signature"
    with pytest.raises(PitbenchError, match="inoperable: image does not match"):
        prove_same_board(double)

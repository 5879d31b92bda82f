"""Boards that are plugged in: by ids and serial numbers, with a fake USB bus and pyserial's own rows."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_board import fake_board
from fake_usb import FakeBus, FakeDevice, FakeHub
from pitbench import discovery, probing, usb_ports
from pitbench.cli import main
from pitbench.commands import boards as boards_command
from pitbench.commands import flash as flash_command
from pitbench.discovery import IN_BOOT_ROM, NO_PORT, Found, find_boards
from pitbench.errors import PitbenchError
from pitbench.link import encode_line
from pitbench.probing import BUSY, DENIED, FIRMWARE, PROMPT, SILENT, Running, what_answers, what_runs
from pitbench.repl import open_repl
from pitbench.transport import open_transport
from pitbench.usb_ports import finder, port_of_serial
from pitbench.virtual import VirtualBoard
from serial.tools.list_ports_common import ListPortInfo

PICO = (0x2E8A, 0x0005)
NO_USB = FakeBus()


def row(device: str, ids: tuple[int, int] | None, serial: str | None = None, place: str = "1-1:1.0") -> ListPortInfo:
    info = ListPortInfo(device)
    info.vid, info.pid = ids or (None, None)
    info.serial_number, info.location, info.product = serial, place, "Board in FS mode"
    return info


def found(*rows: ListPortInfo, bus: FakeBus = NO_USB, runs: Running | None = None) -> list[Found]:
    return find_boards(comports=lambda: rows, backend=bus, look=lambda port: runs or Running(SILENT))


def test_boards_are_found_by_their_ids() -> None:
    rows = [row("/dev/ttyS0", None), row("/dev/ttyUSB0", (0x0403, 0x6001), "FT1"), row("/dev/ttyACM3", PICO, "E66")]
    (board,) = found(*rows)
    assert (board.serial, board.port, board.ids) == ("E66", "/dev/ttyACM3", "2E8A:0005")
    assert "rpi-pico" in board.names
    assert "rp2040-emulated" not in board.names


def test_two_ports_of_one_device_are_one_board() -> None:
    rows = [row("/dev/ttyACM0", PICO, "E66", "1-1.2:1.2"), row("/dev/ttyACM1", PICO, "E66", "1-1.2:1.0")]
    (board,) = found(*rows)
    assert board.ports == ("/dev/ttyACM1", "/dev/ttyACM0")


def test_boards_without_a_serial_number_are_told_apart_by_where_they_hang() -> None:
    rows = [row("/dev/ttyACM0", PICO, None, "1-1:1.0"), row("/dev/ttyACM1", PICO, None, "1-2:1.0")]
    assert [board.port for board in found(*rows)] == ["/dev/ttyACM0", "/dev/ttyACM1"]


def test_a_chip_in_its_boot_rom_is_shown() -> None:
    bus = FakeBus(FakeDevice((0x2E8A, 0x0003), "E0C9"), FakeDevice((0x1D6B, 0x0002), "hub"))
    (board,) = found(bus=bus)
    assert (board.serial, board.port, board.runs.kind) == ("E0C9", "", IN_BOOT_ROM)
    assert "drop a UF2" in boards_command.table([board])


def test_a_board_without_a_port_is_shown_once() -> None:
    bus = FakeBus(FakeDevice(PICO, "E66"), FakeDevice(PICO, "E77"))
    boards = found(row("/dev/ttyACM0", PICO, "E66"), bus=bus)
    assert [(board.serial, board.port, board.runs.kind) for board in boards] == [
        ("E66", "/dev/ttyACM0", SILENT),
        ("E77", "", NO_PORT),
    ]
    assert "2E8A:0005 E77: the system gave it no serial port." in boards_command.table(boards)


def test_a_device_that_may_not_be_read_is_no_second_board() -> None:
    bus = FakeBus(FakeDevice(PICO, "E66", denied=True))
    assert len(found(row("/dev/ttyACM0", PICO, "E66"), bus=bus)) == 1


def test_a_hub_is_no_board() -> None:
    assert found(bus=FakeBus(FakeHub())) == []


def test_boards_that_share_their_ids_are_said() -> None:
    boards = found(row("/dev/ttyACM0", (0xF055, 0x9802), "2071"))
    assert len(boards[0].names) > 1
    text = boards_command.table(boards)
    assert " or ".join(boards[0].names) in text
    assert "F055:9802: these boards share their USB ids" in text


def test_firmware_tells_which_of_them_it_is() -> None:
    shared = found(row("/dev/ttyACM0", (0xF055, 0x9802)))[0].names
    told = Running(FIRMWARE, {"board": shared[0], "device": "bill-acceptor", "version": "0.1.0", "image": "bench"})
    (board,) = found(row("/dev/ttyACM0", (0xF055, 0x9802)), runs=told)
    assert board.names == (shared[0],)
    assert "pitbench 0.1.0, bill-acceptor (bench image)" in boards_command.table([board])


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[VirtualBoard]:
    with fake_board(tmp_path / "flash") as board:
        yield board


def test_the_prompt_tells_which_of_them_it_is(fake: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_repl(fake.link_path, "") as repl:
        machine = repl.facts().machine
    monkeypatch.setattr(discovery, "board_facts", lambda name: {"machine": machine if name == "two" else "another"})
    monkeypatch.setattr(discovery, "known_ids", lambda fact: {"F055:9802": ["one", "two"]})
    (board,) = find_boards(comports=lambda: [row(fake.link_path, (0xF055, 0x9802))], backend=NO_USB)
    assert (board.runs.kind, board.names) == (PROMPT, ("two",))


def test_a_busy_port_names_its_holder(fake: VirtualBoard) -> None:
    with open_transport(fake.link_path):
        runs = what_runs(fake.link_path)
    assert (runs.kind, "is in use by" in runs.why) == (BUSY, True)
    assert runs.why in boards_command.table([Found("E66", "2E8A:0005", ("rpi-pico",), (fake.link_path,), "", runs)])


def test_a_port_without_permission_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def denied(*args: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pitbench.transport.serial.serial_for_url", denied)
    runs = what_runs("/dev/ttyACM0")
    assert (runs.kind, "dialout" in runs.why) == (DENIED, True)


def test_the_port_of_a_serial_number() -> None:
    rows = [row("/dev/ttyACM1", PICO, "E66", "1-1:1.2"), row("/dev/ttyACM0", PICO, "E66", "1-1:1.0")]
    rows += [row("/dev/ttyUSB0", (1, 2), "FT1", "1-2")]
    assert port_of_serial("E66", lambda: rows) == "/dev/ttyACM0"
    assert port_of_serial("E66#2", lambda: rows) == "/dev/ttyACM1"
    with pytest.raises(PitbenchError, match="FT1 has one serial port only"):
        port_of_serial("FT1#2", lambda: rows)
    with pytest.raises(PitbenchError, match="has the serial number E67. Plugged in now: E66, FT1"):
        port_of_serial("E67", lambda: rows)


def test_a_serial_number_of_several_devices_is_said() -> None:
    rows = [row("/dev/ttyUSB0", (1, 2), "0001", "1-1"), row("/dev/ttyUSB1", (1, 2), "0001", "1-2")]
    with pytest.raises(
        PitbenchError, match="Several USB devices have the serial number 0001: /dev/ttyUSB0, /dev/ttyUSB1"
    ):
        port_of_serial("0001", lambda: rows)


def test_a_renamed_port_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row("/dev/ttyACM0", PICO, "E66", "1-1:1.0"), row("/dev/ttyACM1", PICO, "E66", "1-1:1.2")]
    monkeypatch.setattr(usb_ports.list_ports, "comports", lambda: rows)
    first, second, elsewhere = finder("/dev/ttyACM0"), finder("/dev/ttyACM1"), finder("/dev/pts/7")
    rows = [row("/dev/ttyACM2", PICO, "E66", "1-1:1.0"), row("/dev/ttyACM5", PICO, "E66", "1-1:1.2")]
    assert (first(), second(), elsewhere()) == ("/dev/ttyACM2", "/dev/ttyACM5", "/dev/pts/7")
    rows = []
    assert (first(), second()) == (None, None)


def test_nothing_plugged_in_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(boards_command, "find_boards", lambda: [])
    assert main(["boards"]) == 1
    assert "No board is plugged in" in capsys.readouterr().out


def test_boards_for_programs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told = Running(FIRMWARE, {"device": "bill-acceptor", "boot": 3})
    monkeypatch.setattr(boards_command, "find_boards", lambda: found(row("/dev/ttyACM3", PICO, "E66"), runs=told))
    assert main(["boards", "--json"]) == 0
    (record,) = json.loads(capsys.readouterr().out)
    assert record["target"] == "usb:E66"
    assert record["runs"]["boot"] == 3


def test_one_board_of_several_has_to_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = found(row("/dev/ttyACM0", PICO, "E66"), row("/dev/ttyACM1", PICO, "E67", "1-2:1.0"))
    monkeypatch.setattr(flash_command, "find_boards", lambda look: boards)
    with pytest.raises(
        PitbenchError, match="2 boards can be a rpi-pico: /dev/ttyACM0, /dev/ttyACM1. Choose with --port"
    ):
        flash_command.found_ports("rpi-pico", False)
    assert flash_command.found_ports("rpi-pico", True) == ["/dev/ttyACM0", "/dev/ttyACM1"]
    with pytest.raises(PitbenchError, match="No teensy-4.1 with a serial port is plugged in"):
        flash_command.found_ports("teensy-4.1", True)


def test_a_board_in_its_boot_rom_cannot_be_flashed_by_file(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = found(bus=FakeBus(FakeDevice((0x2E8A, 0x0003), "E0C9")))
    monkeypatch.setattr(flash_command, "find_boards", lambda look: boards)
    with pytest.raises(PitbenchError, match="A rpi-pico is plugged in, in its boot ROM"):
        flash_command.found_ports("rpi-pico", False)


class SlowFirmware:
    """A port whose firmware answers only after the third question, to each of the lines before."""

    url = name = "slow"

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.answers = [
            encode_line({"id": 0, "ok": {"device": "bill-acceptor", "session": 1}}),
            encode_line({"id": None, "err": {"code": "bad_crc", "why": "CRC"}}),
        ]

    def read(self, timeout: float) -> bytes:
        return self.answers.pop(0) if len(self.asked) == 3 and self.answers else b""

    def write(self, data: bytes) -> None:
        self.asked.append(data)

    def flush_input(self) -> None:
        return

    def close(self) -> None:
        return


def test_slow_firmware_is_heard_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HELLO_S", "PROMPT_S", "LAST_S"):
        monkeypatch.setattr(probing, name, 0.05)
    port = SlowFirmware()
    assert what_answers(port).identity["device"] == "bill-acceptor"
    assert port.answers == []

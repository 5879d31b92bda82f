"""The rig around a real board: its lines, told as a supervisor tells them, and power that is really cut or not."""

import os
import select
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from double_root import lay_root
from fake_usb import FakeBus, FakeDevice, FakeHub
from pitbench import real_rig, usb_ports
from pitbench.addresses import Target, parse_target
from pitbench.deadline import Deadline, DeadlinePassed
from pitbench.errors import BeyondRig, PitbenchError
from pitbench.framing import Framing
from pitbench.hub import HubPower
from pitbench.real_rig import HubSupply, RealRig, open_rig
from pitbench.rig_line import RigLine
from pitbench.targets import Board, open_target
from pitbench.transport import TransportGone, open_transport
from pitbench.virtual import VirtualBoard, find_interpreter
from pitbench.virtual.ptys import PtyPort, open_port

SECONDS = 3.0


class BoardSide:
    """The far end of the rig's line, as the board has it."""

    def __init__(self, port: PtyPort) -> None:
        self.port = port
        self.heard = b""

    def says(self, text: str) -> None:
        os.write(self.port.master, text.encode())

    def hears(self, lines: int) -> list[str]:
        deadline = Deadline(SECONDS)
        while self.heard.count(b"\n") < lines and not deadline.passed:
            if select.select([self.port.master], [], [], deadline.remaining)[0]:
                self.heard += os.read(self.port.master, 4096)
        *whole, self.heard = self.heard.split(b"\n")
        return [line.decode() for line in whole]


@pytest.fixture
def board_side() -> Iterator[BoardSide]:
    port = open_port()
    yield BoardSide(port)
    port.close()


@pytest.fixture
def cuts() -> list[str]:
    return []


@pytest.fixture
def line(board_side: BoardSide, cuts: list[str]) -> Iterator[RigLine]:
    line = RigLine(open_transport(board_side.port.path, name="rig"), lambda: cuts.append("cut"))
    yield line
    line.close()


def test_a_world_that_nobody_told_is_new(line: RigLine, board_side: BoardSide) -> None:
    board_side.says("world?\n")
    assert board_side.hears(1) == ["world"]


def test_the_world_is_kept_as_it_was_told_last(line: RigLine, board_side: BoardSide) -> None:
    board_side.says('world {"x":1}\nworld {"x"')
    board_side.says(":2}\nworld?\n")
    assert board_side.hears(1) == ['world {"x":2}']
    board_side.says("world null\nworld?\n")
    assert board_side.hears(1) == ["world null"]


def test_a_fault_is_told_once_before_the_world(line: RigLine, board_side: BoardSide) -> None:
    line.around.fault_at_start(2, "torn_ff")
    board_side.says("world?\nworld?\n")
    assert board_side.hears(3) == ["fault 2 torn_ff", "world", "world"]


def test_sensors_are_set_by_lines(line: RigLine, board_side: BoardSide) -> None:
    line.pins("entry", 1)
    line.adc("optical", 40, 200, 60, 90)
    assert board_side.hears(2) == ["pin entry 1", "adc optical 40 200 60 90"]


def test_sound_parts_answer_what_a_release_image_drives(line: RigLine, board_side: BoardSide) -> None:
    line.around.responder.broken.add("home")
    board_side.says("out transport_motor -1\nout stack_motor 1\nout nonsense\n")
    assert board_side.hears(2) == ["pin moving 1", "pin chute 0"]


def test_noise_is_no_order(line: RigLine, board_side: BoardSide, cuts: list[str]) -> None:
    board_side.says("\xff\xfe\nwor?\ncu\ncut\nworld?\n")
    assert board_side.hears(1) == ["world"]
    assert cuts == ["cut"]


def test_a_line_that_broke_is_said_by_the_next_use() -> None:
    class Gone:
        def read(self, timeout: float) -> bytes:
            raise TransportGone("The rig's port went away.")

        def close(self) -> None:
            return

    line: Any = RigLine(Gone(), lambda: None)  # type: ignore[arg-type]
    line._thread.join(SECONDS)
    with pytest.raises(TransportGone):
        line.pins("entry", 1)


# -- power ------------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(real_rig, "AWAY_S", 0.2)
    monkeypatch.setattr(real_rig, "OFF_S", 0.0)


class World:
    """A virtual board that hangs on port 3 of a fake hub; `feeds_by` is what else may feed it."""

    def __init__(self, board: VirtualBoard, *, lies: bool = False) -> None:
        self.board = board
        self.hub = FakeHub(FakeHub(), 1, lies=lies)
        assert self.hub.parent
        bus = FakeBus(self.hub.parent, self.hub, FakeDevice((0x2E8A, 5), "E66", self.hub, 3))
        self.power = HubPower("E66", bus)
        self.moves_boot = True
        off, on = self.power.off, self.power.on

        def cut() -> None:
            off()
            if self.moves_boot and not self.hub.feeds(3):
                board.cut()

        def give() -> None:
            on()
            board.power_on()

        self.power.off, self.power.on = cut, give  # type: ignore[method-assign]

    def open(self, held: ExitStack) -> Board:
        board = held.enter_context(open_target(f"{self.board.link_path},wire={self.board.wire_path}"))
        board.real = RealRig(HubSupply(self.power))
        held.callback(board.real.close)
        return board


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as held:
        yield held


@pytest.fixture
def virtual(tmp_path: Path) -> Iterator[VirtualBoard]:
    with VirtualBoard(lay_root(tmp_path), find_interpreter("unix")) as board:
        yield board


def test_a_cut_at_the_hub_is_a_new_boot(virtual: VirtualBoard, held: ExitStack) -> None:
    board = World(virtual).open(held)
    before = board.identity["boot"]
    board.cut()
    assert not board.has_power
    assert not virtual.alive
    assert board.power_on()["boot"] == before + 1
    assert board.cut_kind == "hub port 3 of hub 0BDA:5411"


def test_a_hub_that_goes_on_feeding_is_said(virtual: VirtualBoard, held: ExitStack) -> None:
    board = World(virtual, lies=True).open(held)
    with pytest.raises(
        PitbenchError, match="port 3 of hub 0BDA:5411 was switched off, and the board stayed on the bus"
    ):
        board.cut()
    assert board.has_power


def test_a_cut_that_moves_no_boot_counter_does_not_count(virtual: VirtualBoard, held: ExitStack) -> None:
    world = World(virtual)
    world.moves_boot = False
    board = world.open(held)
    board.cut()
    with pytest.raises(PitbenchError, match="boot counter stayed 1"):
        board.power_on()


def test_a_board_that_asks_to_be_cut_is_cut(virtual: VirtualBoard, held: ExitStack, board_side: BoardSide) -> None:
    board = World(virtual).open(held)
    assert board.real
    board.real.attach(RigLine(open_transport(board_side.port.path, name="rig"), board.real.asked_to_cut))
    with pytest.raises(DeadlinePassed):
        board.real.wait_off(Deadline(0.05))
    board_side.says("cut\n")
    board.real.wait_off(Deadline(SECONDS))
    board.cut()
    assert not virtual.alive
    assert board.power_on()["boot"] == 2


def test_a_hub_that_fails_a_board_which_asked_is_said_later(
    virtual: VirtualBoard, held: ExitStack, board_side: BoardSide
) -> None:
    board = World(virtual, lies=True).open(held)
    assert board.real
    board.real.asked_to_cut()
    with pytest.raises(PitbenchError, match="stayed on the bus"):
        board.power_on()


def test_the_power_is_back_at_the_end(virtual: VirtualBoard) -> None:
    with ExitStack() as held:
        World(virtual).open(held).cut()
        assert not virtual.alive
    assert virtual.alive


def test_what_a_rig_can_do(line: RigLine) -> None:
    supply: Any = SimpleNamespace(place="hub port 1", is_on=True)
    bare, fed = RealRig(None), RealRig(supply)
    assert (bare.caps, fed.caps) == ((), ())
    for rig in (bare, fed):
        rig.attach(line)
    assert (bare.caps, fed.caps) == (("pins",), ("power", "pins"))
    wired = RealRig(supply, frozenset({"entry"}))
    wired.attach(line)
    assert wired.caps == ("power",)


def test_what_a_rig_cannot_do_is_said() -> None:
    rig = RealRig(None)
    for ask in (
        rig.cut,
        lambda: rig.pins("entry", 1),
        lambda: rig.power_on("watchdog"),
        lambda: rig.fault_at_start(1, ""),
    ):
        with pytest.raises(BeyondRig, match="The rig of this target can't"):
            ask()


def test_the_lines_have_the_speed_of_the_board(monkeypatch: pytest.MonkeyPatch, board_side: BoardSide) -> None:
    asked: list[Framing] = []

    def opened(url: str, name: str, framing: Framing) -> Any:
        asked.append(framing)
        return open_transport(board_side.port.path, name=name)

    monkeypatch.setattr(real_rig, "open_transport", opened)
    with ExitStack() as held:
        rig = open_rig(Target("x", False, rig="/dev/ttyUSB3"), "rpi-pico", held)
        assert asked == [Framing(921600)]
        assert rig.caps == ()


def test_a_board_without_lines_is_said(held: ExitStack) -> None:
    with pytest.raises(PitbenchError, match="The board unix has no lines for a rig"):
        open_rig(Target("x", False, rig="/dev/ttyUSB3"), "unix", held)


# -- targets ----------------------------------------------------------------------------------------------------------


def test_a_rig_and_a_hub_in_a_target() -> None:
    text = "usb:E66,wire=usb:FT1,rig=usb:FT2,power=hub"
    assert parse_target(text) == Target(text, False, None, "usb:E66", "usb:FT1", rig="usb:FT2", power="hub")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/dev/ttyACM0,wire=/dev/ttyUSB0,power=hub", "Write usb:SERIAL"),
        ("usb:E66,wire=usb:FT1,power=plug", "power=hub"),
        ("usb:E66,wire=usb:FT1,rig=", "rig=PORT"),
        ("usb:E66,rig=usb:FT2", "names no wire port"),
    ],
)
def test_a_target_that_says_too_little(text: str, words: str) -> None:
    with pytest.raises(PitbenchError, match=words):
        parse_target(text)


class Bus:
    """Serial ports as pyserial lists them: the board's name can change, and it can be away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, board: VirtualBoard, folder: Path) -> None:
        self._board, self._folder, self.number = board, folder, 0
        monkeypatch.setattr(usb_ports.list_ports, "comports", self.rows)
        self.plug()

    def plug(self) -> None:
        self.number += 1
        self.path.symlink_to(self._board.link_path)

    @property
    def path(self) -> Path:
        return self._folder / f"ttyACM{self.number}"

    def unplug(self) -> None:
        self.path.unlink()

    def rows(self) -> list[SimpleNamespace]:
        there = self.path.is_symlink()
        return [SimpleNamespace(serial_number="E66", device=str(self.path), location="1-1")] if there else []


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch, virtual: VirtualBoard, tmp_path: Path) -> Iterator[tuple[Board, Bus]]:
    bus = Bus(monkeypatch, virtual, tmp_path)
    with open_target(f"usb:E66,wire={virtual.wire_path}") as board:
        yield board, bus


def lose(board: Board, bus: Bus) -> None:
    """The port of a board that restarts: every call on it fails, and its name is gone."""
    port: Any = board.link.transport
    port._port._port.close()
    bus.unplug()


def test_a_port_that_a_restart_renamed_is_found_by_its_serial_number(
    renamed: tuple[Board, Bus], virtual: VirtualBoard
) -> None:
    board, bus = renamed
    lose(board, bus)
    virtual.reset("watchdog")
    threading.Timer(0.2, bus.plug).start()
    assert board.reconnect()["boot"] == 2
    assert board.link.transport.url.endswith("ttyACM2")
    assert board.link.do("status")


def test_a_restart_under_a_request_is_a_restart_and_no_unplugging(
    renamed: tuple[Board, Bus], virtual: VirtualBoard
) -> None:
    board, bus = renamed
    lose(board, bus)
    virtual.reset("watchdog")
    bus.plug()
    with pytest.raises(PitbenchError, match="The board rebooted"):
        board.link.do("status")
    assert board.link.do("status")


def test_an_unplugged_board_is_said(renamed: tuple[Board, Bus], monkeypatch: pytest.MonkeyPatch) -> None:
    board, bus = renamed
    monkeypatch.setattr("pitbench.targets.BACK_S", 0.2)
    lose(board, bus)
    with pytest.raises(TransportGone, match="went away in mid-run"):
        board.link.do("status")
    with pytest.raises(PitbenchError, match="link port did not come back in time: No USB serial port"):
        board.reconnect(0.2)


def test_nobody_waits_for_the_port_of_a_board_without_power(
    renamed: tuple[Board, Bus], monkeypatch: pytest.MonkeyPatch
) -> None:
    board, bus = renamed
    off: Any = SimpleNamespace(place="hub port 1", is_on=False)
    board.real = RealRig(off)
    monkeypatch.setattr(board, "_open_again", lambda deadline: pytest.fail("waited"))
    lose(board, bus)
    with pytest.raises(TransportGone):
        board.link.do("status")

"""Power at a USB hub's port: the requests, hubs that can't or won't, and what counts as a cut."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from double_root import lay_root
from fake_usb import FakeBus, FakeDevice, FakeHub
from pitbench.cli import main
from pitbench.commands import power as power_command
from pitbench.commands.power import Cut, cycle, told
from pitbench.hub import HubError, HubPower
from pitbench.virtual import VirtualBoard, find_interpreter

PICO = (0x2E8A, 0x0005)


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "cache"))


def bus_with(hub: FakeHub, *more: FakeDevice) -> FakeBus:
    root = hub.parent
    return FakeBus(*([root] if root else []), hub, FakeDevice(PICO, "E66", hub, 3), *more)


def a_hub(**settings: Any) -> FakeHub:
    return FakeHub(FakeHub(), 1, **settings)


def test_the_port_is_switched_by_the_requests_of_usb_2() -> None:
    """Tables 11-15 and 11-16: CLEAR_FEATURE is 1 and SET_FEATURE 3, to the port (0x23), PORT_POWER is 8 (11-17)."""
    hub = a_hub()
    bus = bus_with(hub)
    power = HubPower("E66", bus)
    assert (power.place, power.is_on(), power.board_is_there()) == ("port 3 of hub 0BDA:5411", True, True)
    hub.requests.clear()
    power.off()
    assert hub.requests == [(0x23, 1, 8, 3)]
    assert (power.is_on(), power.board_is_there()) == (False, False)
    hub.requests.clear()
    power.on()
    assert hub.requests == [(0x23, 3, 8, 3)]
    assert (power.is_on(), power.board_is_there()) == (True, True)


def test_a_board_that_is_off_is_found_where_it_hung() -> None:
    bus = bus_with(a_hub())
    HubPower("E66", bus).off()
    HubPower("E66", bus).on()
    assert HubPower("E66", bus).board_is_there()


def test_a_board_that_is_not_there_is_said() -> None:
    with pytest.raises(HubError, match="No USB device has the serial number E67. Plugged in now: E66"):
        HubPower("E67", bus_with(a_hub()))


def test_a_hub_that_cannot_switch_is_said() -> None:
    with pytest.raises(HubError, match="which can't switch power"):
        HubPower("E66", bus_with(a_hub(switching="none")))


def test_a_ganged_hub_takes_all_ports_off() -> None:
    hub = a_hub(switching="ganged")
    power = HubPower("E66", bus_with(hub))
    power.off()
    assert hub.off == {1, 2, 3, 4}
    assert not power.board_is_there()
    power.on()
    assert power.board_is_there()


def test_a_ganged_hub_with_others_on_it_is_left_alone() -> None:
    hub = a_hub(switching="ganged")
    with pytest.raises(HubError, match="all its ports together, and 1 more hang there"):
        HubPower("E66", bus_with(hub, FakeDevice(PICO, "E67", hub, 2)))
    assert hub.off == set()


def test_a_hub_of_usb_3_is_asked_its_own_way() -> None:
    class SuperSpeedHub(FakeHub):
        usb = 0x300

        def answer(self, kind: int, request: int, value: int, index: int) -> bytes:
            if value == 0x2A00:
                return super().answer(kind, request, 0x2900, index)
            status = super().answer(kind, request, value, index)
            return bytes([0, 2 * status[1], 0, 0]) if request == 0 else status

    power = HubPower("E66", bus_with(SuperSpeedHub(FakeHub(), 1)))
    assert power.is_on()
    power.off()
    assert not power.is_on()


def test_a_hub_that_may_not_be_opened_gets_the_rule() -> None:
    with pytest.raises(HubError, match="may not switch port 3 of hub 0BDA:5411. Add the udev rule SUBSYSTEM"):
        HubPower("E66", bus_with(a_hub(denied=True)))


class PoweredBoard:
    """A virtual board whose supply is a port of a fake hub."""

    def __init__(self, board: VirtualBoard, hub: FakeHub) -> None:
        self.power = HubPower("E66", bus_with(hub))
        self.board, self.hub = board, hub
        off, on = self.power.off, self.power.on

        def cut() -> None:
            off()
            if not hub.feeds(3):
                board.cut()

        def give() -> None:
            on()
            board.power_on()

        self.power.off, self.power.on = cut, give  # type: ignore[method-assign]

    def cycle(self) -> Cut:
        return cycle(self.power, lambda: self.board.link_path, off_s=0.05)


@pytest.fixture
def board(tmp_path: Path) -> Iterator[VirtualBoard]:
    with VirtualBoard(lay_root(tmp_path), find_interpreter("unix")) as board:
        yield board


def test_a_cut_counts_when_the_boot_counter_moved(board: VirtualBoard) -> None:
    cut = PoweredBoard(board, a_hub()).cycle()
    assert (cut.counts, cut.went, cut.after) == (True, True, (cut.before or 0) + 1)
    assert "cut the power: the board left the bus, boot 1 became 2 (power)" in told(cut, "port 3")


def test_a_hub_that_lies_is_caught(board: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power_command, "AWAY_S", 0.2)
    lying = PoweredBoard(board, a_hub(lies=True))
    cut = lying.cycle()
    assert (cut.counts, cut.went) == (False, False)
    assert "did not cut the power, whatever it says" in told(cut, "port 3")


def test_without_firmware_nothing_is_proven() -> None:
    cut = Cut(None, None, True)
    assert not cut.counts
    assert "nothing proves a cut" in told(cut, "port 3")


def test_the_power_is_back_whatever_happens(board: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    powered = PoweredBoard(board, a_hub())
    monkeypatch.setattr(power_command, "_wait", lambda happened, seconds: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        powered.cycle()
    assert powered.power.is_on()


def test_the_command_switches(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    bus = bus_with(a_hub())
    monkeypatch.setattr(power_command, "HubPower", lambda serial: HubPower(serial, bus))
    assert main(["power", "usb:E66", "off"]) == 0
    assert main(["power", "E66", "on"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "port 3 of hub 0BDA:5411 says: off",
        "port 3 of hub 0BDA:5411 says: on",
    ]

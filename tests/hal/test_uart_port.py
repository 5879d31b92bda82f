"""Wire and rig on UARTs: settings reach the hardware, writes never wait, lines come whole."""

import sys
from types import SimpleNamespace

import pytest
from board_stdio import Board, Pin, Poll, Uart, Watchdog, load

RP2 = {"WIRE": {"uart": 0, "tx": "GP0", "rx": "GP1"}, "RIG": {"uart": 1, "tx": "GP4", "rx": "GP5", "baud": 115200}}


def facts(**other: object) -> SimpleNamespace:
    return SimpleNamespace(**{**RP2, "WATCHDOG_MS": 8000, **other})


@pytest.fixture
def wire(board: Board):
    """A wire port, and its UART."""
    port = board.serial.UartPort(0, {"txbuf": 256, "rxbuf": 512})
    return port, Uart.made[-1]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ((9600, 8, "E", 1), {"baudrate": 9600, "bits": 8, "parity": 0, "stop": 1}),
        ((9600, 7, "E", 1), {"baudrate": 9600, "bits": 7, "parity": 0, "stop": 1}),
        ((9600, 8, "N", 2), {"baudrate": 9600, "bits": 8, "parity": None, "stop": 2}),
        ((19200, 8, "O", 1), {"baudrate": 19200, "bits": 8, "parity": 1, "stop": 1}),
    ],
    ids=["8E1", "7E1", "8N2", "8O1"],
)
def test_a_protocols_settings_reach_the_uart(wire, settings, expected):
    port, uart = wire
    port.configure(*settings)
    assert uart.settings == {**expected, "txbuf": 256, "rxbuf": 512}


def test_a_write_takes_what_fits_and_goes_on_when_the_line_is_idle(wire):
    port, uart = wire
    frame = bytes(range(200))
    assert port.write(frame) == 200
    assert port.write(frame) == 56
    assert port.write(frame) == 0
    assert uart.leave() == frame + frame[:56]
    assert port.write(frame) == 200


def test_what_is_there_is_read_and_nothing_is_waited_for(wire):
    port, uart = wire
    assert port.read() == b""
    uart.incoming = b"\x03\r\n\xff"
    assert port.read() == b"\x03\r\n\xff"
    assert port.read() == b""


def test_rig_lines_come_whole_and_noise_is_no_line(board):
    rig = board.serial.Rig(board.serial.UartPort(1, {"txbuf": 256, "rxbuf": 512}), 115200)
    uart = Uart.made[-1]
    assert (uart.settings["baudrate"], uart.settings["parity"]) == (115200, None)
    uart.incoming = b"pin entry 1\nadc uv"
    assert rig.read() == ["pin entry 1"]
    uart.incoming = b" 30\n\xff\xfe\n"
    assert rig.read() == ["adc uv 30", ""]
    assert rig.read() == ()
    rig.write("out emitters 0")
    assert uart.leave() == b"out emitters 0\n"


def test_a_rig_line_may_hold_a_world(board):
    rig = board.serial.Rig(board.serial.UartPort(1, {"txbuf": 256, "rxbuf": 512}), 115200)
    uart, world = Uart.made[-1], "world " + "x" * 1200
    for start in range(0, len(world), 100):
        uart.incoming = world[start : start + 100].encode()
        assert rig.read() == []
    uart.incoming = b"\n"
    assert rig.read() == [world]


def test_a_rp2_has_its_ports_on_the_boards_pins(board):
    port = load("hal/port_rp2.py", "port")
    _, _, control = port.open_ports(facts())
    pins = {uart.number: (uart.settings["tx"].name, uart.settings["rx"].name) for uart in Uart.made}
    assert pins == {0: ("GP0", "GP1"), 1: ("GP4", "GP5")}
    assert control.asks == 300
    assert port.open_ports(facts(RIG=None))[2].asks == 0


def test_the_wait_ends_with_the_first_input_on_any_port(board):
    serial = board.serial
    board.kbd_intr(-1)
    link, wire, control = serial.open_ports(facts(RIG=None), lambda row: serial.UartPort(row["uart"], {"txbuf": 256}))
    ports = (link, wire, control)
    Poll.waited.clear()
    serial.wait(ports, 100)
    assert Poll.waited == [100]
    Uart.made[-1].incoming = b"x"
    serial.wait(ports, 100)
    board.usb.host_sends(b"x")
    wire.read()
    serial.wait(ports, 100)
    assert Poll.waited == [100]


@pytest.mark.parametrize("ms", [8000, 0])
def test_the_first_feed_starts_the_watchdog(board, ms):
    port = load("hal/port_rp2.py", "port")
    port.open_ports(facts(WATCHDOG_MS=ms))
    assert Watchdog.made == []
    for _ in range(3):
        port.feed()
    assert [(dog.timeout, dog.fed) for dog in Watchdog.made] == ([(8000, 2)] if ms else [])


@pytest.mark.parametrize(
    ("port", "number", "cause"),
    [
        ("rp2", 1, "power"),
        ("rp2", 3, "watchdog"),
        ("rp2", 77, "unknown"),
        ("esp32", 2, "hard"),
        ("esp32", 5, "soft"),
        ("samd", 3, "watchdog"),
    ],
)
def test_the_reset_cause_is_named(board, port, number, cause):
    board.machine.reset_cause = lambda: number
    assert load(f"hal/port_{port}.py", "port").cause() == cause


def test_an_intended_reset_lets_usb_drain_first(board):
    port = load("hal/port_rp2.py", "port")
    port.reset(None, "soft")
    assert (board.resets, board.slept) == (1, 50)
    assert port.unique_id() == "e66101"


@pytest.mark.parametrize(
    ("date", "epoch", "seconds"),
    [((2021, 1, 1), 1970, None), ((2026, 11, 30), 1970, 7), ((2026, 11, 30), 2000, 7 + 946684800)],
    ids=["as-after-power-up", "set", "set-epoch-2000"],
)
def test_the_calendar_is_unknown_until_somebody_sets_it(board, date, epoch, seconds):
    board.date, board.epoch, board.seconds = date, epoch, 7
    assert board.serial.seconds() == seconds


def test_device_time_goes_on_past_the_boards_wrap(board):
    from hal.clock import Clock

    board.usb.now = (1 << 30) - 10
    clock = Clock(board.serial.ticks)
    board.usb.now += 25
    assert clock.now() == (1 << 30) + 15


@pytest.mark.parametrize("port", ["stm32", "mimxrt"])
def test_a_board_that_mounts_its_flash_elsewhere_gets_it_as_root(board, monkeypatch, port):
    calls: list[object] = []
    files = SimpleNamespace(
        umount=calls.append, mount=lambda what, where: calls.append(where), VfsLfs2=lambda *_, **__: 0
    )
    pyb = SimpleNamespace(usb_mode=calls.append, Flash=lambda start: "flash")
    for name, fake in {"vfs": files, "pyb": pyb, "mimxrt": SimpleNamespace(Flash=lambda: 0)}.items():
        monkeypatch.setitem(sys.modules, name, fake)
    load(f"hal/port_{port}.py", "port")
    assert calls[-2:] == ["/flash", "/"]
    assert sys.modules["usys"].path == ["/boot"]
    assert Pin.made == {}

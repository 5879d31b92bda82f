"""Reset causes with our own mark; pins as a supervisor drives them."""

from itertools import count
from types import SimpleNamespace

import pytest
from device import bill_acceptor
from hal import power
from hal.sensors import PinSensors
from hal.wiring import Unwired


@pytest.mark.parametrize(
    ("cause", "mark", "found"),
    [
        ("power", "", "power"),
        ("watchdog", "", "watchdog"),
        ("watchdog", "soft", "soft"),
        ("power", "soft", "power"),
        ("crash", "crash 1 MemoryError()", "crash"),
    ],
)
def test_a_mark_tells_an_intended_reset_from_a_watchdogs(cause, mark, found):
    assert power.cause(SimpleNamespace(cause=cause, mark=mark)) == found


def test_a_failure_is_named_at_the_next_start():
    assert power.failure(SimpleNamespace(mark="crash 2 ValueError('x y')")) == "ValueError('x y')"
    assert power.failure(SimpleNamespace(mark="soft")) == ""


class Control:
    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.written: list[str] = []
        self.write = self.written.append

    def read(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


def on_lines(control: Control) -> PinSensors:
    """Sensors of a board without pins of its own, in their light; what the lines say comes after that."""
    lines, control.lines = control.lines, []
    made = PinSensors(SimpleNamespace(control=control, port=port()), Unwired(), Unwired(), bill_acceptor)
    control.lines = lines
    control.written.clear()
    return made


def port() -> SimpleNamespace:
    """A second passes whenever somebody looks at the time."""
    ticks = count(0, 1000)
    return SimpleNamespace(ticks=lambda: next(ticks), wait=lambda ports, ms: None)


class Dark(Control):
    """Sensors that read as covered until their emitters are lit."""

    def __init__(self) -> None:
        super().__init__("pin centre 1", "pin exit 1")
        self.write = self.react

    def react(self, line: str) -> None:
        self.written.append(line)
        if line == "out emitters 1":
            self.lines += ["pin centre 0", "pin exit 0"]


def test_sensors_are_looked_at_in_their_light():
    control, ticks = Dark(), count(0, 5)
    port = SimpleNamespace(ticks=lambda: next(ticks), wait=lambda ports, ms: None)
    pins = PinSensors(SimpleNamespace(control=control, port=port), Unwired(), Unwired(), bill_acceptor)
    assert control.written == ["out emitters 1"]
    assert (pins.levels()["centre"], pins.levels()["exit"], pins.changed) == (0, 0, True)


def driven(pins: PinSensors) -> dict[str, int]:
    """The levels of pins that aren't pulled up."""
    pulled_up = on_lines(Control()).levels()
    return {name: level for name, level in pins.levels().items() if name not in pulled_up}


def test_pins_that_nobody_drives_are_pulled_up():
    assert on_lines(Control()).levels() == {"box": 1, "lock": 1, "home": 1, "scanner": 1, "battery": 1}


def test_pins_follow_the_control_lines():
    pins = on_lines(Control("pin entry 1", "pin lever 1"))
    pins.step(0)
    assert driven(pins) == {"entry": 1, "lever": 1}


def test_a_device_that_looks_late_still_sees_every_edge():
    pins = on_lines(Control("pin home 0", "pin home 1", "pin lever 1"))
    pins.step(0)
    assert (pins.levels()["home"], driven(pins), pins.next()) == (0, {}, 0)
    pins.step(1)
    assert (pins.levels()["home"], driven(pins), pins.next()) == (1, {"lever": 1}, None)


def test_levels_handed_out_stay_as_they_were():
    control = Control("pin entry 1")
    pins = on_lines(control)
    pins.step(0)
    before = driven(pins)
    control.lines = ["pin entry 0"]
    pins.step(1)
    assert (before, driven(pins)) == ({"entry": 1}, {"entry": 0})


def test_a_reading_is_taken_once_when_the_scan_head_is_ready():
    pins = on_lines(Control("adc uv 30", "adc optical 1 2 3 4"))
    pins.step(0)
    assert pins.take_reading() is None
    pins = on_lines(Control("adc uv 30", "adc optical 1 2 3 4", "pin ready 1"))
    pins.step(0)
    unmeasured = {"length": 0, "thickness": 0, "magnetic": 0}
    assert pins.take_reading() == {**unmeasured, "uv": 30, "optical": [1, 2, 3, 4]}
    assert pins.take_reading() is None
    assert driven(pins) == {}


@pytest.mark.parametrize("line", ["", "pin", "pin door", "pin door x", "world null", "adc uv", "led red 1"])
def test_noise_on_the_control_line_moves_nothing(line):
    pins = on_lines(Control(line))
    pins.changed = False
    pins.step(0)
    assert (pins.changed, driven(pins), pins.take_reading()) == (False, {}, None)


def test_outputs_are_driven_when_they_change():
    control = Control()
    pins = on_lines(control)
    for direction in (1, 1, -1):
        pins.motor("transport", direction)
    pins.light_emitters(False)
    assert control.written == ["out transport_motor 1", "out transport_motor -1", "out emitters 0"]

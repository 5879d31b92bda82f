"""Sensors and parts on GPIO: levels, bounce, who reads what, and a light that people see."""

import sys
from itertools import count
from types import SimpleNamespace

import pytest
from bench.world import World
from board_stdio import Board, Pin, load
from device import bill_acceptor
from hal.sensors import PinSensors
from hal.wiring import Unwired, inputs, outputs

TABLE = {"entry": ("GP6", "up", 0), "battery": ("GP26", "down", 1)}
HOLD = 5


class Lines:
    """Control lines, both ways."""

    asks = None

    def __init__(self, *lines: str) -> None:
        self.lines, self.written = list(lines), []
        self.write = self.written.append

    def read(self) -> list[str]:
        lines, self.lines = self.lines, []
        return lines


@pytest.fixture(autouse=True)
def pads(board: Board, monkeypatch: pytest.MonkeyPatch) -> dict:
    """The levels on a board's pads; nothing is connected: pulls decide."""
    Pin.levels.update({"GP6": 1, "GP26": 0})
    monkeypatch.setitem(sys.modules, "hal.pins", load("hal/pins.py", "hal.pins"))
    return Pin.levels


def read(table: dict, hold: int):
    """Inputs of a board that has these."""
    return inputs(SimpleNamespace(PINS=table, DEBOUNCE_MS=hold), table)


def on_pins(lines: Lines, inputs: object, outputs: object) -> PinSensors:
    """Sensors of a release image; a second passes whenever they look at the time."""
    ticks = count(0, 1000)
    port = SimpleNamespace(ticks=lambda: next(ticks), wait=lambda ports, ms: None)
    return PinSensors(SimpleNamespace(control=lines, port=port), inputs, outputs, bill_acceptor)


def drive(table: dict):
    """Outputs of a board that has these."""
    return outputs(SimpleNamespace(OUTPUTS=table))


def test_a_level_is_that_of_the_sensor_not_of_the_pad(pads):
    assert read(TABLE, HOLD).levels() == {"entry": 0, "battery": 0}
    pads.update({"GP6": 0, "GP26": 1})
    assert read(TABLE, HOLD).levels() == {"entry": 1, "battery": 1}
    assert Pin.made == {"GP6": ("in", "up"), "GP26": ("in", "down")}


def test_a_level_counts_once_it_stood_long_enough(pads):
    inputs = read(TABLE, HOLD)
    assert inputs.step(100) is False
    pads["GP6"] = 0
    assert [inputs.step(now) for now in (101, 105)] == [False, False]
    assert inputs.step(106) is True
    assert inputs.levels()["entry"] == 1
    assert inputs.step(107) is False


def test_bounce_starts_the_time_again(pads):
    inputs = read(TABLE, HOLD)
    for now in range(100, 120):
        pads["GP6"] = now // 2 % 2
        assert inputs.step(now) is False
    assert inputs.levels()["entry"] == 0


def test_pins_are_looked_at_again_and_a_board_without_waits_for_its_ports():
    inputs = read(TABLE, HOLD)
    inputs.step(100)
    assert 100 < inputs.next() <= 100 + HOLD
    assert read({}, HOLD).next() is None


def test_a_wired_sensor_is_its_pin_whatever_a_line_says(pads):
    sensors = on_pins(Lines("pin entry 0", "pin lever 1"), read(TABLE, 0), drive({}))
    pads["GP6"] = 0
    sensors.changed = False
    sensors.step(1)
    assert sensors.changed
    assert (sensors.levels()["entry"], sensors.levels()["lever"], sensors.levels()["box"]) == (1, 1, 1)
    assert 1 < sensors.next() <= 6


def test_motors_turn_both_ways_and_the_rig_hears_of_it(pads):
    lines = Lines()
    outputs = drive({"transport_motor": ("GP16", "GP17"), "emitters": ("GP19",)})
    sensors = on_pins(lines, read({}, 0), outputs)
    seen = []
    for direction in (1, -1, 0):
        sensors.motor("transport", direction)
        seen.append((pads["GP16"], pads["GP17"]))
    assert seen == [(1, 0), (0, 1), (0, 0)]
    assert pads["GP19"] == 1
    sensors.light_emitters(False)
    sensors.motor("stack", 1)  # isn't wired
    assert pads["GP19"] == 0
    assert lines.written[0] == "out emitters 1"
    assert lines.written[-2:] == ["out emitters 0", "out stack_motor 1"]


def test_one_light_shines_and_the_message_stays(pads):
    parts = drive({"light_red": ("GP20",), "light_green": ("GP28",)})
    for light, lit in (("green", (0, 1)), ("red", (1, 0)), ("amber", (0, 0)), ("off", (0, 0))):
        parts.show(light, "text " + light)
        assert (pads["GP20"], pads["GP28"]) == lit
        assert (parts.light, parts.message) == (light, "text " + light)


class Plant:
    """A plant with two sensors."""

    def __init__(self) -> None:
        self.changed, self.reading, self.driven = False, None, []
        self.levels = lambda: {"entry": 0, "lever": 1}
        self.take_reading = lambda: None
        self.restored = None

    def step(self, now: int) -> None:
        pass

    def next(self) -> None:
        return None

    def motor(self, name: str, direction: int) -> None:
        self.driven.append((name, direction))

    def restore(self, world: object) -> None:
        self.restored = world


def world(control: Lines, from_pins: tuple = (), outputs: dict | None = None) -> World:
    ticks = iter(range(0, 10000, 10))
    port = SimpleNamespace(ticks=lambda: next(ticks), wait=lambda ports, ms: None)
    facts = SimpleNamespace(PINS=TABLE, FROM_PINS=from_pins, DEBOUNCE_MS=0)
    return World(Plant(), SimpleNamespace(board=facts, control=control, port=port), drive(outputs or {}))


def test_pins_are_looked_at_in_their_light(pads, monkeypatch):
    parts = drive({"emitters": ("GP19",)})
    monkeypatch.setattr(sys.modules["hal.pins"].utime, "sleep_ms", lambda ms: pads.update(GP6=1 - pads["GP19"]))
    facts = SimpleNamespace(PINS=TABLE, DEBOUNCE_MS=0)
    assert inputs(facts, ("entry",), parts).levels() == {"entry": 1}
    assert pads["GP19"] == 1


def test_a_bench_image_takes_single_sensors_off_the_plant(pads):
    pads["GP6"] = 0
    assert world(Lines("world")).levels() == {"entry": 0, "lever": 1}
    mixed = world(Lines("world"), ("entry",))
    assert mixed.levels() == {"entry": 1, "lever": 1}
    mixed.changed, pads["GP6"] = False, 1
    mixed.step(5)
    assert mixed.changed
    assert mixed.levels() == {"entry": 0, "lever": 1}
    assert mixed.next() is not None
    assert world(Lines("world")).next() is None


def test_a_bench_image_drives_plant_and_pins(pads):
    mixed = world(Lines("world"), outputs={"stack_motor": ("GP18",)})
    mixed.motor("stack", 1)
    assert (mixed.plant.driven, pads["GP18"]) == ([("stack", 1)], 1)


def test_a_rig_is_asked_for_the_world():
    control = Lines("noise", "fault 2 before", 'world {"x": 1}')
    control.asks = 300
    made = world(control)
    assert control.written == ["world?"]
    assert made.fault == ["2", "before"]
    assert made.plant.restored == {"x": 1}


@pytest.mark.parametrize(("asks", "asked"), [(300, ["world?"]), (0, [])], ids=["silent rig", "nobody"])
def test_where_nobody_answers_the_world_is_new(asks, asked):
    control = Lines()
    control.asks = asks
    made = world(control)
    assert (control.written, made.fault, made.plant.restored) == (asked, None, None)


def test_a_board_without_pins_never_loads_their_code(monkeypatch):
    monkeypatch.setitem(sys.modules, "hal.pins", None)
    unwired = SimpleNamespace(PINS={}, OUTPUTS={}, DEBOUNCE_MS=0)
    for made in (inputs(unwired, ()), outputs(unwired)):
        assert isinstance(made, Unwired)
        assert (made.step(1), made.levels(), made.next(), made.set("emitters", 1)) == (False, {}, None, None)


@pytest.mark.parametrize("line", ["world", "world null"])
def test_a_world_that_is_null_is_new(line):
    assert world(Lines(line)).plant.restored is None

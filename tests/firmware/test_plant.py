"""The plant: geometry, motion from edge to edge, jams, strings, and that paper is neither made nor lost."""

from __future__ import annotations

import contextlib
import json
import re
from types import SimpleNamespace

import pytest
from acceptor_bench import note
from bench import rig
from bench.plant.bill_acceptor import Plant
from hypothesis import given, settings
from hypothesis import strategies as st
from link.args import check
from link.frame import Refused

PATH = ("entry", "centre", "exit", "lever")
# Sensor positions in mm along the path, and the speed, as the plant's drawing gives them.
AT = {"entry": 10, "centre": 70, "exit": 130, "lever": 260}
MM_PER_S = 300


def moving(item: dict, direction: int = 1, **plant) -> Plant:
    world = Plant(**plant)
    world.insert(item)
    world.motor("transport", direction)
    return world


def covered(plant: Plant) -> set[str]:
    levels = plant.levels()
    return {name for name in PATH if levels[name]}


def run(plant: Plant, until: int | None = None) -> list[tuple[int, set[str]]]:
    """Step from edge to edge; the times at which what is covered changed."""
    seen = [(plant.time, covered(plant))]
    while (at := plant.next()) is not None and (until is None or at <= until):
        plant.step(at)
        if covered(plant) != seen[-1][1]:
            seen.append((plant.time, covered(plant)))
    if until is not None:
        plant.step(until)
    return seen


def test_a_note_at_rest_covers_the_entry_alone():
    plant = Plant()
    plant.insert(note())
    assert covered(plant) == {"entry"}
    assert plant.next() is None


@pytest.mark.parametrize("length", [61, 78, 120, 156, 170, 300])
def test_each_edge_comes_where_geometry_and_speed_put_it(length):
    seen = run(moving(note(length=length)))
    for name, at in AT.items():
        on = next(time for time, what in seen if name in what)
        off = next(time for time, what in seen if time > on and name not in what)
        assert on == pytest.approx(max(0, at - 14) * 1000 / MM_PER_S, abs=5)
        assert off == pytest.approx((at + length - 14) * 1000 / MM_PER_S, abs=25)


@pytest.mark.parametrize("length", [61, 78, 156, 300])
def test_no_gap_between_sensors_hides_an_item(length):
    seen = run(moving(note(length=length)))
    gaps = [time for time, what in seen[:-1] if not what]
    # between the exit at 130 and the lever at 260 a short item is out of sight
    assert gaps == [] or length < 130


def test_an_item_of_full_length_is_read_once_at_the_scan_head():
    plant = moving(note())
    run(plant, until=int((70 + 156 - 14) * 1000 / MM_PER_S) + 5)
    reading = plant.take_reading()
    assert (reading["length"], reading["magnetic"]) == (156, 110)
    assert plant.take_reading() is None
    run(plant)
    assert plant.take_reading() is None


def test_a_dead_scanner_reads_nothing():
    plant = moving(note())
    plant.broken["scanner"] = "dead"
    run(plant)
    assert plant.take_reading() is None


def test_past_the_lever_it_is_in_the_chute_and_counted():
    plant = moving(note())
    run(plant)
    truth = plant.truth()
    assert (truth["stacked"], truth["chute"], truth["in_path"], truth["values"]) == (1, 1, 0, {"2000": 1})


@pytest.mark.parametrize(("box", "chute"), [(1, 0), (0, 1)])
def test_the_pusher_leaves_home_and_empties_the_chute_into_a_box_that_is_there(box, chute):
    plant = moving(note())
    run(plant)
    plant._op_box({"present": box})
    plant.motor("stack", 1)
    start, homes = plant.time, []
    for ms in (0, 199, 200, 499, 500):
        plant.step(start + ms)
        homes.append(plant.levels()["home"])
    assert homes == [1, 1, 0, 0, 1]
    assert (plant.truth()["chute"], plant.truth()["box"]) == (chute, 1 - chute)


def test_a_broken_pusher_stays_at_home():
    plant = moving(note())
    run(plant)
    plant.broken["stack_motor"] = "stall"
    plant.motor("stack", 1)
    plant.step(plant.time + 1000)
    assert (plant.levels()["home"], plant.truth()["chute"]) == (1, 1)


def test_backwards_it_comes_out_at_the_mouth():
    plant = moving(note())
    run(plant, until=700)
    plant.motor("transport", -1)
    run(plant)
    assert (plant.truth()["returned"], plant.truth()["in_path"], covered(plant)) == (1, 0, set())


@pytest.mark.parametrize("at", [40, 150, 260, 350])
def test_paper_that_sticks_stops_there_and_the_encoder_with_it(at):
    plant = moving(note(sticks_at=at))
    run(plant)
    assert (plant.truth()["position"], plant.levels()["moving"]) == (at, 0)
    plant.motor("transport", -1)
    assert plant.levels()["moving"] == 1
    run(plant)
    assert plant.truth()["returned"] == 1


def test_wedged_paper_moves_neither_way():
    plant = moving(note(sticks_at=150, wedged=1))
    run(plant)
    plant.motor("transport", -1)
    run(plant, until=plant.time + 2000)
    assert (plant.truth()["position"], plant.levels()["moving"]) == (150, 0)


def test_a_stalled_motor_moves_nothing():
    plant = moving(note())
    plant.broken["transport_motor"] = "stall"
    plant.step(5000)
    assert (plant.truth()["position"], plant.levels()["moving"], plant.next()) == (14, 0, None)


def test_a_string_keeps_the_lever_open_and_pulls_the_note_back():
    plant = moving(note(string=1))
    run(plant, until=5000)
    assert (plant.levels()["lever"], plant.levels()["exit"], plant.truth()["stacked"]) == (1, 0, 0)
    plant.pull()
    assert (plant.truth()["returned"], covered(plant)) == (1, set())


def test_emitters_off_is_dark_everywhere():
    plant = Plant()
    plant.light_emitters(0)
    assert [plant.levels()[name] for name in (*PATH, "chute")] == [1] * 5


@pytest.mark.parametrize(("how", "level"), [("stuck_0", 0), ("stuck_1", 1), ("dead", 0)])
@pytest.mark.parametrize("part", [*PATH, "chute", "home"])
def test_a_broken_sensor_shows_its_level_until_it_is_mended(part, how, level):
    plant = Plant()
    sound = plant.levels()[part]
    plant._op_break({"part": part, "how": how})
    assert plant.levels()[part] == level
    plant._op_mend({"part": part})
    assert plant.levels()[part] == sound


@pytest.mark.parametrize(
    ("op", "request_"),
    [
        ("insert", {"item": {"length": 156}}),
        ("insert", {"item": note(uv="none")}),
        ("insert", {"item": note(optical=["dark"] * 4)}),
        ("pull", {}),
        ("clear_path", {}),
        ("insert", {"item": note(optical=[1, 2, 3])}),
        ("insert", {"item": note(optical=7)}),
        ("insert", {"item": note(optical=[])}),
        ("insert", {"item": note(barcode=7)}),
        ("insert", {"item": note(sticks_at="the middle")}),
        ("empty", {}),
    ],
)
def test_what_no_person_could_do_is_an_error_and_changes_nothing(op, request_):
    plant = Plant()
    before = json.dumps(plant.world())
    with pytest.raises((ValueError, KeyError)):
        getattr(plant, "_op_" + op)(request_)
    assert json.dumps(plant.world()) == before


@pytest.mark.parametrize(
    ("do", "args"),
    [
        ("door", {"which": "cash", "open": True}),
        ("door", {"which": "stacker", "open": "maybe"}),
        ("break", {"part": "gearbox"}),
        ("break", {"part": "exit", "how": "gently"}),
        ("battery", {"mv": "low"}),
        ("box", {"count": "many"}),
        ("lock", {}),
    ],
)
def test_arguments_of_a_stimulus_are_checked_before_it_happens(do, args):
    machine = SimpleNamespace(sensors=SimpleNamespace(plant=Plant()))
    with pytest.raises(Refused):
        check({"id": 1, "do": do, **args}, rig.Stimuli(machine).takes(do))


def test_every_stimulus_has_its_line_of_arguments():
    methods = {name.removeprefix("_op_") for name in dir(Plant) if name.startswith("_op_")}
    assert set(re.findall(r"^(\w+):", Plant.ARGS, re.M)) == methods


def test_one_item_at_a_time_and_none_through_an_open_door():
    plant = Plant()
    plant.insert(note())
    with pytest.raises(ValueError, match="in the path"):
        plant.insert(note())
    plant = Plant()
    plant._op_door({"which": "acceptor", "open": True})
    with pytest.raises(ValueError, match="door is open"):
        plant.insert(note())


ITEMS = st.builds(
    note,
    st.integers(0, 6),
    length=st.sampled_from([78, 120, 156, 300]),
    string=st.sampled_from([None, 1]),
    sticks_at=st.sampled_from([None, None, 90, 200, 300]),
)
ACTS = st.one_of(
    st.tuples(st.just("insert"), ITEMS),
    st.tuples(st.just("step"), st.integers(1, 3000)),
    st.tuples(st.just("transport"), st.sampled_from([-1, 0, 1])),
    st.tuples(st.sampled_from(["push", "pull", "clear_path", "cut"]), st.none()),
    st.tuples(st.just("box"), st.booleans()),
    st.tuples(st.just("break"), st.sampled_from(["transport_motor", "stack_motor", "lever"])),
)


def act(plant: Plant, name: str, what) -> Plant:
    if name == "step":
        run(plant, until=plant.time + what)
    elif name in ("push", "transport"):
        plant.motor("stack" if name == "push" else name, what or 1 if name == "push" else what)
    elif name == "cut":
        world = json.loads(json.dumps(plant.world()))
        plant = Plant()
        plant.restore(world)
    else:
        requests = {"insert": {"item": what}, "break": {"part": what}, "box": {"present": what}}
        if name == "clear_path":
            plant._op_door({"which": "stacker", "open": True})
        with contextlib.suppress(ValueError):
            getattr(plant, "_op_" + name)(requests.get(name, {}))
    return plant


@settings(max_examples=150, deadline=None)
@given(st.lists(ACTS, max_size=25))
def test_paper_is_neither_made_nor_lost(acts):
    plant = Plant()
    for name, what in acts:
        plant = act(plant, name, what)
        t = plant.truth()
        assert t["inserted"] == t["returned"] + t["stacked"] + t["removed"] + t["in_path"]
        assert t["stacked"] == sum(t["values"].values())
        assert t["stacked"] >= t["box"] + t["chute"]

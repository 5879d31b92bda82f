"""The power-on self-test, step by step: passing, failing, and what failure the wire shows for each."""

from __future__ import annotations

import pytest
from acceptor_bench import CLEAR, OPTICAL, Desk, Hand
from device.bill_acceptor_selftest import AcceptorTest

ALL = ["memory", "signature", "sensors", "scanner", "transport_motor", "stack_motor"]


class Machine:
    """What the self-test asks of a device."""

    memory_ok = True
    verified: tuple[bool, str] | None = (True, "")
    expects_item = False

    def __init__(self) -> None:
        self.levels = dict(CLEAR)
        self.push = iter(())

    def obey(self, effect) -> None:
        if effect[0] == "emitters":
            self.levels.update(dict.fromkeys(OPTICAL, 0 if effect[1] else 1))
        elif effect[1] == "transport":
            self.levels["moving"] = 1 if effect[2] else 0
        else:
            self.push = iter((0, 1) if effect[2] else ())


def run(break_: dict | None = None, **device) -> AcceptorTest:
    """The whole test on a machine that follows its orders, but for the levels that `break_` pins."""
    machine, post, now = Machine(), AcceptorTest(), 0
    for name, value in device.items():
        setattr(machine, name, value)
    post.begin("test", now)
    while post.ok is None and now < 5000:
        for effect in post.step(machine, now):
            machine.obey(effect)
        machine.levels["home"] = next(machine.push, 1)
        machine.levels.update(break_ or {})
        now += 50
    return post


def test_a_sound_machine_passes_every_step():
    post = run()
    assert [name for name, ok, _ in post.steps if ok] == ALL
    assert (post.ok, post.failed_step()) == (True, None)


FAILURES = {
    "memory": ({}, {"memory_ok": False}, 0xB2, "both copies"),
    "signature": ({}, {"verified": (False, "CRC is 0001")}, 0xB0, "CRC is 0001"),
    "scanner": ({"scanner": 0}, {}, 0xA8, "reference"),
    "transport_motor": ({"moving": 0}, {}, 0xA6, "no pulses"),
    "stack_motor": ({"home": 1}, {}, 0xA2, "not home in time"),
}


@pytest.mark.parametrize("step", FAILURES)
def test_a_broken_part_fails_its_step_and_ends_the_test(step):
    pinned, device, code, detail = FAILURES[step]
    post = run(pinned, **device)
    assert (post.ok, post.failed_step(), post.failure_code()) == (False, step, code)
    assert post.steps[-1][0] == step
    assert detail in post.steps[-1][2]
    assert not post.running()


@pytest.mark.parametrize("home", [0])
def test_a_pusher_that_never_comes_home_fails(home):
    assert run({"home": home}).failed_step() == "stack_motor"


@pytest.mark.parametrize("name", OPTICAL)
def test_a_sensor_that_never_reads_dark_is_dead(name):
    post = run({name: 0})
    assert (post.failed_step(), post.failure_code(), post.steps[-1][2]) == ("sensors", 0xA8, name)


@pytest.mark.parametrize("name", OPTICAL)
def test_a_sensor_that_never_reads_light_is_stuck_where_nothing_may_be(name):
    post = run({name: 1})
    expected = {"entry": None, "chute": "stack_motor"}.get(name, "sensors")
    assert post.failed_step() == expected


def test_paper_that_a_cut_left_in_the_path_is_no_stuck_sensor():
    assert run({"exit": 1}, expects_item=True).ok


def test_without_its_box_a_full_chute_is_no_failure_of_the_pusher():
    assert run({"chute": 1, "box": 0}).failed_step() != "stack_motor"


def test_the_signature_step_waits_for_its_answer():
    machine, post = Machine(), AcceptorTest()
    machine.verified = None
    post.begin("host_reset", 0)
    post.step(machine, 0)
    assert (post.running(), post.until, [step[0] for step in post.steps]) == (True, None, ["memory"])
    machine.verified = (True, "")
    post.step(machine, 9000)
    assert [step[0] for step in post.steps] == ["memory", "signature"]


def test_an_aborted_test_has_no_result():
    machine, post = Machine(), AcceptorTest()
    post.begin("power_up", 0)
    post.step(machine, 0)
    post.abort()
    assert (post.running(), post.ok, post.until) == (False, None, None)


BREAKS = {
    ("transport_motor", "stall"): "transport_motor",
    ("stack_motor", "stall"): "stack_motor",
    ("scanner", "dead"): "scanner",
    **{(name, how): "sensors" for name in ("centre", "exit", "lever") for how in ("stuck_0", "stuck_1", "dead")},
    ("entry", "stuck_0"): "sensors",
    ("chute", "dead"): "sensors",
    ("chute", "stuck_1"): "stack_motor",
    ("home", "stuck_1"): "stack_motor",
}


@pytest.mark.parametrize(("part", "how"), BREAKS)
def test_each_part_that_the_plant_can_break_is_found_at_power_up(part, how):
    desk = Desk()
    desk.plant._op_break({"part": part, "how": how})
    desk.poll()
    desk.step("host", "host_reset", None)
    desk.step("setting", "inhibit", b"\0")
    desk.run(4000)
    assert desk.device.post.failed_step() == BREAKS[part, how]
    assert desk.device.shown()[0] == "failure"


def test_a_failed_self_test_takes_a_reset_after_the_repair():
    desk = Desk()
    desk.plant._op_break({"part": "scanner"})
    desk.poll()
    desk.step("host", "host_reset", None)
    desk.run(3000)
    desk.plant._op_mend({"part": "scanner"})
    desk.run(3000)
    assert desk.device.shown()[0] == "failure"
    desk.step("host", "host_reset", None)
    desk.step("setting", "inhibit", b"\0")
    desk.run(3000)
    assert desk.device.state == "idle"


def test_the_reason_of_each_run_is_kept():
    hand = Hand()
    assert (hand.device.post.why, hand.device.post.run) == ("power_up", 1)
    hand.host("host_reset")
    assert (hand.device.post.why, hand.device.post.run) == ("host_reset", 2)

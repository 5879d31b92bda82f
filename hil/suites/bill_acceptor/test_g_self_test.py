"""13:69E-1.28N(g), first sentence: a self-test at every power-up, before anything is accepted; disabled if it fails."""

from __future__ import annotations

import pytest
from pitbench import items
from pitbench.image import Image
from pitbench.protocols.id003 import POWER_UPS, Command, Status
from pitbench_hil.acceptor import ENABLE_ALL, AcceptorBench
from pitbench_hil.acceptor_altered import Altered
from pitbench_hil.acceptor_pins import PinBench
from pitbench_hil.acceptor_post import break_part, early, failed_steps, mend, result, steps_of, tempt
from pitbench_hil.authority import Officer
from pitbench_hil.check import Check
from pitbench_hil.marks import images, needs, rule
from pitbench_hil.mutations import one_byte_altered
from pitbench_hil.speech import Unsaid

AT = "NJ-1.28N(g)/at-power-up"
FAILS = "NJ-1.28N(g)/disabled-by-failure"
BEFORE = "NJ-1.28N(g)/before-accepting"
NOTE = items.genuine(20)


def again(bench: AcceptorBench, how: str) -> None:
    """Start anew in this way, and wait for the board."""
    if how == "cold":
        bench.power_cycle()
    elif how == "watchdog":
        bench.board.supervisor.reset("watchdog")
        bench.reconnect()
    else:
        bench.command(Command.RESET)


@images("bench", "release")
@pytest.mark.parametrize("how", [pytest.param(h, marks=rule(f"{AT}/{h}")) for h in ("cold", "watchdog", "host-reset")])
def test_self_test_of_this_very_start(bench: AcceptorBench, check: Check, how: str) -> None:
    bench.start()
    runs = bench.do("post")["run"]
    check.stimulus("scan head broken unnoticed, then start", how=how)
    break_part(bench)
    again(bench, how)
    post = result(bench)
    boot = bench.state()["boot"]
    check.note("self-test", **post)
    check.expect("finds what broke after the last self-test", failed_steps(post), ["scanner"])
    check.expect("self-test of this boot", post["boot"], boot)
    check.expect("a new run", post["run"] > runs if how == "host-reset" else post["run"] == 1, True)
    check.stimulus("mended, then start", how=how)
    mend(bench)
    again(bench, how)
    post = result(bench)
    named = [isinstance(name, str) and bool(name) and ok is True for name, ok, _ in post["steps"]]
    check.expect("each step is named and passed", all(named) and len(set(steps_of(post))) == len(named) >= 2, True)
    check.expect("passed", post["ok"], True)


def impatient(bench: AcceptorBench) -> None:
    """A host that enables at once, and resets as soon as it may."""
    status = bench.status().cmd
    if status in POWER_UPS:
        bench.exchange(Command.RESET)
    if status in (*POWER_UPS, Status.INITIALISE):
        bench.configure()
    if status == Status.ESCROW:
        bench.exchange(Command.STACK_1)


@rule(BEFORE)
@needs("plant")
@pytest.mark.parametrize("how", ["cold", "watchdog"])
def test_note_that_waits_stays_until_the_self_test_has_passed(bench: AcceptorBench, check: Check, how: str) -> None:
    bench.insert(NOTE)
    check.stimulus("note at the mouth, start, the host enables at once", how=how)
    again(bench, how)
    count = early(bench, lambda: impatient(bench), runs=1)
    check.measure("accepted_before_result", count)


@rule(BEFORE)
@needs("plant")
@pytest.mark.parametrize("hurry", [False, True])
def test_note_that_waits_during_a_host_reset(bench: AcceptorBench, check: Check, hurry: bool) -> None:
    bench.start(enabled=False)
    bench.insert(NOTE)
    check.stimulus("note at the mouth, reset by the host, which enables at once")
    bench.command(Command.RESET)
    if hurry:
        bench.configure()
    count = early(bench, lambda: impatient(bench), runs=bench.do("post")["run"])
    check.measure("accepted_before_result", count)


@rule(BEFORE)
@images("release")
@needs("pins")
def test_note_that_waits_at_a_release_image(bench: PinBench, check: Check) -> None:
    bench.pins.pins("entry", 1)
    check.stimulus("note at the mouth, start, the host enables at once")
    again(bench, "cold")
    check.measure("accepted_before_result", early(bench, lambda: impatient(bench), runs=1))


# step of the self-test -> parts and ways in which they fail it
OPTICAL = ("entry", "centre", "exit", "lever", "chute")
BREAKS = {
    "sensors": [(part, "stuck_0") for part in OPTICAL],
    "scanner": [("scanner", "dead")],
    "transport_motor": [("transport_motor", "stall")],
    "stack_motor": [("stack_motor", "stall"), ("home", "stuck_0"), ("home", "stuck_1")],
}
FAILURES = [(step, *way, "cold") for step, ways in BREAKS.items() for way in ways]
FAILURES += [(step, *ways[-1], "host-reset") for step, ways in BREAKS.items()]
MADE_TO_FAIL = {*BREAKS, "memory", "signature"}


def untried(bench: AcceptorBench) -> int:
    """Steps that the device names and no test of this file makes fail."""
    return len(set(steps_of(bench.do("post"))) - MADE_TO_FAIL)


@rule(FAILS)
@needs("plant")
@pytest.mark.parametrize(("step", "part", "failure", "how"), FAILURES)
def test_failed_step_disables(bench: AcceptorBench, check: Check, step: str, part: str, failure: str, how: str) -> None:
    bench.start()
    check.measure("steps_not_made_to_fail", untried(bench))
    check.stimulus("part broken, then start; the host enables and stacks whatever comes", part=part, how=failure)
    break_part(bench, part, failure)
    again(bench, how)
    check.expect("failed step", failed_steps(result(bench)), [step])
    accepted = tempt(bench)
    check.stimulus("mended, without a new self-test; the host stacks whatever comes")
    mend(bench, part)
    check.measure("accepted", accepted + tempt(bench, reset=False))
    check.stimulus("reset by the host: a new self-test")
    bench.command(Command.RESET)
    check.expect("passed", result(bench)["ok"], True)


@rule(FAILS)
@needs("plant")
@pytest.mark.parametrize("part", OPTICAL[1:])
def test_sensor_stuck_dark_disables(bench: AcceptorBench, check: Check, part: str) -> None:
    """It looks like paper left in the path: no self-test can tell, and nothing may be accepted until one can."""
    bench.start()
    check.measure("steps_not_made_to_fail", untried(bench))
    check.stimulus("sensor stuck dark, power cycle; the host enables and stacks whatever comes", part=part)
    break_part(bench, part, "stuck_1")
    again(bench, "cold")
    accepted = tempt(bench)
    check.expect("ready", is_ready(bench), False)
    check.stimulus("mended, without a reset; the host stacks whatever comes")
    mend(bench, part)
    check.measure("accepted", accepted + tempt(bench, reset=False))


def is_ready(bench: AcceptorBench) -> object:
    """Whether it tells idle; Unsaid where that may be anything else besides."""
    told, like_idle = bench.status().cmd, bench.speech.words.any_of(Status.IDLE)
    if told == Status.IDLE and len(like_idle) > 1:
        return Unsaid(f"{bench.speech.title} doesn't tell idle from accepting")
    return told == Status.IDLE


@rule("HOUSE-looks-in-light")
@images("release")
@pytest.mark.parametrize("how", ["cold", "watchdog"])
def test_an_empty_path_is_no_bill(bench: PinBench, check: Check, how: str) -> None:
    check.stimulus("started with an empty path", how=how)
    again(bench, how)
    status = Status(bench.until(Status.POWER_UP, Status.POWER_UP_BILL_IN_ACCEPTOR).cmd)
    check.expect("first status", status.name, Status.POWER_UP.name)


@rule(FAILS)
@images("release")
@needs("pins")
@pytest.mark.parametrize("step", list(BREAKS))
def test_failed_step_disables_a_release_image(bench: PinBench, check: Check, step: str) -> None:
    part, failure = BREAKS[step][0 if step != "sensors" else 1]
    bench.start()
    check.measure("steps_not_made_to_fail", untried(bench))
    check.stimulus("part broken, power cycle; the host enables", part=part, how=failure)
    break_part(bench, part, failure)
    again(bench, "cold")
    check.expect("failed step", failed_steps(result(bench)), [step])
    for again_mended in (False, True):
        if again_mended:
            mend(bench, part)
        bench.pins.pins("entry", 1)
        # A pusher that never comes home takes the self-test a real second: once is enough, unless settings are a reset.
        is_quick = step != "stack_motor" or bench.speech.resets_by_any
        check.measure("accepted", ready_or_taking(bench, reset=not again_mended and is_quick))
        bench.pins.pins("entry", 0)
    bench.command(Command.RESET)
    check.expect("passed after repair and a new self-test", result(bench)["ok"], True)


def ready_or_taking(bench: PinBench, *, reset: bool) -> int:
    """1 if a host that enables brings it to idle or further, 0 if not."""
    if reset:
        bench.exchange(Command.RESET)
        result(bench)
    for command, data in ENABLE_ALL:
        bench.exchange(command, data)
    shown = bench.until(*Status, within=50)
    return int(shown.cmd in (Status.IDLE, Status.ACCEPTING, Status.ESCROW, Status.STACKING))


@rule(FAILS)
@needs("plant")
def test_damaged_memory_disables(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    officer = Officer(bench.do)
    check.measure("steps_not_made_to_fail", untried(bench))
    check.stimulus("both copies of the record damaged, power cycle; the host enables and stacks whatever comes")
    for copy in ("a", "b"):
        bench.do("damage", copy=copy)
    again(bench, "cold")
    check.expect("failed step", failed_steps(result(bench)), ["memory"])
    check.measure("accepted", tempt(bench))
    repair_memory(bench, officer)
    bench.do("door", which="acceptor", open=True)
    bench.do("clear_path")
    bench.do("door", which="acceptor", open=False)
    bench.command(Command.RESET)
    check.expect("passed after repair and a new self-test", result(bench)["ok"], True)


def repair_memory(bench: AcceptorBench, officer: Officer) -> None:
    """Clear the memory with authority: what was in it is gone, the role's secret too."""
    officer.commission()
    officer.ask("attempt_meters")
    officer.ask("clear_memory")


@rule(FAILS)
@images("bench", "release")
def test_signature_that_fails_disables(bench: AcceptorBench, check: Check, image: Image) -> None:
    bench.start(enabled=False)
    check.measure("steps_not_made_to_fail", untried(bench))
    altered = Altered(bench, image)
    altered.offer()
    check.stimulus("note at the mouth, one bit of the image altered, reset by the host, which enables at once")
    altered.write(one_byte_altered(image.files))
    bench.exchange(Command.RESET)
    for command, data in ENABLE_ALL:
        if bench.speech.sayable(command):
            bench.speech.say(command, data)
    check.expect("inoperable", altered.becomes_inoperable()[0], True)
    check.expect("inoperable, whatever the host sends", altered.tempted()[0], True)
    altered.restore()
    check.measure("accepted", altered.accepted())

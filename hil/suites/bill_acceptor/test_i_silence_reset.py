"""13:69E-1.28N(i)6 and 7: nothing is accepted while the host is silent, or until a reset is over."""

from __future__ import annotations

import pytest
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor import ENABLE_ALL, AcceptorBench
from pitbench_hil.acceptor_errors import IN_FLIGHT, PHASES, SILENCE_MS, Act, silence
from pitbench_hil.acceptor_tempter import (
    ACTIONS,
    NEXT,
    difference,
    next_stacked,
    offer,
    press,
    say_each,
    settle,
    short_of_reset,
)
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

COMM, RESET = "NJ-1.28N(i)6", "NJ-1.28N(i)7"
# Where an item's leading edge is when it was measured and is offered, in mm of travel.
ESCROW_MM = 220
MOUTH_MM = 14
STEP_MS = 50


def furthest(bench: AcceptorBench, ms: int, step: int = STEP_MS) -> int:
    """How far an item gets while device time passes and the host says nothing, in mm of travel."""
    places = []
    for _ in range(ms // step):
        bench.advance(step)
        places.append(bench.truth()["position"] or 0)
    return max(places)


def taken(bench: AcceptorBench) -> int:
    """Items drawn in as far as escrow, or stacked, of one pushed in now; the host stays silent."""
    before = bench.truth()["stacked"]
    offer(bench)
    drawn = furthest(bench, 1500) >= ESCROW_MM
    return max(int(drawn), bench.truth()["stacked"] - before)


def back(bench: AcceptorBench, check: Check) -> None:
    """The host is back, and wants the item at once: it isn't taken without settings that stand and a self-test."""
    say_each(bench, ACTIONS)
    with check.duty("serves a host that is back", Unreached):
        settle(bench)
    check.measure("credited_minus_stacked", difference(bench))


@rule(f"{COMM}/idle")
def test_host_silent_while_idle(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("host silent", ms=SILENCE_MS)
    silence(bench)
    check.expect("standing", bench.state()["standing"], ["comm_error"])
    check.measure("accepted", taken(bench))
    back(bench, check)
    bench.stack(NEXT)
    check.expect("credited minus stacked", difference(bench), 0)


@rule(f"{COMM}/accepting")
@pytest.mark.parametrize("before_ms", [4450, 4700, 4950])
def test_host_silent_while_an_item_is_drawn_in(bench: AcceptorBench, check: Check, before_ms: int) -> None:
    bench.start()
    bench.advance(before_ms)
    check.stimulus("item inserted, communication error while it is drawn in", silent_ms=before_ms)
    bench.insert(IN_FLIGHT)
    drawn = furthest(bench, SILENCE_MS - before_ms + 1500) >= ESCROW_MM
    check.measure("accepted", max(int(drawn), bench.truth()["stacked"]))
    check.expect("standing", bench.state()["standing"], ["comm_error"])
    back(bench, check)


@rule(f"{COMM}/escrow")
@pytest.mark.parametrize("hold", [False, True])
def test_host_silent_with_an_item_in_escrow(bench: AcceptorBench, check: Check, hold: bool) -> None:
    bench.start()
    bench.escrow(IN_FLIGHT)
    if hold:
        bench.command(Command.HOLD)
    check.stimulus("host silent", ms=SILENCE_MS)
    silence(bench)
    check.expect("standing", bench.state()["standing"], ["comm_error"])
    bench.advance(1500)
    check.expect("in the path", bench.truth()["in_path"], 0)
    check.measure("accepted", bench.truth()["stacked"] + taken(bench))
    back(bench, check)


@rule(f"{COMM}/stacking")
@pytest.mark.parametrize("command", [Command.STACK_1, Command.STACK_2])
def test_host_silent_after_stack(bench: AcceptorBench, check: Check, command: Command) -> None:
    bench.start()
    bench.escrow(IN_FLIGHT)
    bench.command(command)
    check.stimulus("host silent", ms=SILENCE_MS)
    silence(bench)
    check.expect("standing", bench.state()["standing"], ["comm_error"])
    check.measure("accepted", taken(bench))
    with check.duty("still reports what it stacked", Unreached):
        bench.until(Status.VEND_VALID)
        settle(bench)
    check.measure("credited_minus_stacked", difference(bench))


@rule(f"{COMM}/boot")
def test_host_silent_from_the_start(bench: AcceptorBench, check: Check) -> None:
    check.stimulus("started, host silent", ms=SILENCE_MS)
    silence(bench)
    check.expect("standing", bench.state()["standing"], ["comm_error"])
    check.measure("accepted", taken(bench))
    back(bench, check)


@rule(f"{COMM}/interrupt-mode")
def test_unanswered_enq(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.command(Command.SET_COMMUNICATION_MODE, b"\x01")
    bench.status()
    bench.advance(4 * SILENCE_MS)
    check.expect("standing with nothing to say", bench.state()["standing"], [])
    check.stimulus("item inserted, its ENQ not answered", ms=SILENCE_MS)
    bench.insert(IN_FLIGHT)
    silence(bench)
    bench.advance(1500)
    check.expect("standing", bench.state()["standing"], ["comm_error"])
    check.measure("accepted", bench.truth()["stacked"] + taken(bench))
    back(bench, check)


@rule(f"{COMM}/interrupt-mode")
def test_answered_enq(bench: AcceptorBench, check: Check) -> None:
    """The same host that answers: what stops acceptance is the silence, and not the mode."""
    bench.start()
    bench.command(Command.SET_COMMUNICATION_MODE, b"\x01")
    check.stimulus("item inserted, every ENQ answered by a poll")
    bench.stack(IN_FLIGHT)
    check.expect("standing", bench.state()["standing"], [])
    check.measure("accepted", bench.truth()["stacked"] - 1)
    check.measure("credited_minus_stacked", difference(bench))


def in_every_phase() -> list[object]:
    return [
        pytest.param(phase, reach, marks=rule(f"{RESET}/{part}", f"{RESET}/settings"), id=phase)
        for phase, part, reach in PHASES
    ]


@pytest.mark.parametrize(("phase", "reach"), in_every_phase())
def test_reset(bench: AcceptorBench, check: Check, phase: str, reach: Act) -> None:
    """Reset at any moment: until the settings came again, the host may send what it likes."""
    bench.start()
    reach(bench)
    check.stimulus("reset, then every command but the settings", phase=phase)
    bench.command(Command.RESET)
    press(bench, ACTIONS)
    offer(bench)
    press(bench, ACTIONS)
    before_lever = phase in ("accepting", "escrow", "stacking")
    check.measure("accepted", next_stacked(bench) + before_lever * bench.truth()["stacked"])
    with check.duty("initialises", Unreached):
        settle(bench)
    check.measure("credited_minus_stacked", difference(bench))


@rule(f"{RESET}/settings")
def test_settings_but_the_one_that_enables(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("reset, all settings but the inhibit")
    bench.command(Command.RESET)
    press(bench, [setting for setting in ENABLE_ALL if setting[0] != Command.SET_INHIBIT])
    offer(bench)
    press(bench, ACTIONS)
    check.measure("accepted", bench.truth()["stacked"])
    check.measure("credited_minus_stacked", difference(bench))


@rule(f"{RESET}/idle")
def test_item_waits_until_the_self_test_is_over(bench: AcceptorBench, check: Check) -> None:
    """The settings are back at once; the self-test takes its time."""
    bench.start()
    check.stimulus("reset and settings at once, an item at the mouth")
    bench.command(Command.RESET)
    bench.configure()
    bench.insert(NEXT)
    drawn = 0
    while bench.state()["post"]["ok"] is None and bench.ms < 20_000:
        drawn = max(drawn, (bench.truth()["position"] or 0) - MOUTH_MM)
        bench.advance(20)
    check.measure("accepted", int(drawn > 0) + bench.truth()["stacked"])
    settle(bench)
    check.measure("credited_minus_stacked", difference(bench))


@rule(f"{RESET}/boot")
def test_no_reset_since_the_start(bench: AcceptorBench, check: Check) -> None:
    """Power up is shown until the host resets: settings alone open nothing, unless they are the reset."""
    commands = short_of_reset(bench)
    check.stimulus("started; every command but the reset", commands=[f"{command:02x}" for command, _ in commands])
    offer(bench)
    press(bench, commands)
    press(bench, commands)
    check.measure("accepted", bench.truth()["stacked"])
    check.measure("credited_minus_stacked", difference(bench))

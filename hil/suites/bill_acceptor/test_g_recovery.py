"""13:69E-1.28N(g), second sentence: a self-test after every recovery from an error, before anything is accepted."""

from __future__ import annotations

import pytest
from pitbench.protocols.id003 import Command, Status
from pitbench_hil import acceptor_drives
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_errors import (
    FAILED_SELF_TEST,
    JAM_IN_ACCEPTOR,
    JAM_IN_STACKER,
    SILENT_HOST,
    STANDING,
    Error,
    clear_path,
)
from pitbench_hil.acceptor_pins import PinBench
from pitbench_hil.acceptor_post import (
    NOTE,
    PASSED_MS,
    STEP_MS,
    break_part,
    early,
    failed_steps,
    mend,
    ready_within,
    result,
)
from pitbench_hil.check import Check
from pitbench_hil.marks import images, needs, rule

CHEAT = Error(
    "cheat", "NJ-1.28N(i)8", "cheated", Status.CHEATED, says="Cheat",
    make=acceptor_drives.cheated, end=clear_path, latched=True, at_idle=True,
)  # fmt: skip
BY_NAME = {error.name: error for error in STANDING} | {
    "jam-in-reach": JAM_IN_ACCEPTOR,
    "jam-out-of-reach": JAM_IN_STACKER,
    "communication-error": SILENT_HOST,
    "hardware-error": FAILED_SELF_TEST,
    "cheat": CHEAT,
}
NAMES = (
    "jam-in-reach", "jam-out-of-reach", "stacker-door", "stacker-removed", "stacker-full", "acceptor-door",
    "communication-error", "hardware-error", "cheat",
)  # fmt: skip
# Errors that a pin tells of: name, level that raises it, level that ends it.
PINS = {
    "stacker-door": ("stacker_door", 1, 0),
    "stacker-removed": ("box", 0, 1),
    "stacker-full": ("full", 1, 0),
    "acceptor-door": ("acceptor_door", 1, 0),
}
EACH = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=rule(f"NJ-1.28N(g)/after-recovery/{name}")) for name in NAMES]
)


def runs(bench: AcceptorBench) -> int:
    """How many self-tests were begun since power-up."""
    return int(bench.do("post")["run"])


def await_run(bench: AcceptorBench, after: int) -> None:
    """Wait for one self-test more, though not for ever: parts take their time to move."""
    start = bench.ms
    while runs(bench) == after and bench.ms - start < PASSED_MS:
        bench.advance(STEP_MS)


def raised(bench: AcceptorBench, check: Check, name: str) -> Error:
    """From idle into the error."""
    error = BY_NAME[name]
    check.stimulus("error raised", error=name)
    bench.start()
    error.make(bench)
    # On the link: the first poll ends a communication error.
    check.expect("stands", error.condition in bench.state()["standing"], True)
    return error


def cleared(bench: AcceptorBench, check: Check, error: Error) -> None:
    """The cause taken away, and what else it takes."""
    check.stimulus("error cleared", reset=error.latched)
    error.end(bench)
    if error.latched:
        bench.command(Command.RESET)
    bench.status()


def settings_if_due(bench: AcceptorBench) -> None:
    """What a host sends meanwhile: settings, once they are asked for."""
    if bench.status().cmd in bench.speech.unset:
        bench.configure()


@needs("plant")
@EACH
def test_self_test_before_anything_is_accepted(bench: AcceptorBench, check: Check, name: str) -> None:
    error = raised(bench, check, name)
    before = runs(bench)
    cleared(bench, check, error)
    stacked = bench.truth()["stacked"]
    bench.insert(NOTE)
    early_ones = early(bench, lambda: settings_if_due(bench), runs=before + 1)
    check.measure("new_self_tests", runs(bench) - before)
    check.expect("passed", bench.do("post")["ok"], True)
    check.expect("accepted before it passed", early_ones, 0)
    check.expect("stacked before the host said so", bench.truth()["stacked"] - stacked, 0)


@needs("plant")
@EACH
def test_recovery_finds_what_broke_meanwhile(bench: AcceptorBench, check: Check, name: str) -> None:
    error = raised(bench, check, name)
    before = runs(bench)
    check.stimulus("scan head broken unnoticed while the error stands")
    # The error that a failed part makes is ended by mending that part: let another fail.
    part = "stack_motor" if name == "hardware-error" else "scanner"
    break_part(bench, part)
    cleared(bench, check, error)
    settings_if_due(bench)
    check.expect("failed step", failed_steps(result(bench)), [part])
    check.expect("ready", ready_within(bench, 1000), False)
    check.measure("new_self_tests", runs(bench) - before)
    check.stimulus("mended, reset by the host")
    mend(bench, part)
    bench.command(Command.RESET)
    bench.configure()
    check.expect("ready after repair", ready_within(bench), True)


def reset_until_released(bench: AcceptorBench, status: int) -> None:
    """Pin and wire are two ways: a reset may overtake the pin that ends the cause, and finds it standing."""
    for _ in range(20):
        bench.command(Command.RESET)
        bench.configure()
        if bench.status().cmd != status:
            return


@images("release")
@needs("pins")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=rule(f"NJ-1.28N(g)/after-recovery/{name}")) for name in PINS]
)
def test_recovery_of_a_release_image(bench: PinBench, check: Check, name: str) -> None:
    pin, wrong, right = PINS[name]
    bench.start()
    for broken in (False, True):
        check.stimulus("error raised and cleared", error=name, scan_head_broken_meanwhile=broken)
        before = runs(bench)
        bench.pins.pins(pin, wrong)
        bench.until(BY_NAME[name].status)
        if broken:
            break_part(bench)
        bench.pins.pins(pin, right)
        if BY_NAME[name].latched:
            reset_until_released(bench, BY_NAME[name].status)
        await_run(bench, before)
        bench.until(Status.FAILURE if broken else Status.IDLE)
        check.measure("new_self_tests", runs(bench) - before)
        check.expect("failed step", failed_steps(result(bench)), ["scanner"] if broken else [])

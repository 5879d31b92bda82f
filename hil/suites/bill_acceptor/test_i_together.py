"""13:69E-1.28N(i): several errors together, errors in the self-test and on the way back, errors at every moment."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from pitbench.protocols.id003 import Command
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_errors import (
    IN_FLIGHT,
    JAM_IN_ACCEPTOR,
    JAM_IN_STACKER,
    SILENT_HOST,
    STANDING,
    Error,
    silence,
)
from pitbench_hil.acceptor_tempter import NEXT, difference, next_stacked, oblige, settle, tempt
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

TOGETHER = rule("NJ-1.28N(i)/cleared-one-by-one")
# What wants an idle device is raised first.
EVERY_ERROR = (JAM_IN_STACKER, JAM_IN_ACCEPTOR, *STANDING)
JAMS = (JAM_IN_STACKER, JAM_IN_ACCEPTOR)
BY_NAME = {error.name: error for error in EVERY_ERROR}
PAIRS = [pair for pair in combinations(EVERY_ERROR, 2) if pair != JAMS]
TRIPLES = [
    ("jam-in-stacker", "stacker-full", "acceptor-door"),
    ("stacker-door", "stacker-removed", "stacker-unlocked"),
    ("stacker-door", "stacker-full", "acceptor-door"),
]
# From insertion to rest is 2 s; each error meets other moments of it.
WHOLE_MS, SWEEP_MS = 2100, 190


RECOVERY = "NJ-1.28N(g)/after-recovery"
RECOVERY_PART = {
    "stacker-door": "stacker-door",
    "stacker-removed": "stacker-removed",
    "stacker-full": "stacker-full",
    "acceptor-door": "acceptor-door",
    "comm-error": "communication-error",
}


def self_test_rules(error: Error) -> list[str]:
    """The rule that asks for a self-test after it."""
    return [f"{RECOVERY}/{RECOVERY_PART[error.name]}"] if error.name in RECOVERY_PART else []


def names(errors: tuple[Error, ...]) -> str:
    return "+".join(error.name for error in errors)


def cleared_in_order(bench: AcceptorBench, check: Check, made: tuple[Error, ...], order: tuple[Error, ...]) -> int:
    """Raise, clear all but the last, one by one, with an item pushed in each time; how many of these were accepted."""
    for error in made:
        error.make(bench)
    check.stimulus("raised together", errors=names(made))
    before = bench.truth()["stacked"]
    for error in order[:-1]:
        check.stimulus("cleared", error=error.name)
        error.end(bench)
        tempt(bench)
    accepted = int(bench.truth()["stacked"] - before)
    check.expect("standing", bench.state()["standing"], [order[-1].condition])
    order[-1].end(bench)
    settle(bench)
    return accepted


@TOGETHER
@pytest.mark.parametrize("pair", PAIRS, ids=names)
def test_pair(bench: AcceptorBench, check: Check, pair: tuple[Error, Error]) -> None:
    bench.start()
    accepted = 0
    with check.duty("serves again when the last is cleared", Unreached):
        for order in permutations(pair):
            accepted += cleared_in_order(bench, check, pair, order)
        bench.stack(NEXT)
    check.measure("accepted", accepted)
    check.measure("credited_minus_stacked", difference(bench))


@TOGETHER
@pytest.mark.parametrize("triple", TRIPLES, ids="+".join)
def test_triple(bench: AcceptorBench, check: Check, triple: tuple[str, ...]) -> None:
    bench.start()
    errors = tuple(BY_NAME[name] for name in triple)
    accepted = 0
    with check.duty("serves again when the last is cleared", Unreached):
        for order in permutations(errors):
            accepted += cleared_in_order(bench, check, errors, order)
    check.measure("accepted", accepted)
    check.measure("credited_minus_stacked", difference(bench))


@TOGETHER
@pytest.mark.parametrize("error", STANDING, ids=lambda error: error.name)
def test_host_comes_back_and_the_other_error_stands(bench: AcceptorBench, check: Check, error: Error) -> None:
    bench.start()
    error.make(bench)
    silence(bench)
    check.stimulus("host back", standing=bench.state()["standing"])
    tempt(bench)
    check.measure("accepted", bench.truth()["stacked"])
    check.measure("credited_minus_stacked", difference(bench))
    check.expect("standing", bench.state()["standing"], [error.condition])


@pytest.mark.parametrize(
    "error", [pytest.param(error, marks=rule(f"{error.clause}/idle"), id=error.name) for error in STANDING]
)
def test_error_in_a_self_test(bench: AcceptorBench, check: Check, error: Error) -> None:
    """Between reset and idle, at one moment after another."""
    bench.start()
    for ms in range(20, 900, 170):
        bench.command(Command.RESET)
        bench.configure()
        bench.advance(ms)
        check.stimulus(error.name, ms_after_reset=ms)
        error.make(bench)
        tempt(bench, reset=False)
        check.expect("standing", bench.state()["standing"], [error.condition])
        error.end(bench)
        settle(bench)
    check.measure("accepted", next_stacked(bench))
    check.measure("credited_minus_stacked", difference(bench))


@pytest.mark.parametrize(
    "error", [pytest.param(error, marks=rule(f"{error.clause}/escrow"), id=error.name) for error in STANDING]
)
def test_error_on_the_way_back(bench: AcceptorBench, check: Check, error: Error) -> None:
    bench.start()
    for ms in (20, 250, 500):
        bench.escrow(IN_FLIGHT)
        bench.command(Command.RETURN)
        bench.advance(ms)
        check.stimulus(error.name, ms_after_return=ms)
        error.make(bench)
        tempt(bench)
        error.end(bench)
        settle(bench)
    check.measure("accepted", bench.truth()["stacked"])
    check.measure("credited_minus_stacked", difference(bench))


def run_for(bench: AcceptorBench, ms: int) -> None:
    """A host that takes all, for so long after an insertion."""
    while ms >= 100:
        bench.advance(100)
        oblige(bench)
        ms -= 100
    bench.advance(ms)


@pytest.mark.parametrize(
    ("error", "shift"),
    [
        pytest.param(error, 23 * index, marks=rule(f"{error.clause}/stacking", *self_test_rules(error)), id=error.name)
        for index, error in enumerate((*STANDING, SILENT_HOST))
    ],
)
def test_error_at_every_moment(bench: AcceptorBench, check: Check, error: Error, shift: int) -> None:
    """From the mouth to rest: what isn't past the lever comes back, what is past it is credited, nothing follows."""
    bench.start()
    for ms in range(shift, WHOLE_MS, SWEEP_MS):
        bench.insert(IN_FLIGHT)
        run_for(bench, ms)
        check.stimulus(error.name, ms_after_insertion=ms)
        tests = bench.state()["post"]["run"]
        error.make(bench)
        if error is not SILENT_HOST:
            tempt(bench, reset=False, ms=1500)
        error.end(bench)
        settle(bench)
        for name in self_test_rules(error):
            check.measure("new_self_tests", bench.state()["post"]["run"] - tests, rule=name)
    check.measure("accepted", next_stacked(bench))
    check.measure("credited_minus_stacked", difference(bench))

"""9 NYCRR 5321.12(f), 5321.15(d) and 13:69E-1.28K(f): light and message while an event or malfunction stands.

test_i_errors.py looks at them too, for each error in each phase of an insertion.
"""

from __future__ import annotations

import pytest
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_errors import EVERY, SILENT_HOST, STANDING, Error, expect_signal, signal_rules
from pitbench_hil.acceptor_tempter import settle, tempt
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule

CALM = "green"
LONG_MS = 60_000
EACH = [pytest.param(error, marks=rule(*signal_rules(error)), id=error.name) for error in EVERY]


def light(bench: AcceptorBench) -> str:
    return str(bench.state()["light"])


@pytest.mark.parametrize("error", EACH)
def test_signal_stands_as_long_as_the_error(bench: AcceptorBench, check: Check, error: Error) -> None:
    bench.start()
    check.expect("light while idle", light(bench), CALM)
    check.stimulus("raised", error=error.name)
    error.make(bench)
    expect_signal(bench, check, error, "at once")
    if error is not SILENT_HOST:
        tempt(bench)
        expect_signal(bench, check, error, "whatever the host does")
    else:
        bench.advance(LONG_MS)
        expect_signal(bench, check, error, "a minute later")
    check.stimulus("cleared")
    error.end(bench)
    with check.duty("comes back to idle", Unreached):
        settle(bench)
    check.expect("light cleared", light(bench), CALM)
    check.expect("message cleared", error.says in bench.state()["message"], False)


@pytest.mark.parametrize("error", EACH[len(STANDING) :])
def test_signal_after_a_power_cycle(bench: AcceptorBench, check: Check, error: Error) -> None:
    bench.start()
    error.make(bench)
    bench.power_cycle()
    if error is SILENT_HOST:
        error.make(bench)
    check.stimulus("power cycle", error=error.name)
    expect_signal(bench, check, error, "at the start")


@pytest.mark.parametrize("error", EACH)
def test_signal_stays_for_the_other(bench: AcceptorBench, check: Check, error: Error) -> None:
    """Two stand and one is cleared: the light stays, for the one that is left."""
    bench.start()
    other = next(row for row in STANDING if row.name == ("stacker-full" if "door" in error.name else "stacker-door"))
    error.make(bench)
    other.make(bench)
    check.stimulus("two stand, one is cleared", left=error.name, cleared=other.name)
    other.end(bench)
    if error is not SILENT_HOST:
        tempt(bench)
    expect_signal(bench, check, error, "with one left")

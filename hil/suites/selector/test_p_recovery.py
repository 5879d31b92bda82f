"""13:69E-1.28P(j): back to the state before; an open round has its number again, and never another."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest
from pitbench_hil.acts import afresh, restart
from pitbench_hil.attended_bench import START_MS
from pitbench_hil.check import Check
from pitbench_hil.errors_raised import Error, raised
from pitbench_hil.marks import rule
from pitbench_hil.power_watch import until_power_goes
from pitbench_hil.selector import NUMBERS, SELECT_MS, SelectorBench
from pitbench_hil.selector_errors import DISPLAY, DOOR, HOUSING, PROGRAM, SOURCE, STATES, to_selecting, to_shown

RECOVERS = "NJ-1.28P(j)/recovers"
# State before → the state that it comes back to.
BACK = {"idle": "idle", "selecting": "shown", "shown": "shown", "done": "idle", "locked": "locked"}
MOMENTS = range(0, SELECT_MS, 90)


@rule(f"{RECOVERS}/power-cut")
@pytest.mark.parametrize("state", BACK)
def test_power_cut_in_a_state(still: SelectorBench, check: Check, state: str) -> None:
    still.select()
    still.press("done")
    STATES[state](still)
    before, shown = still.rounds(), still.display()
    check.stimulus("power cut", state=state)
    restart(still)
    _back(still, check, BACK[state])
    check.measure("other_numbers", sum(row not in still.rounds() for row in before))
    if shown:
        check.expect("the number on the display", still.display(), shown)


def _back(bench: SelectorBench, check: Check, state: str) -> None:
    """It is in that state, and shows the last round's number there and nowhere else."""
    status = bench.status()
    check.note("came back", state=status["state"], message=status["message"], display=bench.display())
    check.measure("other_states", int(status["state"] != state))
    due = bench.rounds()[-1][3] if state == "shown" and bench.rounds() else 0
    check.measure("other_numbers", int(bench.display() != due))


@rule(f"{RECOVERS}/power-cut")
def test_power_cut_at_every_moment_of_a_round(bench: SelectorBench, check: Check) -> None:
    for moment in MOMENTS:
        rounds, figures = len(bench.rounds()), len(bench.figures())
        check.stimulus("power cut", ms_after_the_press=moment)
        bench.do("press", button="select")
        bench.advance(moment)
        restart(bench)
        _back(bench, check, "shown")
        check.measure("other_numbers", abs(len(bench.rounds()) - rounds - 1))
        check.measure("other_numbers", len(set(bench.figures()[figures:])) - 1)
        bench.press("done")
        if moment % 4 == 0:
            afresh(bench)
            bench.commission("technician")


CUTS = ("before", "torn_prefix", "torn_zeros", "torn_ff", "after")
# More than a round has: two to a commit.
MOST_WRITES = 20


def cut_in_a_round(bench: SelectorBench, write: int, how: str) -> bool:
    """A round, done, with the power cut at that store write; whether it was."""
    bench.do("store_fault", at=write, how=how)
    with until_power_goes(bench.board):
        bench.press("select")
        bench.advance(SELECT_MS)
        bench.press("done")
    return not bench.board.has_power


def judged(bench: SelectorBench, check: Check, before: list[list[int]], figures: int) -> None:
    """After the start: the rounds before are there; the cut one is whole or was never, and was seen with one number."""
    state = bench.status()["state"]
    rounds, seen = bench.rounds(), bench.figures()[figures:]
    check.measure("other_states", int(state not in ("idle", "shown")))
    lost = sum(row not in rounds for row in before)
    own = [row[3] for row in rounds if row not in before]
    otherwise = len(own) > 1 or any(figure not in own for figure in seen)
    check.note("came back", state=state, own=own, seen=seen)
    check.measure("other_numbers", lost + otherwise + (bench.display() != (rounds[-1][3] if state == "shown" else 0)))
    if state == "shown":
        bench.press("done")
    number = bench.select()
    check.measure("other_numbers", int(number not in NUMBERS or bench.rounds()[-1][3] != number))
    check.expect("numbered on", [row[0] for row in bench.rounds()], list(range(1, len(bench.rounds()) + 1)))


@rule(f"{RECOVERS}/cut-at-every-write")
@pytest.mark.parametrize("how", CUTS)
def test_cut_at_every_write(bench: SelectorBench, check: Check, how: str) -> None:
    for write in range(1, MOST_WRITES):
        bench.select()
        bench.press("done")
        before, figures = bench.rounds(), len(bench.figures())
        check.stimulus("power cut at a store write of a round", write=write, how=how)
        if not cut_in_a_round(bench, write, how):
            break
        restart(bench)
        judged(bench, check, before, figures)
        afresh(bench)
        bench.commission("technician")
    check.expect("store writes of a round were cut", write > 4, True)


@rule(f"{RECOVERS}/second-cut")
@pytest.mark.parametrize("how", CUTS)
def test_cut_again_while_it_recovers(bench: SelectorBench, check: Check, how: str) -> None:
    for write in range(1, MOST_WRITES, 2):
        bench.select()
        bench.press("done")
        before, figures = bench.rounds(), len(bench.figures())
        if not cut_in_a_round(bench, write, "after"):
            break
        cuts = cut_recoveries(bench, how)
        check.stimulus("power cut in a round, and at each write of the recovery", write=write, how=how, cuts=cuts)
        judged(bench, check, before, figures)
        check.expect("recoveries were cut", cuts > 1, True)
        afresh(bench)
        bench.commission("technician")


def cut_recoveries(bench: SelectorBench, how: str) -> int:
    """Cut each recovery one write later than the one before, until one needs fewer writes. Returns the cuts made."""
    for write in count(1):
        bench.board.rig.fault_at_start(write, how)
        bench.cut()
        with until_power_goes(bench.board):
            bench.power_on()
            bench.advance(START_MS)
        if bench.board.has_power:
            restart(bench)
            return write - 1
    raise AssertionError


# What ends operation and leaves the round as it is, in each state that it comes to.
ENDED = [(error, way) for error in (DOOR, HOUSING, PROGRAM) for way in error.ways]


@rule(f"{RECOVERS}/error")
@pytest.mark.parametrize(("error", "state"), [pytest.param(*each, id=f"{each[0].name}-{each[1]}") for each in ENDED])
def test_error_in_a_state(still: SelectorBench, check: Check, error: Error, state: str) -> None:
    check.stimulus("an error, cleared", state=state, error=error.name)
    raised(still, error, state)
    before = still.rounds()
    error.end(still)
    still.clear()
    _back(still, check, BACK[state])
    check.measure("other_numbers", sum(row not in still.rounds() for row in before))


@rule(f"{RECOVERS}/error")
@pytest.mark.parametrize("reach", [to_selecting, to_shown], ids=["selecting", "shown"])
def test_display_that_fails_in_a_round(
    bench: SelectorBench, check: Check, reach: Callable[[SelectorBench], None]
) -> None:
    reach(bench)
    number = bench.display()
    check.stimulus("the display goes dark; mended, cleared")
    bench.do("break", part="display", how="dark")
    bench.advance(SELECT_MS)
    check.expect("state", bench.status()["state"], "error")
    DISPLAY.end(bench)
    bench.clear()
    _back(bench, check, "shown")
    check.measure("other_numbers", int(bool(number) and bench.display() != number))


@rule(f"{RECOVERS}/error")
@pytest.mark.parametrize("state", ["shown", "done"])
def test_error_while_a_round_is_recalled(bench: SelectorBench, check: Check, state: str) -> None:
    """What the message says afterwards is what stands, and no round before it."""
    STATES[state](bench)
    before = bench.status()["message"]
    bench.press("recall")
    check.expect("recalled", bench.status()["message"].startswith("Round 1,"), True)
    check.stimulus("the service door opened while a round is recalled; closed, cleared", state=state)
    DOOR.ways["idle"](bench)
    DOOR.end(bench)
    bench.clear()
    _back(bench, check, BACK[state])
    check.measure("other_states", int(bench.status()["message"] != before))


@rule(f"{RECOVERS}/error")
def test_without_a_source_the_rounds_before_stay(bench: SelectorBench, check: Check) -> None:
    bench.select()
    before = bench.rounds()
    check.stimulus("the source fails at the next press; sound again, cleared")
    SOURCE.ways["idle"](bench)
    SOURCE.end(bench)
    bench.clear()
    _back(bench, check, "idle")
    check.measure("other_numbers", int(bench.rounds() != before))

"""13:69E-1.13A(d)1ii, I(d)2, 1.16A(a): opened, unlocked, loose: no result, an alarm, on the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pitbench_hil.acts import restart
from pitbench_hil.check import Check
from pitbench_hil.dice_moves import MOMENTS, OPENINGS, RESULT, closed, opened, to_moment
from pitbench_hil.dice_shaker import DiceBench
from pitbench_hil.marks import rule

WAIT_MS = 8000
SIC_BO, MINI_DICE, LOCK, SECURED = (
    "NJ-1.13A(d)1ii/lid",
    "NJ-1.13I(d)2/lid",
    "NJ-1.13A(d)1ii/lock",
    "NJ-1.16A(a)/secured",
)


def each(rule_id: str) -> list[Any]:
    """A moment of a round, with its row of that rule."""
    return [pytest.param(moment, marks=rule(f"{rule_id}/{moment}")) for moment in MOMENTS]


def unalarmed(bench: DiceBench, what: str) -> int:
    """1 unless light, state and log tell of it."""
    status, name = bench.status(), OPENINGS[what][3]
    shown = name in status["standing"] and status["light"] == "red" and status["state"] == "error"
    return 0 if shown and name in bench.logged() else 1


def results_of(bench: DiceBench, check: Check, what: str, moment: str, faces: Sequence[int] = RESULT) -> int:
    """Open it at that moment, wait, press shake; how many results came after the opening."""
    to_moment(bench, moment, faces)
    before = len(bench.results())
    check.stimulus("opened", what=what, moment=moment)
    check.measure("detected_after", opened(bench, what), unit="ms", uncertainty=0.0)
    bench.advance(WAIT_MS)
    check.measure("unlogged", unalarmed(bench, what))
    bench.press("shake")
    bench.advance(WAIT_MS)
    closed(bench, what)
    bench.press("shake")
    bench.advance(WAIT_MS)
    check.expect("still stopped, closed again", bench.status()["state"], "error")
    check.expect("dice at rest", bench.truth()["moving"], False)
    return len(bench.results()) - before


def played_on(bench: DiceBench) -> int:
    """Cleared with the key, shaken: rounds that nobody filled it for."""
    before = len(bench.results())
    bench.clear()
    bench.press("shake")
    bench.advance(WAIT_MS)
    return len(bench.results()) - before


@pytest.mark.parametrize("moment", each(SIC_BO))
def test_lid_of_sic_bo(bench: DiceBench, check: Check, moment: str) -> None:
    check.measure("results", results_of(bench, check, "lid", moment))
    check.measure("played_on", played_on(bench))


@pytest.mark.parametrize("moment", each(MINI_DICE))
def test_lid_of_mini_dice(still: DiceBench, check: Check, moment: str) -> None:
    still.ready(game="mini-dice")
    check.measure("results", results_of(still, check, "lid", moment, RESULT[:2]))
    check.measure("played_on", played_on(still))


@pytest.mark.parametrize("moment", each(LOCK))
def test_lock(bench: DiceBench, check: Check, moment: str) -> None:
    check.measure("results", results_of(bench, check, "lock", moment))
    plays_again(bench, check)
    again_after_a_restart(bench, check, "lock", moment)


@pytest.mark.parametrize("moment", each(SECURED))
def test_latch(bench: DiceBench, check: Check, moment: str) -> None:
    check.measure("results", results_of(bench, check, "latch", moment))
    plays_again(bench, check)
    again_after_a_restart(bench, check, "latch", moment)


def plays_again(bench: DiceBench, check: Check) -> None:
    """Put right and cleared, a round gives a result."""
    bench.clear()
    if bench.status()["state"] == "shown":
        bench.next()
    check.expect("a round after it was put right", bench.shake("261")["faces"], [2, 6, 1])
    bench.next()


def again_after_a_restart(bench: DiceBench, check: Check, what: str, moment: str) -> None:
    """The same after the power was off."""
    bench.power_cycle()
    bench.start()
    check.measure("results", results_of(bench, check, what, moment))


@rule("NJ-1.13A(d)1ii/sealed")
def test_sealed_it_plays_unlocked(still: DiceBench, check: Check) -> None:
    still.staffed()
    still.place("fff")
    still.do("lock", locked=False)
    check.stimulus("sealed instead of locked")
    check.expect("filled", still.fill(seal="S-1234")["state"], "idle")
    check.measure("locked_out", int(still.shake("261")["faces"] != [2, 6, 1]))
    check.expect("seal on record", still.do("dice")["filled"]["seal"], "S-1234")
    still.next()
    check.stimulus("its lid opened")
    check.expect("told within 100 ms", opened(still, "lid") <= 100, True)
    check.expect("stopped", still.status()["state"], "error")


@rule("NJ-1.13A(d)1ii/filled-closed")
def test_neither_open_nor_unlocked_is_filled(still: DiceBench, check: Check) -> None:
    still.staffed()
    still.place("fff")
    filled = 0
    for op, wrong, right, _ in (OPENINGS["lid"], OPENINGS["lock"]):
        still.do(op, **wrong)
        check.stimulus("asked to fill it", **wrong)
        filled += not still.refused_fill()
        still.do(op, **right)
    check.measure("filled", filled)
    check.expect("closed and locked", still.refused_fill(), "")


@rule("NJ-1.16A(a)/secured-when-filled", "NJ-1.13A(d)1v/secured")
def test_loose_it_is_not_filled_and_found_at_the_start(still: DiceBench, check: Check) -> None:
    still.staffed()
    still.place("fff")
    still.do("latch", secured=False)
    check.stimulus("asked to fill it loose")
    check.measure("filled", int(not still.refused_fill()))
    still.do("latch", secured=True)
    check.expect("secured", still.refused_fill(), "")
    check.stimulus("loosened, power off and on at once")
    still.do("latch", secured=False)
    restart(still)
    still.press("shake")
    still.advance(WAIT_MS)
    check.measure("results", len(still.results()))
    check.expect("alarm", unalarmed(still, "latch"), 0)


@rule("NJ-1.16(f)1iii(3)/handed-over")
def test_mini_dice_need_no_latch(still: DiceBench, check: Check) -> None:
    still.do("latch", secured=False)
    still.staffed(game="mini-dice")
    still.place("ff")
    check.stimulus("filled and shaken loose", game="mini-dice")
    check.expect("filled", still.refused_fill(), "")
    check.measure("locked_out", int(still.shake("35")["faces"] != [3, 5]))

"""13:69E-1.28G(c)2, 3: void by a fault alone, again within a bound, and one result a round."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pitbench_hil.acts import restart, until_truth
from pitbench_hil.check import Check
from pitbench_hil.dice_moves import MOMENTS, UNREAD, faces_told, to_moment
from pitbench_hil.dice_shaker import DiceBench
from pitbench_hil.marks import rule
from pitbench_hil.run import Run

CLAUSE = "NJ-1.28G(c)2"
ROUND_MS, LONG_MS = 3000, 30_000
# A write that no round comes to.
NEVER = 100_000


@pytest.mark.parametrize("how", UNREAD)
@rule(f"{CLAUSE}/no-fault-without-void")
def test_with_a_fault_every_outcome_is_void(still: DiceBench, check: Check, run: Run, how: str) -> None:
    still.ready(tries=1)
    every = list(itertools.product(range(1, 7), repeat=3))[:: 1 if how == "unsure" else 7]
    spared = 0
    tried = run.few(every)
    for faces in tried:
        still.lie(**spoiled(how, faces))
        still.do("press", button="shake")
        still.advance(ROUND_MS)
        status = still.status()
        if status["faces"] or status["standing"] != ["no_result"]:
            check.note("not void", how=how, faces=faces, standing=status["standing"], shown=status["faces"])
            spared += 1
        still.clear()
        if status["faces"]:
            still.next()
    check.measure("fault_without_void", spared)
    check.expect("voids metered", still.do("meters").get(f"void_{how}", 0), len(tried) - spared)


def spoiled(how: str, faces: tuple[int, ...]) -> dict[str, Any]:
    """How the dice lie: so, but for one of them."""
    above = "".join(map(str, faces))
    below = "".join(str(7 - face) for face in faces)
    return {
        "leaning": {"above": above[:2] + "0", "below": below[:2] + "0"},
        "stacked": {"above": above[:2], "below": below},
        "unsure": {"above": above, "sure": 89},
    }[how]


@pytest.mark.parametrize("tries", [1, 2, 3, 5])
@rule(f"{CLAUSE}/bounded")
def test_void_shakes_end_with_an_attendant(still: DiceBench, check: Check, tries: int) -> None:
    still.ready(tries=tries)
    for _ in range(tries + 3):
        still.lie("304")
    before = still.truth()["coming"]
    check.stimulus("void shakes without end", bound=tries)
    still.press("shake")
    still.advance(LONG_MS)
    shaken = before - still.truth()["coming"]
    check.measure("shakes_beyond", max(0, shaken - tries))
    check.expect("shakes", shaken, tries)
    check.expect("stopped", still.status()["standing"], ["no_result"])
    check.expect("the round that ended so", still.rounds()[-1][2:], ["", tries, "no_result"])


@rule(f"{CLAUSE}/bounded")
def test_power_cuts_count_among_the_tries(still: DiceBench, check: Check) -> None:
    still.ready(tries=2)
    beyond = 0
    for cut in range(1, 4):
        still.press("shake")
        still.advance(500)
        beyond += cut > 2 and still.truth()["moving"]
        check.stimulus("power cut in a shake", number=cut)
        still.power_cycle()
        still.advance(2000)
    check.measure("shakes_beyond", int(beyond))
    check.expect("stopped", still.status()["standing"], ["no_result"])


@rule(f"{CLAUSE}/bounded")
def test_void_shakes_outlast_a_result_that_was_not_stored(still: DiceBench, check: Check) -> None:
    """Its round is open with the tries that it had, and what is stored later has them too."""
    tries = 3
    still.ready(tries=tries)
    for above in ["304"] * (tries - 1) + ["354"] + ["304"] * (tries + 3):
        still.lie(above)
    last = still.truth()["coming"] - tries
    still.press("shake")
    until_truth(still, lambda truth: truth["coming"] == last, within=LONG_MS, step=100)
    check.stimulus("void shakes, then one whose result finds the store full; room again, power off and on", bound=tries)
    still.do("store_fault", at=1, how="full")
    still.advance(ROUND_MS)
    check.expect("not stored", still.status()["standing"], ["memory_error"])
    still.do("store_fault", at=NEVER, how="full")
    still.inspect()
    restart(still)
    check.stimulus("void shakes without end")
    still.press("shake")
    still.advance(LONG_MS)
    void = tries - 1 + last - still.truth()["coming"]
    check.note("shakes of the round", void=void, unstored=1)
    check.measure("shakes_beyond", max(0, void + 1 - tries))
    check.expect("stopped", still.status()["standing"], ["no_result"])


@pytest.mark.parametrize("moment", MOMENTS[1:])
@rule(f"{CLAUSE}/one-result-a-round")
def test_a_second_shake_does_nothing(bench: DiceBench, check: Check, moment: str) -> None:
    to_moment(bench, moment)
    bench.lie("111")
    check.stimulus("shake pressed again", moment=moment)
    bench.press("shake")
    bench.advance(ROUND_MS)
    bench.press("shake")
    bench.advance(ROUND_MS)
    status = bench.status()
    check.expect("faces", status["faces"], [3, 5, 4])
    check.measure("second_results", len(bench.results()) - 1)
    check.expect("dice that were not shaken", bench.truth()["coming"], 1)
    bench.next()
    check.expect("the next round", [bench.shake()["faces"], bench.rounds()[-1][0]], [[1, 1, 1], 2])


FAULTS = {
    "void to the bound": ("lie", {"above": "304"}),
    "a die gone": ("lie", {"above": "35"}),
    "an impossible die": ("lie", {"above": "354", "below": "424"}),
    "a motor that stands": ("break", {"part": "shaker"}),
    "blind readers": ("break", {"part": "look"}),
    "dice that never rest": ("break", {"part": "rest"}),
}


@pytest.mark.parametrize("fault", FAULTS)
@rule("NJ-1.28G(c)3/void-is-called-void")
def test_without_a_result_none_is_told(bench: DiceBench, check: Check, fault: str) -> None:
    op, args = FAULTS[fault]
    for _ in range(3 if op == "lie" else 1):
        bench.do(op, **args)
    check.stimulus("a round that has none", fault=fault)
    bench.press("shake")
    said = []
    for _ in range(30):
        bench.advance(1000)
        said += faces_told(bench)
    bench.clear()
    check.expect("recalled without faces", bench.rounds()[-1][2], "")
    check.note("told", said=said[:3])
    check.measure("false_reports", len(said))


@rule("NJ-1.28G(c)3/void-is-called-void")
def test_what_could_not_be_stored_is_no_result(still: DiceBench, check: Check) -> None:
    failed = 0
    for write in range(1, 12):
        still.board.start_over()
        still.ready()
        still.lie("354")
        check.stimulus("the store is full at a write of a round", write=write)
        still.do("store_fault", at=write, how="full")
        still.press("shake")
        still.advance(ROUND_MS)
        if "memory_error" not in still.status()["standing"]:
            break
        failed += 1
        check.measure("false_reports", len([said for said in faces_told(still) if not said.startswith("event")]))
    check.expect("writes of a round that failed", failed >= 2, True)

"""13:69E-1.28G(a): real dice, tumbled and read by the machine itself, can't be told from fair ones."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pitbench.deadline import Deadline
from pitbench_hil.check import Check
from pitbench_hil.dice_shaker import GAMES, DiceBench
from pitbench_hil.marks import rule

if TYPE_CHECKING:
    from pitbench_hil.dice_random import Throws

SILENCE_S, LOOK_S = 600, 1.0


def thrown(bench: DiceBench, check: Check, count: int) -> Throws:
    """So many results, as they are played: whoever shakes, the rounds are read as they come."""
    import numpy as np

    rows: list[list[int]] = []
    last = max((row[0] for row in bench.rounds()), default=0)
    deadline = Deadline(SILENCE_S)
    while len(rows) < count:
        new = [row for row in bench.rounds() if row[0] > last]
        check.expect("rounds missed", [row[0] for row in new], list(range(last + 1, last + 1 + len(new))))
        rows += [[int(face) for face in row[2].split()] for row in new if row[2]]
        last, deadline = (new[-1][0], Deadline(SILENCE_S)) if new else (last, deadline)
        if deadline.passed:
            check.fail("throws", f"nobody threw for {SILENCE_S} s, after {len(rows)} of {count}")
        time.sleep(LOOK_S)
    return np.array(rows[:count])


@rule("NJ-1.28G(a)/real-dice")
def test_real_dice(fresh: DiceBench, check: Check) -> None:
    # A third of a second of imports, which no other test of a dice shaker needs.
    from pitbench_hil.dice_random import THROWS, declare, judge
    from pitbench_hil.inquiry import FAILED
    from pitbench_hil.statistics.pictures import face_histogram, sum_histogram

    dice = GAMES["sic bo"]
    for plan in declare(dice):
        check.note("declared", plan=str(plan))
    taken: list[Throws] = []

    def samples() -> Iterator[tuple[str, Throws]]:
        while True:
            check.stimulus("throws", sample=len(taken) + 1, throws=THROWS)
            taken.append(thrown(fresh, check, THROWS))
            yield f"sample {len(taken)}", taken[-1]

    trials = judge(dice, samples())
    for trial in trials:
        check.note("judged", verdict=trial.verdict.value, why=trial.why)
    check.note("faces", counts=dict(Counter(taken[0].ravel().tolist())))
    check.picture("faces", face_histogram(taken[0]))
    check.picture("sums", sum_histogram(taken[0]))
    failed, unsure = max(FAILED[trial.verdict] for trial in trials)
    check.measure("failed_samples", failed, uncertainty=unsure)

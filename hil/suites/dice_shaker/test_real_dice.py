"""13:69E-1.28G(a): real dice, tumbled and read by the machine itself, can't be told from fair ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from pitbench_hil.check import Check
from pitbench_hil.dice_random import THROWS, Throws, declare, judge
from pitbench_hil.dice_shaker import GAMES, DiceBench
from pitbench_hil.marks import rule
from pitbench_hil.statistics.pictures import face_histogram, sum_histogram
from pitbench_hil.verdict import Verdict

FAILED = {Verdict.PASS: 0, Verdict.INCONCLUSIVE: 1, Verdict.FAIL: 2}


def thrown(bench: DiceBench, count: int) -> Throws:
    """So many rounds with a result."""
    rows = []
    while len(rows) < count:
        if faces := bench.shake()["faces"]:
            rows.append(faces)
        bench.next()
    return np.array(rows)


@rule("NJ-1.28G(a)/real-dice")
def test_real_dice(bench: DiceBench, check: Check) -> None:
    dice = GAMES["sic bo"]
    for plan in declare(dice):
        check.note("declared", plan=str(plan))
    taken: list[Throws] = []

    def samples() -> Iterator[tuple[str, Throws]]:
        while True:
            check.stimulus("throws", sample=len(taken) + 1, throws=THROWS)
            taken.append(thrown(bench, THROWS))
            yield f"sample {len(taken)}", taken[-1]

    trials = judge(dice, samples())
    for trial in trials:
        check.note("judged", verdict=trial.verdict.value, why=trial.why)
    check.note("faces", counts=dict(Counter(taken[0].ravel().tolist())))
    check.picture("faces", face_histogram(taken[0]))
    check.picture("sums", sum_histogram(taken[0]))
    undecided = any(trial.verdict is Verdict.INCONCLUSIVE for trial in trials)
    check.measure("failed_samples", max(FAILED[trial.verdict] for trial in trials), uncertainty=float(undecided))

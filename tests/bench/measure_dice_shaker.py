"""What a dice shaker costs: throws on the plant, by lie, press and advance, throws judged, heap."""

from __future__ import annotations

import time

import numpy as np
from measure_shuffler import Row, seconds
from pitbench.targets import open_target
from pitbench_hil.dice_random import judge
from pitbench_hil.dice_shaker import GAMES, DiceBench

DEVICE = "dice-shaker"
DICE = GAMES["sic bo"]
ROUNDS = 100
JUDGED = 1_000_000
# As long as bench and suite give a round, and a button.
ROUND_MS, PRESS_MS = 2500, 100


def measure(row: Row) -> None:
    """Print a line a figure, all but the judging on one virtual board."""
    with open_target("virtual", device=DEVICE) as board:
        bench = DiceBench(board)
        bench.ready()
        row("heap free, dice shaker filled", f"{bench.do('heap')['free'] // 1024} KB", "of 192 KB", "≥ 48 KB")
        throws(row, bench)
        row("heap free, afterwards", f"{bench.do('heap')['free'] // 1024} KB", "", "≥ 40 KB")
    judged(row)


def throws(row: Row, bench: DiceBench) -> None:
    """Rounds whose dice the bench lays; as many requests that move nothing are what the link alone takes."""
    faces = np.random.default_rng(1_13).integers(1, 7, (ROUNDS, DICE)).tolist()
    start = time.perf_counter()
    shown = [thrown(bench, above) for above in faces]
    took = time.perf_counter() - start
    link = seconds(lambda: [bench.do("post") for _ in range(6 * ROUNDS)])
    right = "every one as it lay" if shown == faces else "OTHERS THAN LAY THERE"
    row(
        "throws by lie, press, advance",
        f"{ROUNDS / took:.0f} throws/s",
        f"the link alone {link:.2f} s of {took:.2f} s",
        "",
    )
    row("of device time", f"{(ROUND_MS + PRESS_MS) / 1000:.1f} s a throw", right, "")


def thrown(bench: DiceBench, above: list[int]) -> list[int]:
    """One round to its result and back to idle, in six requests."""
    bench.lie(above)
    bench.do("press", button="shake")
    bench.do("advance", ms=ROUND_MS)
    faces: list[int] = bench.status()["faces"]
    bench.do("press", button="next")
    bench.do("advance", ms=PRESS_MS)
    return faces


def judged(row: Row) -> None:
    """Fair throws, drawn on the PC, as one sample of a plan."""
    sample = np.random.default_rng(1_15).integers(1, 7, (JUDGED, DICE))
    start = time.perf_counter()
    trials = judge(DICE, iter([("fair throws", sample)]), throws=JUDGED)
    took = time.perf_counter() - start
    least = min(trial.taken[0].p for trial in trials)
    row("throws judged", f"{JUDGED / took:,.0f} throws/s", f"{len(trials)} statistics, least p {least:.3f}", "")

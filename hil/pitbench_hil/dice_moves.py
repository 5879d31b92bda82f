"""The moments of a round, what opens a shaker, and what goes wrong with dice: the suites pair each with each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pitbench_hil.dice_shaker import REST_MS, ROUND_MS, DiceBench

LOOK_MS = 20
# Moments of a round, by the state that the device is in.
ROUND = ("shaking", "resting", "reading")
MOMENTS = ("idle", *ROUND, "shown")
# What opens it: the stimulus that does, the one that undoes it, the condition.
OPENINGS: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "lid": ("lid", {"open": True}, {"open": False}, "lid_open"),
    "lock": ("lock", {"locked": False}, {"locked": True}, "unlocked"),
    "latch": ("latch", {"secured": False}, {"secured": True}, "unsecured"),
}
# Dice that can't be read surely: how they lie.
UNREAD: dict[str, dict[str, Any]] = {
    "leaning": {"above": "304"},
    "stacked": {"above": "35", "below": "423"},
    "unsure": {"above": "354", "sure": 80},
}
RESULT = (3, 5, 4)


def to_moment(bench: DiceBench, moment: str, faces: Sequence[int] = RESULT) -> None:
    """From idle into that moment of a round whose dice will lie so. Raises Unreached."""
    if moment != "idle":
        bench.lie(faces)
        bench.do("press", button="shake")
        bench.until(moment, within=ROUND_MS + REST_MS, step=LOOK_MS)


def opened(bench: DiceBench, what: str) -> int:
    """Open it; returns how many ms of device time it took until the device said so, 10,000 if it never did."""
    op, wrong, _, name = OPENINGS[what]
    last = max((row[0] for row in bench.events()), default=0)
    since = bench.do(op, **wrong)["now"]
    bench.advance(100)
    told = [row[1] for row in bench.events(last) if row[2] == name]
    return told[0] - since if told else 10_000


def closed(bench: DiceBench, what: str) -> None:
    """Put it right again."""
    op, _, right, _ = OPENINGS[what]
    bench.do(op, **right)


def faces_told(bench: DiceBench) -> list[str]:
    """Everything that says how the dice lie: status, message, events, rounds."""
    status = bench.status()
    said = [f"status {status['faces']}"] if status["faces"] else []
    said += [status["message"]] if status["message"].startswith("Result") else []
    said += [f"event {row[3]}" for row in bench.events() if row[2] == "result"]
    return said + [f"round {faces}" for faces in bench.results()]

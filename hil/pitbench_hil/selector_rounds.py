"""Rounds of a selector against the declared generator, and all that a selector tells of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy

from pitbench_hil.declared_generator import Declared
from pitbench_hil.generator_checks import IDLE
from pitbench_hil.selector import MOST, SelectorBench

# Idle steps between two rounds, at most, where each is played as the one before.
BETWEEN = 20


def not_as_drawn(declared: Declared, numbers: Sequence[int]) -> int:
    """How many numbers of rounds in a row the declared generator doesn't draw: those from the first other one on.

    Before the first of them the machine idled for any time, before each other one for one and the same time.
    """
    best = 0
    generator = deepcopy(declared)
    for _ in range(IDLE + 1):
        for between in range(BETWEEN + 1):
            best = max(best, _agreed(deepcopy(generator), numbers, between))
            if best == len(numbers):
                return 0
        generator.cycle()
    return len(numbers) - best


def _agreed(generator: Declared, numbers: Sequence[int], between: int) -> int:
    for at, number in enumerate(numbers):
        if generator.number(MOST) != number:
            return at
        for _ in range(between):
            generator.cycle()
    return len(numbers)


def told(bench: SelectorBench) -> dict[str, str]:
    """All that it tells of the round under way to who looks and asks, as text by where it stands."""
    status = bench.status()
    words = {"display": str(bench.display() or ""), "message": status["message"], "number": str(status["number"] or "")}
    words["events"] = json.dumps([row[2:] for row in bench.events()])
    words["log"] = json.dumps([entry[4:6] for entry in bench.log()])
    words["meters"] = json.dumps(bench.do("meters"))
    words["rounds"] = json.dumps(bench.rounds())
    return words


def seen_as(bench: SelectorBench) -> dict[str, int]:
    """The number of the round that is shown, by each place where it stands."""
    status = bench.status()
    results = [int(row[3]) for row in bench.events() if row[2] == "result"]
    message = int(status["message"]) if status["message"].isdigit() else 0
    return {
        "display": bench.display(),
        "message": message,
        "status": status["number"] or 0,
        "recall": bench.rounds()[-1][3],
        "event": results[-1] if results else 0,
    }

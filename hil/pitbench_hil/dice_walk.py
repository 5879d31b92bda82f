"""A random walk through everything that can happen to a dice shaker, held against chart, readings and rounds.

Every result must be what lay in the cup when it came, and of a round of its own; every state seen is held against the
reference chart.
"""

from __future__ import annotations

from typing import Any

from pitbench_hil import walking
from pitbench_hil.charts.dice_shaker import CHART
from pitbench_hil.dice_moves import OPENINGS
from pitbench_hil.dice_shaker import DiceBench
from pitbench_hil.walking import Stimulus, do, press, watch


class Walk(walking.Walk[DiceBench]):
    """One walk."""

    # At rest, read, next and shake follow each other.
    unseen = 4

    def __init__(self, bench: DiceBench) -> None:
        super().__init__(bench, CHART, STIMULI, "idle")
        self.unread = self.twice = 0
        self._rounds: dict[int, list[Any]] = {}

    def begin(self) -> None:
        """A board as new, in a world as new, filled and idle. Raises Unreached."""
        self.bench.board.start_over()
        self.bench.ready()

    # -- what the bench sees --------------------------------------------------------------------------------------

    def look(self) -> None:
        """State against the chart, results against the dice."""
        status = self.bench.status()
        self._see(CHART.word(status["state"]))
        self._look_at_rounds(status["faces"])

    def _look_at_rounds(self, shown: list[int] | None) -> None:
        rows = self.bench.rounds()
        numbers = [row[0] for row in rows]
        self.twice += len(numbers) - len(set(numbers))
        for row in rows:
            known = self._rounds.setdefault(row[0], row)
            self.twice += known != row
            if known is row and row[2]:
                self.unread += not self._lies([int(face) for face in row[2].split()])
        if shown:
            self.unread += " ".join(map(str, shown)) not in [row[2] for row in rows]

    def _lies(self, faces: list[int]) -> bool:
        """Whether the dice lie so."""
        truth = self.bench.truth()
        lying = truth["lying"]
        return faces == (lying[0] if lying else truth["faces"])

    # -- what people do -------------------------------------------------------------------------------------------

    def fill(self) -> None:
        """Inspected, and filled by two."""
        self.bench.inspect()
        self.bench.fill()

    def dice_in(self) -> None:
        """Dice out, three fair ones in."""
        self.bench.take()
        self.bench.place("fff")

    def mend(self) -> None:
        """Every part is sound again."""
        for part in PARTS:
            self.bench.do("mend", part=part)

    def clear(self) -> None:
        """Clear with the key; look before the self-test has ended, and after it."""
        self.bench.press_clear()
        self.look()
        self.bench.advance(1000)

    def cut(self) -> None:
        """Power gone and back."""
        self.bench.power_cycle()
        self._chart = CHART.follow()


PARTS = ("shaker", "still", "rest", "reader_above", "reader_below", "drive", "look")


STIMULI: dict[str, Stimulus] = {
    **{button: press(button) for button in ("shake", "next", "recall", "clear")},
    "clear with the key": Walk.clear,
    **{f"wait {ms} ms": watch(ms) for ms in (50, 400, 1000, 6000)},
    **{f"open {what}": do(op, **wrong) for what, (op, wrong, _, _) in OPENINGS.items()},
    **{f"close {what}": do(op, **right) for what, (op, _, right, _) in OPENINGS.items()},
    **{f"break {part}": do("break", part=part) for part in PARTS},
    "mend": Walk.mend,
    "leaning": do("lie", above="304"),
    "impossible": do("lie", above="354", below="424"),
    "two dice": do("lie", above="35"),
    "354": do("lie", above="354"),
    "knock": do("knock"),
    "dice in": Walk.dice_in,
    "fill": Walk.fill,
    "power cut": Walk.cut,
}

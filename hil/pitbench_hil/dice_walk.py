"""A random walk through everything that can happen to a dice shaker, held against chart, readings and rounds.

Every result must be what lay in the cup when it came, and of a round of its own; every state seen is held against the
reference chart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pitbench.link import LinkError

from pitbench_hil.charts.dice_shaker import FIRMWARE_STATES, Chart
from pitbench_hil.dice_moves import OPENINGS
from pitbench_hil.dice_shaker import DiceBench

# Triggers of the chart that may go by between two looks: at rest, read, next and shake follow each other.
UNSEEN = 4
LOOK_MS = 1000


class Walk:
    """One walk. `steps` are names of STIMULI; `off_chart` lists what the chart can't explain."""

    def __init__(self, bench: DiceBench) -> None:
        self.bench = bench
        self.off_chart: list[str] = []
        self.unread = self.twice = 0
        self._rounds: dict[int, list[Any]] = {}
        self._chart = Chart()
        self._state = ""

    def begin(self) -> None:
        """A board as new, in a world as new, filled and idle. Raises Unreached."""
        self.bench.board.start_over()
        self.bench.ready()
        self._chart, self._state = Chart("idle"), "idle"

    def take(self, step: str) -> None:
        """Do one thing, if it can be done now, and look."""
        try:
            STIMULI[step](self)
        except LinkError:
            return  # nobody can do that now: the lid is closed, or the device refuses
        self.look()

    # -- what the bench sees --------------------------------------------------------------------------------------

    def look(self) -> None:
        """State against the chart, results against the dice."""
        status = self.bench.status()
        state = FIRMWARE_STATES.get(status["state"], status["state"])
        if not self._chart.saw(state, UNSEEN):
            self.off_chart.append(f"{self._state} to {state}")
        self._state = state
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

    def wait(self, ms: int) -> None:
        """Let time pass, and look every second."""
        for _ in range(max(1, ms // LOOK_MS)):
            self.bench.advance(min(ms, LOOK_MS))
            self.look()

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
        self.bench.do("key", turned=True)
        self.bench.press("clear")
        self.bench.do("key", turned=False)
        self.wait(1000)

    def cut(self) -> None:
        """Power gone and back."""
        self.bench.cut()
        self.bench.power_on()
        self._chart, self._state = Chart(), "power up"


PARTS = ("shaker", "still", "rest", "reader_above", "reader_below", "drive", "look")


def _press(button: str) -> Callable[[Walk], None]:
    return lambda walk: walk.bench.press(button)


def _do(op: str, **args: Any) -> Callable[[Walk], None]:
    def act(walk: Walk) -> None:
        walk.bench.do(op, **args)

    return act


def _wait(ms: int) -> Callable[[Walk], None]:
    return lambda walk: walk.wait(ms)


STIMULI: dict[str, Callable[[Walk], None]] = {
    **{button: _press(button) for button in ("shake", "next", "recall", "clear")},
    "clear with the key": Walk.clear,
    **{f"wait {ms} ms": _wait(ms) for ms in (50, 400, 1000, 6000)},
    **{f"open {what}": _do(op, **wrong) for what, (op, wrong, _, _) in OPENINGS.items()},
    **{f"close {what}": _do(op, **right) for what, (op, _, right, _) in OPENINGS.items()},
    **{f"break {part}": _do("break", part=part) for part in PARTS},
    "mend": Walk.mend,
    "leaning": _do("lie", above="304"),
    "impossible": _do("lie", above="354", below="424"),
    "two dice": _do("lie", above="35"),
    "354": _do("lie", above="354"),
    "knock": _do("knock"),
    "dice in": Walk.dice_in,
    "fill": Walk.fill,
    "power cut": Walk.cut,
}

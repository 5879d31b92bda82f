"""A random walk through everything that can happen to a selector, held against chart, display and recall."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pitbench.link import LinkError

from pitbench_hil.acts import afresh
from pitbench_hil.attended_bench import START_MS, TECHNICIAN
from pitbench_hil.charts.selector import FIRMWARE_STATES, Chart
from pitbench_hil.selector import BUTTONS, SELECT_MS, SelectorBench

# Triggers of the chart that may go by between two looks: clear, passed and a fault follow without waiting.
UNSEEN = 3
DOORS = ("service", "housing")


class Walk:
    """One walk. `steps` are names of STIMULI.

    `off_chart` lists what the chart can't explain; `told` counts figures that no round has, or that another round has;
    `lost` rounds that the recall had and has no more, or has otherwise.
    """

    def __init__(self, bench: SelectorBench) -> None:
        self.bench = bench
        self.off_chart: list[str] = []
        self.told = self.lost = 0
        self._known: dict[int, list[Any]] = {}
        self._figures = 0
        self._chart = Chart("idle")
        self._state = "idle"

    def begin(self) -> None:
        """A new board in a new world, set, idle. Raises Unreached."""
        afresh(self.bench)
        self.bench.commission(TECHNICIAN)

    def take(self, step: str) -> None:
        """Do one thing, if it can be done now, and look."""
        try:
            STIMULI[step](self)
        except LinkError:
            return  # nobody can do that now: a round is open
        self.look()

    def look(self) -> None:
        """State against the chart, display and recall against what was known."""
        state = self._see_state()
        rounds = {row[0]: row for row in self.bench.rounds()}
        known = [number for number in self._known if number > max(rounds, default=0) - 10]
        self.lost += sum(rounds.get(number) != self._known[number] for number in known)
        self._known |= rounds
        shown = self.bench.figures()
        if len(shown) > self._figures and rounds:
            still, last = shown[self._figures - len(shown) :], rounds[max(rounds)][3]
            self.told += sum(figure != last for figure in still) if not self._broken else 0
        self._figures = len(shown)
        if state not in ("shown", "error"):
            self.told += bool(self.bench.display()) and not self._broken

    @property
    def _broken(self) -> bool:
        """Whether the display shows what nobody tells it to."""
        return "display_failed" in self.bench.status()["standing"] or "break" in self._deed

    _deed = ""

    def _see_state(self) -> str:
        named = self.bench.status()["state"]
        state = FIRMWARE_STATES.get(named, named)
        if not self._chart.saw(state, UNSEEN):
            self.off_chart.append(f"{self._state} to {state}")
        self._state = state
        return state

    # -- what people do -------------------------------------------------------------------------------------------

    def break_display(self, how: str) -> None:
        """The display fails, until it is mended."""
        self._deed = "break"
        self.bench.do("break", part="display", how=how)

    def mend(self) -> None:
        """The display is sound again."""
        self.bench.do("mend", part="display")
        self.bench.advance(300)
        self._deed = ""

    def clear(self) -> None:
        """Clear with the key; look before the self-test has ended, and after it."""
        self.bench.do("key", turned=True)
        self.bench.press("clear")
        self.bench.do("key", turned=False)
        self._see_state()
        self.bench.advance(START_MS)

    def cut(self) -> None:
        """Power gone and back."""
        self.bench.cut()
        self.bench.power_on()
        self._chart = Chart()


def _press(button: str) -> Callable[[Walk], None]:
    return lambda walk: walk.bench.press(button)


def _wait(ms: int) -> Callable[[Walk], None]:
    return lambda walk: walk.bench.advance(ms)


def _set(**settings: Any) -> Callable[[Walk], None]:
    def act(walk: Walk) -> None:
        walk.bench.configure(**settings)

    return act


def _door(which: str, *, is_open: bool) -> Callable[[Walk], None]:
    return lambda walk: walk.bench.door(which, is_open=is_open)


def _broken(how: str) -> Callable[[Walk], None]:
    return lambda walk: walk.break_display(how)


STIMULI: dict[str, Callable[[Walk], None]] = {
    **{button: _press(button) for button in (*BUTTONS, "clear")},
    "clear with the key": Walk.clear,
    **{f"wait {ms} ms": _wait(ms) for ms in (30, 200, SELECT_MS)},
    **{f"open {which}": _door(which, is_open=True) for which in DOORS},
    **{f"close {which}": _door(which, is_open=False) for which in DOORS},
    "bonus wagers": _set(bonus=True),
    "no bonus wagers": _set(bonus=False),
    **{f"display {how}": _broken(how) for how in ("stuck", "dark", "segment")},
    "mend": Walk.mend,
    "power cut": Walk.cut,
}

"""A random walk through everything that can happen to a selector, held against chart, display and recall."""

from __future__ import annotations

from typing import Any

from pitbench_hil import walking
from pitbench_hil.acts import afresh
from pitbench_hil.attended_bench import START_MS, TECHNICIAN
from pitbench_hil.charts.selector import CHART
from pitbench_hil.selector import BUTTONS, SELECT_MS, SelectorBench
from pitbench_hil.walking import Stimulus, do, press, wait

DOORS = ("service", "housing")


class Walk(walking.Walk[SelectorBench]):
    """One walk.

    `told` counts figures that no round has, or that another round has;
    `lost` rounds that the recall had and has no more, or has otherwise.
    """

    def __init__(self, bench: SelectorBench) -> None:
        super().__init__(bench, CHART, STIMULI, "idle")
        self.told = self.lost = 0
        self._known: dict[int, list[Any]] = {}
        self._figures = 0
        self._broken = False  # the display: until it is mended, it shows what nobody tells it to

    def begin(self) -> None:
        """A new board in a new world, set, idle. Raises Unreached."""
        afresh(self.bench)
        self.bench.commission(TECHNICIAN)

    def look(self) -> None:
        """State against the chart, display and recall against what was known."""
        status, truth = self.bench.status(), self.bench.truth()
        state = self._see_state(status)
        broken = self._broken or "display_failed" in status["standing"]
        rounds = {row[0]: row for row in self.bench.rounds()}
        known = [number for number in self._known if number > max(rounds, default=0) - 10]
        self.lost += sum(rounds.get(number) != self._known[number] for number in known)
        self._known |= rounds
        shown = truth["figures"]
        if len(shown) > self._figures and rounds and not broken:
            still, last = shown[self._figures - len(shown) :], rounds[max(rounds)][3]
            self.told += sum(figure != last for figure in still)
        self._figures = len(shown)
        if state not in ("shown", "error") and not broken:
            self.told += bool(truth["display"])

    def _see_state(self, status: dict[str, Any]) -> str:
        state = CHART.word(status["state"])
        self._see(state)
        return state

    # -- what people do -------------------------------------------------------------------------------------------

    def break_display(self, how: str) -> None:
        """The display fails, until it is mended."""
        self._broken = True
        self.bench.do("break", part="display", how=how)

    def mend(self) -> None:
        """The display is sound again."""
        self.bench.do("mend", part="display")
        self.bench.advance(300)
        self._broken = False

    def clear(self) -> None:
        """Clear with the key; look before the self-test has ended, and after it."""
        self.bench.press_clear()
        self._see_state(self.bench.status())
        self.bench.advance(START_MS)

    def cut(self) -> None:
        """Power gone and back."""
        self.bench.power_cycle()
        self._chart = CHART.follow()


def _set(**settings: Any) -> Stimulus:
    def act(walk: Walk) -> None:
        walk.bench.configure(**settings)

    return act


def _broken(how: str) -> Stimulus:
    return lambda walk: walk.break_display(how)


STIMULI: dict[str, Stimulus] = {
    **{button: press(button) for button in (*BUTTONS, "clear")},
    "clear with the key": Walk.clear,
    **{f"wait {ms} ms": wait(ms) for ms in (30, 200, SELECT_MS)},
    **{f"open {which}": do("door", which=which, open=True) for which in DOORS},
    **{f"close {which}": do("door", which=which, open=False) for which in DOORS},
    "bonus wagers": _set(bonus=True),
    "no bonus wagers": _set(bonus=False),
    **{f"display {how}": _broken(how) for how in ("stuck", "dark", "segment")},
    "mend": Walk.mend,
    "power cut": Walk.cut,
}

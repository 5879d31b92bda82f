"""Random walks through everything that can happen to a device: what those of every device share.

A walk takes steps by name; each is held against the device's reference chart. Walks are drawn of single steps and of
pieces, orders that matter and would come up too seldom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from pitbench.link import LinkError

from pitbench_hil.board_bench import BoardBench
from pitbench_hil.chart import Chart
from pitbench_hil.check import Check

LOOK_MS = 1000
Bench = TypeVar("Bench", bound=BoardBench)
# Any device's walk: a stimulus is for the walks of one of them.
Stimulus = Callable[[Any], None]


class Walk(Generic[Bench]):
    """One walk. `off_chart` lists what the chart can't explain.

    Args:
        bench: of the board that is walked on.
        chart: what its device may do.
        stimuli: what a step does, by its name.
        state: of the chart, where the walk begins.
    """

    # Triggers of the chart that may go by between two looks: clear, passed and a fault follow without waiting.
    unseen = 3

    def __init__(self, bench: Bench, chart: Chart, stimuli: Mapping[str, Stimulus], state: str = "power up") -> None:
        self.bench = bench
        self.off_chart: list[str] = []
        self._stimuli = stimuli
        self._chart = chart.follow(state)

    def begin(self) -> None:
        """A board as new, in a world as new, brought to idle. Raises Unreached."""
        raise NotImplementedError

    def look(self) -> None:
        """See what has become of it."""
        raise NotImplementedError

    def along(self, steps: Iterable[str]) -> None:
        """From the beginning on, one step after the other."""
        self.begin()
        for step in steps:
            self.take(step)

    def take(self, step: str) -> None:
        """Do one thing, if it can be done now, and look."""
        try:
            self._stimuli[step](self)
        except LinkError:
            return  # nobody can do that now: a door is closed, a round is open, the device refuses
        self.look()

    def watch(self, ms: int) -> None:
        """Let time pass, and look every second; the look at its end is `take`'s."""
        while ms > LOOK_MS:
            self.bench.advance(LOOK_MS)
            self.look()
            ms -= LOOK_MS
        self.bench.advance(ms)

    def _see(self, state: str) -> None:
        """Hold a state of the chart against what was seen before."""
        before = self._chart.state
        if not self._chart.saw(state, self.unseen):
            self.off_chart.append(f"{before} to {state}")


# -- stimuli


def press(button: str) -> Stimulus:
    """A button."""
    return lambda walk: walk.bench.press(button)


def do(op: str, **args: Any) -> Stimulus:
    """An operation of the link."""
    return lambda walk: walk.bench.do(op, **args)


def wait(ms: int) -> Stimulus:
    """Time, at a stretch."""
    return lambda walk: walk.bench.advance(ms)


def watch(ms: int) -> Stimulus:
    """Time, looked at every second."""
    return lambda walk: walk.watch(ms)


# -- at random


def at_random(
    check: Check,
    hold: Callable[[list[str]], None],
    stimuli: Iterable[str],
    pieces: Mapping[str, list[str]],
    *,
    walks: int,
    length: int,
    begins: int,
) -> None:
    """Hold walks drawn at random, the same at each run.

    Args:
        check: of the test.
        hold: takes a walk's steps, and measures what must be so.
        stimuli: names of single steps.
        pieces: steps in an order that matters.
        walks: how many.
        length: of each, at most, in steps and pieces.
        begins: the seed that they are drawn from.
    """
    steps = st.sampled_from(sorted(stimuli)).map(lambda step: [step])
    strolls = st.lists(st.one_of(steps, st.sampled_from(sorted(pieces)).map(pieces.__getitem__)), max_size=length)

    @seed(begins)
    @settings(
        max_examples=walks,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(strolls)
    def every(stroll: list[list[str]]) -> None:
        hold([step for steps in stroll for step in steps])

    check.note("random walks", walks=walks, seed=begins, stimuli=sorted(stimuli))
    every()

"""Reference charts as data, and what follows a device along one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from transitions import Machine

# Trigger, sources, destinations, why.
Row = tuple[str, tuple[str, ...], tuple[str, ...], str]
Edge = tuple[str, str, str]
POWER_UP = "power up"
# A start begins there, whatever was before: a self-test, or what stood before it.
STARTS: frozenset[Edge] = frozenset({(POWER_UP, "start", "initialise"), (POWER_UP, "start", "error")})


@dataclass(frozen=True)
class Chart:
    """What one device may do.

    Args:
        states: all of them.
        rows: what leads where, and why.
        states_there, events_there: the firmware's own names, where they aren't the chart's. Used to compare, not to
            build the chart.
        unnamed: edges that a follower may see beside those of the rows.
    """

    states: tuple[str, ...]
    rows: tuple[Row, ...]
    states_there: dict[str, str]
    events_there: dict[str, str] = field(default_factory=dict)
    unnamed: frozenset[Edge] = frozenset()

    def edges(self) -> set[Edge]:
        """Every (source, trigger, destination) that the rows allow."""
        return {(source, trigger, to) for trigger, sources, tos, _ in self.rows for source in sources for to in tos}

    def firmware_edges(self, rows: list[list[str]]) -> set[Edge]:
        """The rows of the device's own table (state, event, guard, next) in the chart's words."""
        return {(self.word(row[0]), self.events_there.get(row[1], row[1]), self.word(row[3])) for row in rows}

    def word(self, state: str) -> str:
        """The chart's word for a state of the firmware."""
        return self.states_there.get(state, state)

    def follow(self, state: str = POWER_UP) -> Follower:
        """What follows a device from a state on."""
        return Follower(self.states, self.edges() | self.unnamed, state)


class Follower:
    """Follows a device from what a bench sees of it.

    A trigger may have several destinations, as paper, cards and time decide; `saw` says which one it was.
    """

    def __init__(self, states: Sequence[str], edges: Iterable[Edge], state: str) -> None:
        self._machine = Machine(model=None, states=list(states), initial=state, auto_transitions=False)
        for source, trigger, to in sorted(edges):
            self._machine.add_transition(f"{trigger} → {to}", source, to)
        self.state = state

    def next_states(self) -> set[str]:
        """Where one trigger can lead from here."""
        names = self._machine.get_triggers(self.state)
        return {name.partition(" → ")[2] for name in names}

    def saw(self, state: str, steps: int) -> bool:
        """Take in a state; False if no path of at most `steps` triggers leads to it.

        Args:
            state: one of the chart's.
            steps: how many triggers may have gone by unseen since the last look, at least 1.
        """
        reached = self._within(steps)
        self.state = state
        return state in reached

    def _within(self, steps: int) -> set[str]:
        start, reached = self.state, {self.state}
        for _ in range(steps):
            for state in tuple(reached):
                self.state = state
                reached |= self.next_states()
        self.state = start
        return reached

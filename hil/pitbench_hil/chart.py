"""Reference charts as data, and what follows a device along one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from transitions import Machine

# Trigger, sources, destinations, why.
Row = tuple[str, tuple[str, ...], tuple[str, ...], str]
Edge = tuple[str, str, str]


def edges_of(rows: Iterable[Row]) -> set[Edge]:
    """Every (source, trigger, destination) that the rows allow."""
    return {(source, trigger, to) for trigger, sources, tos, _ in rows for source in sources for to in tos}


def edges_in_words(rows: list[list[str]], states: dict[str, str], events: dict[str, str]) -> set[Edge]:
    """Rows of a device's own table (state, event, guard, next), names that the chart words otherwise translated."""
    return {
        (states.get(row[0], row[0]), events.get(row[1], row[1]), states.get(row[3], row[3])) for row in rows
    }  # fmt: skip


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

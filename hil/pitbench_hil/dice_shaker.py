"""A dice shaker on the bench: dice, people and buttons by the link's stimuli, and time that the bench lets pass.

Device time moves by `advance` and hardly by itself: every wait here is in device milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pitbench.proof import asked

from pitbench_hil.attended_bench import STEP_MS, AttendedBench
from pitbench_hil.authority import refusal

# Shaken for 1.2 s, at rest and read 0.7 s later.
ROUND_MS = 2500
REST_MS = 5000
DAY_MS = 86_400_000
ATTENDANT = "attendant"
# Dice of a game, and the clause that says so: 13:69E.
GAMES = {
    "sic bo": 3,
    "mini-dice": 2,
    "automated craps": 2,
    "pai gow": 3,
    "pai gow poker": 3,
    "asia poker": 3,
    "supreme pai gow": 3,
}
PEOPLE = {"who": "A. Floor", "licence": "L-4711", "witness": "B. Dealer", "witness_licence": "L-815", "seal": ""}
BOSS = {"who": "P. Boss", "licence": "L-99"}
# What lies still, sure to both readers.
SURE = 99


def words_of(people: dict[str, str]) -> list[str]:
    """The five words of a filling, in the order in which they are asked."""
    return [people[name] for name in PEOPLE]


class DiceBench(AttendedBench):
    """Bench for one board.

    Args:
        board: an open target that runs a dice shaker.
    """

    idle = ("unfilled", "idle", "shown")

    # -- what it tells -------------------------------------------------------------------------

    def rounds(self) -> list[list[Any]]:
        """The last ten rounds: [number, calendar, faces ("3 5 4", "" for none), void shakes, how it ended]."""
        return self.do("rounds")["rounds"]

    def results(self) -> list[str]:
        """The faces of those that had a result."""
        return [row[2] for row in self.rounds() if row[2]]

    # -- dice --------------------------------------------------------------------------------

    def place(self, dice: str) -> None:
        """Open the lid, lay dice in (a letter each: f fair), close it."""
        self.do("lid", open=True)
        if dice:
            self.do("place", dice=dice)
        self.do("lid", open=False)

    def take(self) -> None:
        """Open the lid, take all dice out, close it."""
        self.do("lid", open=True)
        self.do("take")
        self.do("lid", open=False)

    def fill(self, role: str = ATTENDANT, **people: str) -> dict[str, Any]:
        """Two persons answer for what is in; the status once it was looked at. Raises LinkError, Unreached."""
        given = {"people": words_of({**PEOPLE, **people})}
        self.prove("fill", role, asked("fill", given), **given)
        return self.until("idle", "error", "unfilled", within=2000, step=100)

    def refused_fill(self, **people: str) -> str:
        """The code with which it is refused, "" where it is filled."""
        return refusal(self.fill, ATTENDANT, **people)

    def inspect(self, found: str = "", role: str = ATTENDANT) -> None:
        """Somebody looks it over, and finds what is said. Raises LinkError."""
        given = {**BOSS, "found": found}
        self.prove("inspect", role, asked("inspect", given), **given)

    def staffed(self, **settings: Any) -> None:
        """Technician and attendant have their secrets, and it is set so."""
        self.commission(ATTENDANT)
        if settings:
            self.configure(**settings)

    def ready(self, dice: str = "", **settings: Any) -> None:
        """Started, staffed, set, filled with the game's dice (others, if named). Raises Unreached."""
        self.start()
        self.staffed(**settings)
        self.place(dice or "f" * GAMES[settings.get("game", "sic bo")])
        self.fill()

    def lie(self, above: Sequence[int] | str, below: str | None = None, sure: int | list[int] = SURE) -> None:
        """How the dice will lie after the next shake nobody spoke for yet, as each reader sees them.

        Args:
            above, below: spots, 0 for what can't be read; below, unless given, is what is opposite.
            sure: per cent, of all dice or of each.
        """
        other = {} if below is None else {"below": below}
        self.do("lie", above="".join(map(str, above)), sure=sure, **other)

    def shake(self, above: Sequence[int] | str = "", **lie: Any) -> dict[str, Any]:
        """A round from idle, its dice to lie so; the status once there is a result, or an attendant is needed.

        Raises Unreached.
        """
        if above:
            self.lie(above, **lie)
        self.do("press", button="shake")
        self.advance(ROUND_MS)
        return self.until("shown", "error", "idle", within=5 * (ROUND_MS + REST_MS), step=STEP_MS)

    def exchange(self, dice: str = "fff") -> dict[str, Any]:
        """Dice out, cleared, inspected, others filled in; the status then. Raises LinkError, Unreached."""
        self.take()
        self.clear()
        self.inspect()
        self.place(dice)
        return self.fill()

    def next(self) -> None:
        """The result is taken away."""
        self.press("next")

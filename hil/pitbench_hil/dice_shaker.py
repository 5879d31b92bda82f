"""A dice shaker on the bench: dice, people and buttons by the link's stimuli, and time that the bench lets pass.

Device time moves by `advance` and hardly by itself: every wait here is in device milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pitbench.link import LinkError
from pitbench.proof import asked, proof

from pitbench_hil.authority import challenge
from pitbench_hil.board_bench import BoardBench, Unreached

START_MS = 3000
# Shaken for 1.2 s, at rest and read 0.7 s later.
ROUND_MS = 2500
REST_MS = 5000
STEP_MS = 250
DAY_MS = 86_400_000
TECHNICIAN, ATTENDANT = "technician", "attendant"
SECRETS = {"attendant": "a0" * 16, "technician": "b1" * 16, "regulator": "c2" * 16}
ROLES = tuple(SECRETS)
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


class DiceBench(BoardBench):
    """Bench for one board.

    Args:
        board: an open target that runs a dice shaker.
    """

    # -- link --------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What `status` on the link says."""
        return self.do("status")

    def rounds(self) -> list[list[Any]]:
        """The last ten rounds: [number, calendar, faces ("3 5 4", "" for none), void shakes, how it ended]."""
        return self.do("rounds")["rounds"]

    def results(self) -> list[str]:
        """The faces of those that had a result."""
        return [row[2] for row in self.rounds() if row[2]]

    def events(self, after: int = 0) -> list[list[Any]]:
        """What the device told since its start, as far as it remembers, behind a number: [number, ms, what, detail]."""
        rows: list[list[Any]] = []
        while page := self.do("events", after=rows[-1][0] if rows else after)["events"]:
            rows += page
        return rows

    def told(self) -> list[str]:
        """The names of those events."""
        return [row[2] for row in self.events()]

    # -- time --------------------------------------------------------------------------------

    def until(self, *states: str, within: int, step: int = STEP_MS) -> dict[str, Any]:
        """Let time pass until the device is in one of the states; returns its status. Raises Unreached."""
        for _ in range(within // step + 1):
            status = self.status()
            if status["state"] in states:
                return status
            self.advance(step)
        raise Unreached(f"{' or '.join(states)} not reached in {within} ms: {status['state']} instead")

    def start(self) -> None:
        """From power-up to rest. Raises Unreached."""
        self.until("unfilled", "idle", "shown", within=START_MS)

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
        given = {"people": {**PEOPLE, **people}}
        self.prove("fill", role, asked("fill", given), **given)
        return self.until("idle", "error", "unfilled", within=2000, step=100)

    def refused_fill(self, **people: str) -> str:
        """The code with which it is refused, "" where it is filled."""
        try:
            self.fill(**people)
        except LinkError as error:
            return error.code
        return ""

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

    def lie(self, above: Sequence[int] | str, below: str | None = None, sure: int = SURE) -> None:
        """How the dice will lie after the next shake nobody spoke for yet, as each reader sees them.

        Args:
            above, below: spots, 0 for what can't be read; below, unless given, is what is opposite.
            sure: per cent.
        """
        other = {} if below is None else {"below": below}
        self.do("lie", above="".join(map(str, above)), sure=sure, **other)

    def press(self, button: str) -> None:
        """Press a button: shake, next, recall, clear."""
        self.do("press", button=button)
        self.advance(60)

    def shake(self, above: Sequence[int] | str = "", **lie: Any) -> dict[str, Any]:
        """A round from idle, its dice to lie so; the status once there is a result, or an attendant is needed.

        Raises Unreached.
        """
        if above:
            self.lie(above, **lie)
        self.do("press", button="shake")
        self.advance(ROUND_MS)
        return self.until("shown", "error", "idle", within=5 * (ROUND_MS + REST_MS), step=STEP_MS)

    def next(self) -> None:
        """The result is taken away."""
        self.press("next")

    def clear(self, *, key: bool = True) -> None:
        """Clear what stands, with the key turned or without it, and let the self-test run."""
        self.do("key", turned=key)
        self.press("clear")
        self.do("key", turned=False)
        self.advance(1000)

    # -- proof of a role -------------------------------------------------------------------------

    def commission(self, *roles: str) -> None:
        """Give roles of a new board their secrets: the technician, and those it lets in (all unless named)."""
        self.do("commission", role=TECHNICIAN, secret=SECRETS[TECHNICIAN])
        for role in roles or SECRETS:
            if role != TECHNICIAN:
                self.let_in(role)

    def let_in(self, role: str) -> dict[str, Any]:
        """Give a role its secret, by the technician's authority. Raises LinkError."""
        given = {"role": role, "secret": SECRETS.get(role, "d3" * 16)}
        return self.do("commission", **given, by=TECHNICIAN, proof=self.proof(TECHNICIAN, asked("commission", given)))

    def proof(self, role: str, asked: str, secret: str | None = None) -> str:
        """The proof of a role for one request, over a new challenge."""
        return proof(bytes.fromhex(secret or SECRETS[role]), challenge(self.do), role, asked)

    def prove(self, op: str, role: str, asked: str, **args: Any) -> dict[str, Any]:
        """Ask for something that takes a proof. Raises LinkError where the device refuses."""
        return self.do(op, role=role, proof=self.proof(role, asked), **args)

    def configure(self, role: str = TECHNICIAN, **settings: Any) -> dict[str, Any]:
        """Set what is to be played; commissions nobody. Raises LinkError."""
        return self.prove("configure", role, asked("configure", {"set": settings}), set=settings)["settings"]

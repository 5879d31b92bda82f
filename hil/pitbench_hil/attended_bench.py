"""The bench of a device that people attend to: buttons and a key, roles that prove themselves, a display that says why.

Device time moves by `advance` and hardly by itself: every wait here is in device milliseconds.
"""

from __future__ import annotations

from typing import Any

from pitbench.addresses import EMULATED
from pitbench.errors import BeyondRig
from pitbench.proof import asked, proof
from pitbench.virtual.surroundings import Seed

from pitbench_hil.authority import challenge
from pitbench_hil.board_bench import BoardBench, Unreached

STEP_MS = 250
# A self-test ends within this time.
START_MS = 3000
TECHNICIAN = "technician"
# The board's own noise, and not what the bench feeds.
OWN_NOISE = "board"
SECRETS = {"attendant": "a0" * 16, "technician": "b1" * 16, "regulator": "c2" * 16}
ROLES = tuple(SECRETS)


class AttendedBench(BoardBench):
    """Bench for one board.

    Args:
        board: an open target.
    """

    # States in which a device that has passed its self-test waits for people.
    idle: tuple[str, ...] = ("idle",)

    # -- link --------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What `status` on the link says."""
        return self.do("status")

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

    def advance(self, ms: int = STEP_MS) -> None:
        """Let device time pass, event by event."""
        super().advance(ms)

    def until(self, *states: str, within: int, step: int = STEP_MS) -> dict[str, Any]:
        """Let time pass until the device is in one of the states; returns its status. Raises Unreached."""
        for _ in range(within // step + 1):
            status = self.status()
            if status["state"] in states:
                return status
            self.advance(step)
        raise Unreached(f"{' or '.join(states)} not reached in {within} ms: {status['state']} instead")

    # -- what people do ------------------------------------------------------------------------

    def start(self) -> None:
        """From power-up to idle. Raises Unreached.

        A fair source alarms in one start of 15,000 (1,024 bytes, four alike in a row): that start is made again.
        """
        try:
            self.until(*self.idle, within=2 * START_MS)
        except Unreached:
            if "entropy_failed" not in self.status()["standing"]:
                raise
            self.start_after_alarm()

    def start_after_alarm(self) -> None:
        """Power off and on, cleared with the key. Raises Unreached where the source fails again."""
        self.power_cycle()
        self.advance(START_MS)
        self.clear()
        self.until(*self.idle, within=2 * START_MS)

    def press(self, button: str) -> None:
        """Press a button."""
        self.do("press", button=button)
        self.advance(100)

    def clear(self, *, key: bool = True) -> None:
        """Clear what stands, with the key turned or without it, and let the self-test run."""
        self.press_clear(key=key)
        self.advance(START_MS)

    def press_clear(self, *, key: bool = True) -> None:
        """Press clear, with the key turned or without it: the self-test begins."""
        self.do("key", turned=key)
        self.press("clear")
        self.do("key", turned=False)

    # -- proof of a role -------------------------------------------------------------------------

    def commission(self, *roles: str) -> None:
        """Give roles that have none yet their secrets: the technician, and those it lets in (all unless named)."""
        have = [entry[5] for entry in self.log() if entry[4] == "commissioned"]
        if TECHNICIAN not in have:
            self.do("commission", role=TECHNICIAN, secret=SECRETS[TECHNICIAN])
        for role in roles or SECRETS:
            if role not in (TECHNICIAN, *have):
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

    # -- power -----------------------------------------------------------------------------------

    def feed(self, how: str, seed: Seed = "") -> None:
        """Feed the entropy source from the next start on. Raises BeyondRig for an emulated chip's own: it has none."""
        if how == OWN_NOISE and self.board.rung == EMULATED:
            raise BeyondRig("get noise out of an emulated chip", "Run this on a virtual or a real board.")
        self.board.rig.entropy_at_start(how, seed)

    def start_over_with(self, how: str, seed: Seed = "") -> dict[str, Any]:
        """A new board, its entropy source fed by the bench from its first word on; returns the new identity."""
        self.feed(how, seed)
        return self.board.start_over()

    def restart_with(self, how: str, seed: str = "") -> dict[str, Any]:
        """A cold start whose entropy source is fed by the bench from its first word on; returns the new identity."""
        self.feed(how, seed)
        return self.power_cycle()

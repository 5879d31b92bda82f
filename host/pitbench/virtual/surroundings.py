"""What stands around a board while its power comes and goes: parts, sensors, and the world that its plant told last.

Control lines go both ways, whatever carries them. To the board: `fault AT HOW`, `entropy HOW SEED`, `clock MS SECOND`
or `clock MS unknown`, `world JSON` or `world` for a new one, `pin NAME LEVEL`, `adc NAME VALUE…`. From it: `world?`
where nobody tells it unasked, `world JSON`, `out NAME LEVEL`.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

from pitbench.virtual.pins import PinResponder

NEW_WORLD = "world"
Seed = str | Callable[[], str]


class Surroundings:
    """The far end of one board's control lines; use it from any thread.

    `responder` are the parts, `world` is the line that tells a board that starts how paper and doors were left.
    """

    def __init__(self) -> None:
        self.responder = PinResponder()
        self.world = NEW_WORLD
        self._faults: list[str] = []
        self._entropy: list[tuple[str, Seed]] = []
        self._clock: list[str] = []
        self._lock = threading.Lock()

    @property
    def untouched(self) -> bool:
        """Whether all is as around a board that never ran."""
        return (
            not (self._faults or self._entropy or self._clock) and self.world == NEW_WORLD and not self.responder.held
        )

    def fault_at_start(self, at: int, how: str) -> None:
        """Order a store fault for the next start, as the link operation `store_fault` takes it."""
        with self._lock:
            self._faults.append(f"fault {at} {how}")

    def entropy_at_start(self, how: str, seed: Seed = "") -> None:
        """Feed the entropy source at every start from now on, as the link operation `entropy` takes it.

        A seed that is a function is asked for anew at each start, as noise is.
        """
        with self._lock:
            self._entropy = [(how, seed)]

    def clock_at_start(self, ms: int | None, second: int | None = 0) -> None:
        """Have the clock stand at `ms`, and the calendar at `second`, at every start from now on; None: it runs."""
        with self._lock:
            self._clock = [] if ms is None else [f"clock {ms} {'unknown' if second is None else second}"]

    def told_at_start(self) -> list[str]:
        """Lines for a board that starts: faults ordered for it, what feeds its noise, its clock, the world before."""
        with self._lock:
            faults, self._faults = self._faults, []
            entropy = [f"entropy {how} {seed() if callable(seed) else seed}".rstrip() for how, seed in self._entropy]
            return [*faults, *entropy, *self._clock, self.world]

    def pin(self, name: str, level: int) -> str:
        """Hold a sensor at a level; the line that says it."""
        self.responder.held[name] = level
        return f"pin {name} {level}"

    def heard(self, line: str) -> list[str] | None:
        """Take a line from the board; what to answer, None for a line that isn't about what stands here."""
        if line == "world?":
            return self.told_at_start()
        word, *words = line.split(" ")
        if word == "world" and words:
            self.world = line
            return []
        if word == "out" and len(words) == 2 and words[1].lstrip("-").isdecimal():
            return [f"pin {pin} {level}" for pin, level in self.responder.react(words[0], int(words[1]))]
        return None


class ToldAtStart(ABC):
    """What a bench image is told at its starts, by whoever has what stands around its board."""

    @property
    @abstractmethod
    def around(self) -> Surroundings:
        """The far end of the board's control lines. Raises BeyondRig where there are none."""

    @property
    def responder(self) -> PinResponder:
        """The parts that answer what a release image drives. Raises BeyondRig."""
        return self.around.responder

    def fault_at_start(self, at: int, how: str) -> None:
        """Have the next start fail at its `at`-th store write: writes come before the link does.

        Args:
            how: as the link operation `store_fault` takes it.

        Raises BeyondRig.
        """
        self.around.fault_at_start(at, how)

    def entropy_at_start(self, how: str, seed: Seed = "") -> None:
        """Feed the entropy source at every start: its first seed is drawn before the link is there.

        Args:
            how: fixed, led, stuck, biased, slow or board, as the link operation `entropy` takes it.
            seed: as `how` needs it, or a function that gives another for each start.

        Raises BeyondRig.
        """
        self.around.entropy_at_start(how, seed)

    def clock_at_start(self, ms: int | None, second: int | None = 0) -> None:
        """Have the clock stand at every start: it moves by the link operation `advance` alone.

        Args:
            ms: device time of the start, None for a clock that runs as ever.
            second: what the calendar shows then, since 1970; None for one that is unknown.

        Raises BeyondRig.
        """
        self.around.clock_at_start(ms, second)


def adc(name: str, *values: int) -> str:
    """The line that says what a measuring sensor reads."""
    return " ".join(("adc", name, *map(str, values)))

"""One monotonic deadline, handed down through every call that waits."""

from __future__ import annotations

import time
from collections.abc import Callable

from pitbench.errors import PitbenchError


class DeadlinePassed(PitbenchError):
    """A wait ended without the event that it waited for."""


class Deadline:
    """A point on a monotonic clock.

    Args:
        seconds: from now.
        clock: seconds, never going backwards; an emulated board hands in a slower one.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._at = clock() + seconds

    @property
    def remaining(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._at - self._clock())

    @property
    def passed(self) -> bool:
        return self._clock() >= self._at

    def within(self, seconds: float) -> Deadline:
        """A deadline of its own for one step, never later than this one (seconds from now)."""
        return Deadline(min(seconds, self.remaining), self._clock)

    def check(self, awaited: str) -> None:
        """Raise DeadlinePassed, naming what was awaited, once the time is up."""
        if self.passed:
            raise DeadlinePassed(f"{awaited} did not happen in time.")

"""Device time held to wall time: never ahead of it, and behind it for as long as the chip computes."""

from __future__ import annotations

import time
from collections.abc import Callable

NS = 1_000_000_000
# How far device time goes on before somebody looks at the ports again.
SLICE_NS = 1_000_000


class Pacer:
    """Relates the chip's clock to the wall.

    Args:
        clock: the chip's; `nanos` is device time in ns, `tick(ns)` lets it pass.
        attend: waits up to so many seconds for input on any port, and takes it.
        wall: seconds, monotonic.
    """

    def __init__(
        self, clock: object, attend: Callable[[float], None], wall: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._attend = attend
        self._wall = wall
        self._lead = self._nanos() - wall() * NS

    def hold(self) -> None:
        """Wait while device time is ahead of the wall. A chip that fell behind stays behind: it never hurries."""
        while (ahead := self._ahead()) > 0:
            self._attend(ahead / NS)

    def spend(self, nanos: float) -> None:
        """Let device time pass while the chip does nothing, as during a flash erase; ports go on."""
        end = self._nanos() + nanos
        while (left := end - self._nanos()) > 0:
            self._clock.tick(min(left, SLICE_NS))  # type: ignore[attr-defined]
            self._attend(0)
            self.hold()

    def _ahead(self) -> float:
        ahead = self._nanos() - self._wall() * NS - self._lead
        if ahead < 0:
            self._lead += ahead
        return ahead

    def _nanos(self) -> float:
        return float(self._clock.nanos)  # type: ignore[attr-defined]

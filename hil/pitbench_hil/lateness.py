"""How late the PC itself was: a busy host must not become a false verdict on the device.

A thread wakes every few milliseconds and keeps how much later than planned. A measured time carries the worst lateness
within its span as uncertainty.
"""

from __future__ import annotations

import threading
import time
from collections import deque

TICK_S = 0.005
# Ticks kept: two minutes of them.
_KEPT = 24000


class Metronome:
    """Starts with the first use, and ends with the process."""

    def __init__(self) -> None:
        self._late: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        self._due = time.monotonic() + TICK_S
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="metronome", daemon=True)
        self._thread.start()

    def worst_since(self, start: float) -> float:
        """Seconds of the worst lateness since a monotonic second, the tick that is overdue now included."""
        now = time.monotonic()
        past = [late for at, late in list(self._late) if at >= start]
        return max([*past, now - self._due, 0.0])

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(max(0.0, self._due - time.monotonic())):
            now = time.monotonic()
            self._late.append((now, now - self._due))
            self._due = now + TICK_S

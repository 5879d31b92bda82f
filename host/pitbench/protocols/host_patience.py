"""The patience of the master of an acceptor, on any wire: with a failing request, and with a silent device."""

from __future__ import annotations

# A read or setting that fails is tried again until its score is full, then left alone until the next power-up: three
# refusals (or answers that are none), or twelve times no answer, which a bad line can cause too.
REFUSAL = 4
NO_ANSWER = 1
GIVE_UP = 12


class Listener:
    """A master that knows how long its device has been silent.

    Args:
        silent_ms: time without any frame after which the device counts as silent, milliseconds.
    """

    def __init__(self, silent_ms: int) -> None:
        self._silent_ms = silent_ms
        self._heard_at: int | None = None

    def silent(self, now_ms: int) -> bool:
        """True if nothing was heard for the set time; it runs from the first time that this is asked."""
        if self._heard_at is None:
            self._heard_at = now_ms
        return now_ms - self._heard_at > self._silent_ms

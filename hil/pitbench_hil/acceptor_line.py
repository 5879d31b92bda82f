"""The serial line between a host and an acceptor, in device time: each frame can be lost, late, doubled or damaged.

A serial line is first in, first out: a late frame holds up those behind it, and none overtakes.
"""

from __future__ import annotations

from dataclasses import dataclass

# Beyond the time in which a host gives up waiting (50 to 300 ms in the field), device ms.
LATE_MS = 700


@dataclass(frozen=True)
class Fault:
    """What befalls the frame number `at` (from 0, since `Lane.count_anew`): "lost", "late", "twice" or "damaged"."""

    how: str
    at: int
    late_ms: int = LATE_MS

    def suffer(self, frame: bytes) -> list[tuple[int, bytes]]:
        """What the other side gets of the frame: (delay in ms, bytes) each."""
        if self.how == "lost":
            return []
        if self.how == "twice":
            return [(0, frame), (0, frame)]
        return [(self.late_ms, frame)] if self.how == "late" else [(0, self._damaged(frame))]

    def _damaged(self, frame: bytes) -> bytes:
        """One bit turned, another one for each frame, behind the length so that the next frame is in step."""
        place = 2 + self.at % (len(frame) - 2)
        return frame[:place] + bytes([frame[place] ^ 1 << self.at % 8]) + frame[place + 1 :]


class Lane:
    """One direction of the line. `count` is the number of frames that were put on it."""

    def __init__(self) -> None:
        self.count = 0
        self.fault: Fault | None = None
        self._waiting: list[tuple[int, bytes]] = []
        self._free_at = 0

    def count_anew(self, fault: Fault | None = None) -> None:
        """Count from here, and let one frame suffer `fault`."""
        self.count = 0
        self.fault = fault

    def put(self, frame: bytes, now_ms: int) -> None:
        """Put a frame on the line."""
        hit = self.fault is not None and self.fault.at == self.count
        self.count += 1
        for delay, data in self.fault.suffer(frame) if hit and self.fault else [(0, frame)]:
            self._free_at = max(self._free_at, now_ms + delay)
            self._waiting.append((self._free_at, data))

    def take(self, now_ms: int) -> list[bytes]:
        """What arrives until now, in order."""
        due = [data for at, data in self._waiting if at <= now_ms]
        self._waiting = [(at, data) for at, data in self._waiting if at > now_ms]
        return due

    def clear(self) -> None:
        """Drop what is under way."""
        self._waiting.clear()
        self._free_at = 0

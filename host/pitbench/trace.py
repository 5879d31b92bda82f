"""What crossed the ports of a board, in order of time."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from pitbench.transport import TO_BOARD


@dataclass(frozen=True)
class TraceRecord:
    """Bytes that crossed one port: monotonic seconds, "link" or "wire", direction, the bytes."""

    time: float
    port: str
    direction: str
    data: bytes

    def line(self, start: float = 0.0) -> str:
        """One line for a person; `start` is the monotonic second that counts as zero."""
        arrow = ">" if self.direction == TO_BOARD else "<"
        shown = self.data.decode("ascii", "backslashreplace").rstrip() if self.port == "link" else self.data.hex(" ")
        return f"{self.time - start:10.4f} {self.port} {arrow} {shown}"


class Trace:
    """Keeps every record; hand the object itself to `open_transport` as its sink."""

    def __init__(self) -> None:
        self.records: list[TraceRecord] = []
        self._lock = threading.Lock()

    def __call__(self, time: float, port: str, direction: str, data: bytes) -> None:
        with self._lock:
            self.records.append(TraceRecord(time, port, direction, bytes(data)))

    def mark(self) -> int:
        """A place in the trace, for `since`."""
        return len(self.records)

    def since(self, mark: int) -> list[TraceRecord]:
        """Records that came after `mark`."""
        return self.records[mark:]

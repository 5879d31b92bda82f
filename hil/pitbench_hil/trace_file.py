"""The wire trace of one test: every byte string that crossed a port, numbers masked, as JSON lines."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from pitbench_hil.durable import Lines
from pitbench_hil.masking import mask_text, mask_wire

# A chunk that ends within what may be a number waits for the next one, but never more bytes than this.
_LONGEST_WAIT = 65536


class TraceFile:
    """A sink for `open_transport(trace=…)`: called with monotonic seconds, port name, direction and bytes.

    A number may be split over two reads, so a chunk that ends in a digit is kept back until its direction goes on.
    """

    def __init__(self, path: Path) -> None:
        self._lines = Lines(path)
        self._waiting: dict[tuple[str, str], list[tuple[float, bytes]]] = {}
        self._lock = threading.Lock()
        self.count = 0

    def __call__(self, time: float, port: str, direction: str, data: bytes) -> None:
        with self._lock:
            chunks = self._waiting.setdefault((port, direction), [])
            chunks.append((time, bytes(data)))
            if not _may_go_on(data) or sum(len(chunk) for _, chunk in chunks) > _LONGEST_WAIT:
                self._write(port, direction)

    def close(self) -> None:
        """Write what waits, and close. Raises EvidenceError."""
        with self._lock:
            for port, direction in list(self._waiting):
                self._write(port, direction)
            self._lines.close()

    def _write(self, port: str, direction: str) -> None:
        chunks = self._waiting.pop((port, direction))
        joined = b"".join(chunk for _, chunk in chunks)
        masked, at = _masked(port, joined), 0
        for time, chunk in chunks:
            self._lines.add(_row(time, port, direction, masked[at : at + len(chunk)]))
            at += len(chunk)
            self.count += 1


def _may_go_on(data: bytes) -> bool:
    return data[-1:].isalnum()


def _masked(port: str, data: bytes) -> bytes:
    """Same length, digits hidden: the link is text, and everything else is a wire."""
    return mask_text(data.decode("latin-1")).encode("latin-1") if port == "link" else mask_wire(data)


def _row(time: float, port: str, direction: str, data: bytes) -> dict[str, Any]:
    shown = {"text": data.decode("ascii", "backslashreplace")} if port == "link" else {"hex": data.hex(" ")}
    return {"t": round(time, 6), "port": port, "dir": direction, **shown}

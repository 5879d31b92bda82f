"""A board's wire over its link, where the board has one port only.

The board's firmware was built with `--tunnel`; the target says `wire=link`. A host sees a port like any other: what it
writes goes to the board in pieces, and what the board's wire has for it is fetched when it reads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pitbench.addresses import LINK
from pitbench.deadline import Deadline
from pitbench.link import LinkClient
from pitbench.transport import FROM_BOARD, TO_BOARD, TraceSink, open_transport

# Bytes of one request: as hex they have to fit into a line of 240.
PIECE = 80


@contextmanager
def open_tunnel(url: str) -> Iterator[TunnelTransport]:
    """The wire of a board whose link is that port. Raises TransportError, LinkTimeout."""
    with open_transport(url) as port:
        link = LinkClient(port)
        link.hello()
        yield TunnelTransport(link)


class TunnelTransport:
    """The wire's port.

    Args:
        link: its client, session open before the first byte.
        trace: sink for what crosses; the link's own lines are in the trace too.
    """

    def __init__(self, link: LinkClient, trace: TraceSink | None = None) -> None:
        self.url, self.name = LINK, "wire"
        self._link, self._trace = link, trace
        self._fetched = b""
        # A bridge reads and writes at the same time, and the link answers one request after the other.
        self._lock = threading.Lock()

    def read(self, timeout: float) -> bytes:
        """Bytes that are there, asking until the first came or `timeout` seconds passed. Raises what a link raises."""
        deadline = Deadline(timeout)
        data = self._ask(b"")
        while not data and not deadline.passed:
            data = self._ask(b"")
        if data and self._trace:
            self._trace(time.monotonic(), self.name, FROM_BOARD, data)
        return data

    def write(self, data: bytes) -> None:
        """Send all of `data`. Raises what a link raises."""
        if self._trace:
            self._trace(time.monotonic(), self.name, TO_BOARD, data)
        for at in range(0, len(data), PIECE):
            self._ask(data[at : at + PIECE], keep=True)

    def flush_input(self) -> None:
        """Drop what was received and not read."""
        while self._ask(b""):
            pass

    def close(self) -> None:
        """The link is its owner's."""

    def _ask(self, data: bytes, *, keep: bool = False) -> bytes:
        """Bring bytes and fetch what there is; `keep` leaves that for the next reader."""
        with self._lock:
            self._fetched += bytes.fromhex(self._link.do("wire", **({"hex": data.hex()} if data else {}))["hex"])
            found = b"" if keep else self._fetched
            self._fetched = self._fetched[len(found) :]
        return found

"""Waiting for a port that another program holds for a moment."""

from __future__ import annotations

import threading

from pitbench.deadline import Deadline
from pitbench.transport import PortBusy, SerialTransport, open_transport

TRY_EVERY_S = 0.02


def open_when_free(url: str, deadline: Deadline) -> SerialTransport:
    """Open a port, waiting for it as long as it is busy. Raises PortBusy at the deadline, TransportError."""
    never = threading.Event()
    while True:
        try:
            return open_transport(url)
        except PortBusy:
            # Nobody tells when a lock is given back: ask again, until the deadline.
            if deadline.passed:
                raise
            never.wait(min(TRY_EVERY_S, deadline.remaining))

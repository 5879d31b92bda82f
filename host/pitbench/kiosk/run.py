"""Runs a kiosk in real time on an open port."""

from __future__ import annotations

import time
from collections.abc import Callable

from pitbench.kiosk.events import KioskEvent
from pitbench.kiosk.kiosk import Kiosk
from pitbench.transport import Transport

# Longest wait for bytes: well below the poll period, so that a poll leaves on time.
TURN_S = 0.01


def pump(kiosk: Kiosk, wire: Transport, tell: Callable[[KioskEvent], None], running: Callable[[], bool]) -> None:
    """Carry frames and bytes between a kiosk and its acceptor for as long as `running()` says so.

    Args:
        tell: called with each event, in order.

    Raises TransportGone, TransportStuck.
    """
    while running():
        frame = kiosk.next_frame(_now_ms())
        if frame is not None:
            wire.write(frame)
        data = wire.read(TURN_S)
        now_ms = _now_ms()
        for event in kiosk.feed(data, now_ms) + kiosk.tick(now_ms):
            tell(event)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000

"""What a kiosk has to say."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class EventKind(Enum):
    """Kinds of events, for a program; the text is for a person."""

    TORN = "torn journal"
    VERSION = "version"
    TABLE = "currency table"
    SETTING_REFUSED = "setting refused"
    ESCROW = "escrow"
    DECIDED = "decided"
    CREDITED = "credited"
    RETURNED = "returned"
    REJECTED = "rejected"
    DISPUTE = "dispute"
    POWER_UP = "power-up"
    ERROR = "error"
    ERROR_OVER = "error over"
    SILENT = "silent"
    HEARD = "heard again"
    INHIBITED = "inhibited"
    ACCEPTING = "accepting"
    JOURNAL_FAILED = "journal failed"


@dataclass(frozen=True)
class KioskEvent:
    """One sentence for a person, and for a program the note's id and its cents where there are any."""

    kind: EventKind
    text: str
    note: int | None = None
    cents: int | None = None


class Events:
    """Events that nobody has taken yet."""

    def __init__(self) -> None:
        self._kept: list[KioskEvent] = []

    def say(self, kind: EventKind, text: str, note: int | None = None, cents: int | None = None) -> None:
        """Keep one for the next taker."""
        self._kept.append(KioskEvent(kind, text, note, cents))

    def take(self) -> list[KioskEvent]:
        """Return what was kept, oldest first, and keep it no longer."""
        kept, self._kept = self._kept, []
        return kept

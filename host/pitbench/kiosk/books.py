"""The kiosk's books: every outcome of an item is in the journal before anything else follows from it.

Exactly-once lives here. The device may say "stacked" by vend valid, by stacked, by its power-up status, and each of
them again after a lost frame or a restart; only the journal tells whether it is news.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from pitbench.kiosk.events import EventKind, Events
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.ledger import DISPUTED, Ledger, Note, NoteState
from pitbench.kiosk.policy import Decision, Item

# Field of an entry.
MARK = "mark"


def last_mark(journal: Journal) -> str | None:
    """How far the device was heard when the last entry was made; None if no entry tells."""
    return next((record[MARK] for record in reversed(journal.records) if MARK in record), None)


class Books:
    """Journal and ledger of one kiosk, and the rules by which they change. Any change raises JournalError.

    Args:
        journal: its entries of earlier lives are taken up.
        events: where changes are told.
        mark: how far the device was heard, as its host has it; kept with every entry that follows from it.
    """

    def __init__(self, journal: Journal, events: Events, mark: Callable[[], str | None] = lambda: None) -> None:
        self.journal = journal
        self._mark, self._kept = mark, last_mark(journal)
        self.ledger = Ledger(journal.records)
        self._events = events
        self.write("opened", token=self.ledger.token or secrets.token_hex(4), torn=len(journal.torn))
        # Items from here on were decided about in this life.
        self.first_id = self.ledger.next_id
        if journal.torn:
            events.say(EventKind.TORN, f"The journal ended in {len(journal.torn)} torn bytes, which were cut off.")

    def write(self, what: str, **fields: Any) -> None:
        """Journal one entry, then know it."""
        mark = self._mark()
        self.ledger.apply(self.journal.append(what, **fields, **({MARK: mark} if mark else {})))
        self._kept = mark

    def keep_mark(self) -> None:
        """Journal how far the device was heard, unless that is in it."""
        if self._mark() != self._kept:
            self.write("heard")

    def decide(self, item: Item, decision: Decision) -> Note:
        """Note an item in escrow and what is to become of it; only then may the device hear of it."""
        note_id = self.ledger.next_id
        self.write("decided", note=note_id, **decision.entry(item))
        note = self.ledger.notes[note_id]
        verdict = "is to be stacked" if decision.stack else f"goes back: {note.why}"
        self._say(EventKind.DECIDED, f"The {note.item} {verdict}.", note)
        return note

    def stacked(self, by: str) -> None:
        """The device says that an item is stacked: credit it, know it already, or dispute it."""
        note = self.ledger.latest
        if note is None or note.finished:
            self.dispute(self.ledger.next_id, f"{by} without an item in escrow before", stacked=True)
        elif note.state in (NoteState.TO_STACK, NoteState.FATE_UNKNOWN):
            self.write("credited", note=note.id, by=by)
            self._say(EventKind.CREDITED, f"Credited: {note.item}, by {by}.", note)
        elif note.state in (NoteState.TO_RETURN, NoteState.RETURNED):
            self.dispute(note.id, f"{by}, and it was to go back ({note.why})", stacked=True)

    def returned(self, why: str) -> None:
        """The device gives the open item back; with none open there is nothing to note."""
        note = self.ledger.open
        if note:
            self.write("returned", note=note.id, why=note.why or why)
            self._say(EventKind.RETURNED, f"Returned: {note.item} ({note.why}).", note)

    def lost(self, why: str, *, means_returned: bool = False) -> None:
        """The open item is nowhere to be seen, and no outcome was seen either."""
        note = self.ledger.open
        if note and (means_returned or note.state == NoteState.TO_RETURN):
            self.returned(why)
        elif note:
            self.dispute(note.id, why, stacked=False)

    def finish(self) -> None:
        """The device is past the last item: a "stacked" from now on speaks of another one."""
        note = self.ledger.latest
        if note and not note.finished and note.state != NoteState.FATE_UNKNOWN:
            self.write("finished", note=note.id)

    def dispute(self, note_id: int, why: str, *, stacked: bool) -> None:
        """Leave an item to an attendant; `stacked` tells that the device says it is in the stacker."""
        self.write("dispute", note=note_id, stacked=stacked, why=why)
        note = self.ledger.notes[note_id]
        self._say(EventKind.DISPUTE, f"An attendant must look at item {note_id}, {note.item}: {why}.", note)

    def resolve(self, note_id: int, by: str, how: str) -> None:
        """Close a dispute; it never adds a credit. Raises ValueError if that item isn't in dispute."""
        note = self.ledger.notes.get(note_id)
        if note is None or not (note.state in DISPUTED or note.redemption_refused):
            raise ValueError(f"Item {note_id} isn't in dispute.")
        self.write("resolved", note=note_id, by=by, why=how)

    def _say(self, kind: EventKind, text: str, note: Note) -> None:
        self._events.say(kind, text, note.id, note.cents)

"""Tells the voucher system what became of the vouchers that it holds for this kiosk, as soon as it answers."""

from __future__ import annotations

from pitbench.kiosk.books import Books
from pitbench.kiosk.events import EventKind, Events
from pitbench.kiosk.ledger import Note, NoteState
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import Refused, VoucherSystemDown

RETRY_MS = 1000


class Settlement:
    """Redeems stacked vouchers and releases returned ones, each until it is known to be done."""

    def __init__(self, policy: Policy, books: Books, events: Events) -> None:
        self._policy = policy
        self._books = books
        self._events = events
        self._retry_at = 0
        # An earlier life may have claimed a voucher, and crashed before its decision was in the journal.
        self._orphan: str | None = self.claim(books.ledger.next_id)

    def claim(self, note_id: int) -> str:
        """The name of an item at the voucher system, never used for another one."""
        return f"{self._policy.name}-{self._books.ledger.token}-{note_id}"

    def run(self, now_ms: int) -> bool:
        """Settle what waits; true if nothing is left. Raises JournalError."""
        if self._orphan is None and not self._books.ledger.unsettled:
            return True
        if now_ms < self._retry_at or self._policy.vouchers is None:
            return self._policy.vouchers is None
        try:
            self._settle()
        except VoucherSystemDown:
            self._retry_at = now_ms + RETRY_MS
            return False
        return True

    def _settle(self) -> None:
        vouchers = self._policy.vouchers
        assert vouchers is not None
        if self._orphan is not None:
            vouchers.release(self._orphan)
            self._orphan = None
        for note in list(self._books.ledger.unsettled.values()):
            self._settle_one(note)

    def _settle_one(self, note: Note) -> None:
        vouchers = self._policy.vouchers
        assert vouchers is not None
        refused: Refused | None = None
        if note.state == NoteState.CREDITED:
            refused = vouchers.redeem(self.claim(note.id))
        else:
            vouchers.release(self.claim(note.id))
        self._books.write("voucher settled", note=note.id, refused=refused.status.value if refused else None)
        if refused:
            text = f"The voucher system calls {note.item}, which was stacked and credited, {refused.status.value}."
            self._events.say(EventKind.DISPUTE, text, note.id, note.cents)

"""What a kiosk does with the item in escrow: know it again, decide in time, have the device carry it out."""

from __future__ import annotations

from pitbench.kiosk.books import Books
from pitbench.kiosk.events import EventKind, Events
from pitbench.kiosk.ledger import Note, NoteState
from pitbench.kiosk.policy import Decision, Item, Policy, decide_note, decide_voucher
from pitbench.kiosk.settlement import Settlement
from pitbench.masking import mask_number
from pitbench.protocols.acceptor_host import AcceptorHost
from pitbench.protocols.id003 import Command, EscrowCode, Frame, Status, status_text


class Intake:
    """The item in escrow. `open_for_business` False sends back what is not decided about yet."""

    def __init__(
        self, policy: Policy, books: Books, host: AcceptorHost, settlement: Settlement, events: Events
    ) -> None:
        self.policy = policy
        self.open_for_business = True
        self._books = books
        self._host = host
        self._settlement = settlement
        self._events = events
        self._item: Item | None = None

    def gone(self) -> None:
        """Nothing is in escrow any more."""
        self._item = None

    def in_escrow(self, data: bytes, now_ms: int) -> None:
        """The device holds an item in escrow; `data` is its code and a barcode's digits."""
        if not data:
            return
        item = Item(data[0], Frame(Status.ESCROW, data).barcode, now_ms)
        if self._item is None or not self._item.like(item):
            self._item = item
            self._events.say(EventKind.ESCROW, f"The acceptor reports {status_text(Status.ESCROW, data)}.")
        if self._settle(self._item, now_ms) is None and item.code == EscrowCode.BARCODE:
            self._host.command(Command.HOLD)

    def held(self, now_ms: int) -> None:
        """The device holds an item on our word."""
        if self._item:
            self._settle(self._item, now_ms)
        elif self._books.ledger.open:
            self._carry_out(self._books.ledger.open)
        else:
            # Held on the word of an earlier life of this kiosk, which left no decision.
            self._host.command(Command.RETURN)

    def _settle(self, item: Item, now_ms: int) -> Note | None:
        """Carry out the decision about an item, or make it; None if it must wait."""
        overdue = now_ms - item.since_ms > self.policy.decision_ms
        note = self._books.ledger.open
        if note:
            same = self._same(note, item)
            if same is None and not overdue:
                return None
            if same:
                return self._carry_out(note)
            self._books.lost("another item is in escrow")
        decision = self._decide(item, now_ms, overdue)
        if decision is None:
            return None
        note = self._books.decide(item, decision)
        item.note = note.id
        return self._carry_out(note)

    def _carry_out(self, note: Note) -> Note:
        self._host.command(self.policy.stack if note.state == NoteState.TO_STACK else Command.RETURN)
        return note

    def _same(self, note: Note, item: Item) -> bool | None:
        """Whether the open note is the item; None while only the voucher system could tell, and hasn't yet.

        Two notes of one code are worth the same, so they need not be told apart.
        """
        if note.code != item.code:
            return False
        if item.number is None or item.note == note.id:
            return True
        if note.id >= self._books.first_id or note.number != mask_number(item.number):
            return False
        return self._recognise(note, item) if note.claimed else True

    def _recognise(self, note: Note, item: Item) -> bool | None:
        """After a restart: the number is not in the journal, so the voucher system says whose claim it is under."""
        answer = decide_voucher(self.policy, item, self._settlement.claim(note.id))
        if answer is None:
            return None
        item.note = note.id if answer.cents is not None and answer.cents == note.cents else None
        return item.note is not None

    def _decide(self, item: Item, now_ms: int, overdue: bool) -> Decision | None:
        kind = "note" if item.number is None else "voucher"
        if not self.open_for_business:
            return Decision(False, kind, why="acceptance is off", claimed=item.asked)
        if overdue:
            return Decision(False, kind, why="there was no decision in time", claimed=item.asked)
        if item.number is None:
            return decide_note(self.policy, item, self._host.table)
        if not self._settlement.run(now_ms):
            return Decision(False, kind, why="the voucher system is down")
        return decide_voucher(self.policy, item, self._settlement.claim(self._books.ledger.next_id))

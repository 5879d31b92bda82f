"""The kiosk: takes what a bill acceptor holds in escrow, and credits what it stacked exactly once.

Order is everything. The decision is in the journal before stack is sent; the credit is in the journal before vend
valid is acknowledged or a power-up status is answered with a reset. Whatever is lost in between, the device says again,
and the journal tells whether it is news. Where neither can know, a dispute waits for an attendant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pitbench.kiosk.books import Books, last_mark
from pitbench.kiosk.events import EventKind, Events, KioskEvent
from pitbench.kiosk.intake import Intake
from pitbench.kiosk.journal import Journal, JournalError
from pitbench.kiosk.ledger import OPEN, Credit, Note, NoteState
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.settlement import Settlement
from pitbench.protocols.acceptor_host import (
    AcceptorHost,
    HostEvent,
    Refused,
    StatusSeen,
    TableRead,
    VersionRead,
    marking,
)
from pitbench.protocols.id003 import ERRORS, POWER_UPS, Status, status_text
from pitbench.protocols.id003_host import Id003Host

# How often a journal that failed is tried again without an item at hand.
JOURNAL_RETRY_MS = 5000
JOURNAL = "the journal failed"


class Kiosk:
    """One kiosk on one acceptor, sans-IO.

    Args:
        journal: opened by the caller, for this kiosk alone; what it says of an earlier life is taken up.
        policy: what it takes.
        host: how it talks; a new one, of any wire (ID-003 unless given).

    Raises JournalError.
    """

    def __init__(self, journal: Journal, policy: Policy | None = None, host: AcceptorHost | None = None) -> None:
        policy = policy or Policy()
        self.host: AcceptorHost = host or Id003Host()
        self._events = Events()
        self.books = Books(journal, self._events, self._take_up(journal))
        self._settlement = Settlement(policy, self.books, self._events)
        self._intake = Intake(policy, self.books, self.host, self._settlement, self._events)
        self._inhibits: set[str] = set()
        self._status: int | None = None
        self._was_silent = False
        self._now = 0
        self._journal_tried = 0
        self._handlers = self._status_handlers()

    def _take_up(self, journal: Journal) -> Callable[[], str | None]:
        """Have the host go on where its last life was heard; what tells how far it is."""
        host, mark = marking(self.host), last_mark(journal)
        try:
            if host and mark:
                host.resume(mark)
        except ValueError as error:
            raise JournalError(
                f"Journal {journal.path} was kept on another wire.", "Give each wire a journal of its own (--journal)."
            ) from error
        return lambda: host.mark if host else None

    @property
    def credits(self) -> list[Credit]:
        """Every credit of the journal: (note id, cents, kind), oldest first."""
        return self.books.ledger.credits

    @property
    def disputes(self) -> list[Note]:
        """Items that wait for an attendant."""
        return self.books.ledger.disputes

    @property
    def inhibited(self) -> bool:
        """Whether the kiosk wants acceptance off."""
        return bool(self._inhibits)

    def inhibit(self, reason: str = "attendant") -> None:
        """Switch acceptance off for a reason ("tournament"); an item already decided about is finished first."""
        self._inhibits.add(reason)
        self._tell_acceptance()

    def allow(self, reason: str = "attendant") -> None:
        """Take a reason back; acceptance is on again when none is left."""
        self._inhibits.discard(reason)
        self._tell_acceptance()

    def take_denominations(self, cents: frozenset[int] | None) -> None:
        """Take these notes from now on, None for all; a note already decided about is finished as decided."""
        self._intake.policy = replace(self._intake.policy, denominations=cents)
        if self.host.table is not None:
            self.host.take(self._intake.policy.codes(self.host.table))

    def reset(self) -> None:
        """Reset the acceptor once no item is under way: an attendant's act after an error."""
        self.host.reset()

    def resolve(self, note: int, by: str, how: str) -> None:
        """Close a dispute in the attendant's words; it never adds a credit.

        Raises JournalError, and ValueError if that item isn't in dispute.
        """
        self.books.resolve(note, by, how)

    def close(self) -> None:
        """Close the journal in order."""
        try:
            self.books.write("closed")
        finally:
            self.books.journal.close()

    def next_frame(self, now_ms: int) -> bytes | None:
        """Return the bytes to send now, None if there is nothing to send. `now_ms` never goes backwards."""
        frame = self.host.next_frame(now_ms)
        if frame is not None:
            # What is unfinished now was damaged, and may hide good frames: they are told with the next events.
            for late in self.host.decoder.gap():
                self._receive(late, now_ms)
        return frame

    def feed(self, data: bytes, now_ms: int) -> list[KioskEvent]:
        """Take bytes as they came from the wire."""
        for frame in self.host.decoder.feed(data):
            self._receive(frame, now_ms)
        return self._events.take()

    def received(self, frame: Any, now_ms: int) -> list[KioskEvent]:
        """Take one frame."""
        self._receive(frame, now_ms)
        return self._events.take()

    def tick(self, now_ms: int) -> list[KioskEvent]:
        """Take the time: silence, vouchers to settle, a journal to try again. Call it every second or oftener."""
        self._now = now_ms
        self._watch_silence()
        self._guarded(self._settle_vouchers)
        if JOURNAL in self._inhibits and now_ms - self._journal_tried >= JOURNAL_RETRY_MS:
            self._guarded(self._try_journal)
        return self._events.take()

    def _receive(self, frame: Any, now_ms: int) -> None:
        self._now = now_ms
        for event in self.host.received(frame, now_ms):
            self._on_host_event(event)

    def _on_host_event(self, event: HostEvent) -> None:
        if isinstance(event, StatusSeen):
            self._on_status(event.status, event.data)
        elif isinstance(event, TableRead):
            self.host.take(self._intake.policy.codes(event.table))
            self._events.say(EventKind.TABLE, f"The acceptor knows {len(event.table)} denominations.")
        elif isinstance(event, VersionRead):
            self._events.say(EventKind.VERSION, f"The acceptor is {event.text}.")
        elif isinstance(event, Refused):
            self._events.say(EventKind.SETTING_REFUSED, f"{event.what} failed: {event.why}.")

    def _on_status(self, status: int, data: bytes) -> None:
        self._tell_change(status, data)
        self.host.polls_only = False
        handler = self._handlers.get(status)
        if handler:
            self._guarded(lambda: handler(data))
        if not self.host.polls_only:
            self._guarded(self.books.keep_mark)
        self._status = status

    def _status_handlers(self) -> dict[int, Callable[[bytes], None]]:
        return {
            Status.IDLE: self._on_rest,
            Status.DISABLED: self._on_rest,
            Status.ACCEPTING: self._on_rest,
            Status.ESCROW: lambda data: self._intake.in_escrow(data, self._now),
            Status.HOLDING: lambda data: self._intake.held(self._now),
            Status.VEND_VALID: self._on_vend_valid,
            Status.STACKED: lambda data: self._on_stacked("stacked"),
            Status.REJECTING: lambda data: self._on_going_back(status_text(Status.REJECTING, data)),
            Status.RETURNING: lambda data: self._on_going_back("returning"),
            Status.INITIALISE: lambda data: self._on_lost("the device was started again without it"),
            Status.POWER_UP: lambda data: self._on_lost("the device lost power and started without it"),
            Status.POWER_UP_BILL_IN_ACCEPTOR: lambda data: self._on_going_back("in the acceptor at power-up"),
            Status.POWER_UP_BILL_IN_STACKER: lambda data: self._on_named(data, "power-up with bill in stacker"),
        }

    def _tell_change(self, status: int, data: bytes) -> None:
        if status == self._status:
            return
        text = f"The acceptor reports {status_text(status, data)}."
        if self._status in ERRORS:
            self._events.say(EventKind.ERROR_OVER, f"No more {status_text(self._status or 0)}.")
        if status in ERRORS or status not in Status._value2member_map_:
            self._events.say(EventKind.ERROR, text)
        elif status in POWER_UPS:
            self._events.say(EventKind.POWER_UP, text)
        elif status == Status.REJECTING:
            self._events.say(EventKind.REJECTED, text)

    # What became of the item

    def _on_vend_valid(self, data: bytes) -> None:
        self._on_named(data, "vend valid")
        self.host.acknowledge()

    def _on_named(self, data: bytes, by: str) -> None:
        """Something is stacked; some devices say its escrow code, and then it must be the item's."""
        note = self.books.ledger.latest
        undecided = note is not None and (note.state in OPEN or note.state == NoteState.FATE_UNKNOWN)
        if note and undecided and data and data[0] != note.code:
            why = f"{by} names code {data[0]:02x}, and code {note.code:02x} was in escrow"
            self._intake.gone()
            self.books.dispute(note.id, why, stacked=True)
        else:
            self._on_stacked(by)

    def _on_stacked(self, by: str) -> None:
        self._intake.gone()
        self.books.stacked(by)

    def _on_going_back(self, why: str) -> None:
        self._intake.gone()
        self.books.returned(why)

    def _on_lost(self, why: str) -> None:
        self._intake.gone()
        self.books.lost(why, means_returned=self._intake.policy.idle_means_returned)

    def _on_rest(self, data: bytes) -> None:
        self._on_lost("the device is past it, and no outcome was seen")
        self.books.finish()

    # Vouchers, journal, silence

    def _settle_vouchers(self) -> None:
        self._settlement.run(self._now)

    def _guarded(self, act: Callable[[], None]) -> None:
        """Act; if the journal fails, nothing that would depend on it leaves for the device."""
        try:
            act()
        except JournalError as error:
            self.host.polls_only = True
            self._journal_tried = self._now
            if JOURNAL not in self._inhibits:
                self._events.say(EventKind.JOURNAL_FAILED, str(error))
                self.inhibit(JOURNAL)

    def _try_journal(self) -> None:
        self.books.write("mended")
        self.allow(JOURNAL)

    def _tell_acceptance(self) -> None:
        if self.inhibited == self._intake.open_for_business:
            self._intake.open_for_business = not self.inhibited
            self.host.inhibit(self.inhibited)
            why = ", ".join(sorted(self._inhibits))
            kind = EventKind.INHIBITED if why else EventKind.ACCEPTING
            self._events.say(kind, f"Acceptance is off: {why}." if why else "Acceptance is on.")

    def _watch_silence(self) -> None:
        silent = self.host.silent(self._now)
        if silent != self._was_silent:
            self._was_silent = silent
            kind = EventKind.SILENT if silent else EventKind.HEARD
            never = " Nothing was heard of it yet: look at its cable, its power, and which protocol it speaks."
            text = "The acceptor is silent." + ("" if self.host.status is not None else never)
            self._events.say(kind, text if silent else "The acceptor is heard again.")

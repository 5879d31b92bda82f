"""What the journal says about every item: one note's life, folded from its entries.

The same fold runs while the kiosk works and when it opens again after a crash, so both see the same state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from pitbench.kiosk.journal import Record


class NoteState(Enum):
    """Where an item stands."""

    TO_STACK = "to stack"  # the decision is durable; whether the device knows it is not known
    TO_RETURN = "to return"
    CREDITED = "credited"
    RETURNED = "returned"
    FATE_UNKNOWN = "fate unknown"  # a dispute: stack may have been sent, and no outcome was seen
    UNEXPLAINED = "unexplained"  # a dispute: the device says stacked, and no decision of ours led to it
    RESOLVED = "resolved"  # an attendant closed the dispute


OPEN = frozenset({NoteState.TO_STACK, NoteState.TO_RETURN})
DISPUTED = frozenset({NoteState.FATE_UNKNOWN, NoteState.UNEXPLAINED})


@dataclass
class Note:
    """A note, coupon or voucher that was in escrow, or that the device says it stacked.

    `cents` is None where nobody knows; `number` is masked; `claimed` tells that the voucher system holds it for us;
    `finished` that the device was seen past it.
    """

    id: int
    kind: str = "unknown"
    code: int | None = None
    cents: int | None = None
    number: str | None = None
    claimed: bool = False
    state: NoteState = NoteState.UNEXPLAINED
    why: str = ""
    finished: bool = False
    redemption_refused: bool = False

    @property
    def item(self) -> str:
        """Words for a person, without the number in full."""
        worth = "of unknown value" if self.cents is None else f"of {self.cents / 100:.2f}"
        return f"{self.kind} {worth}" + (f" ({self.number})" if self.number else "")


class Credit(NamedTuple):
    """Money that the kiosk owes the patron; `id` never repeats within a journal."""

    id: int
    cents: int
    kind: str


class Ledger:
    """All items of a journal.

    `token` names the journal apart from every other one; `unsettled` are claimed vouchers whose outcome is known here,
    and not yet to the voucher system.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.notes: dict[int, Note] = {}
        self.unsettled: dict[int, Note] = {}
        self.token = ""
        self._credits: list[Credit] = []
        self._apply = {
            "opened": self._opened,
            "decided": self._decided,
            "credited": self._credited,
            "returned": self._returned,
            "dispute": self._disputed,
            "finished": self._finished,
            "voucher settled": self._voucher_settled,
            "resolved": self._resolved,
        }
        for record in records:
            self.apply(record)

    @property
    def next_id(self) -> int:
        return len(self.notes) + 1

    @property
    def latest(self) -> Note | None:
        """The last item; only it can still be in the device."""
        return self.notes[len(self.notes)] if self.notes else None

    @property
    def open(self) -> Note | None:
        """The last item, if a decision about it stands without an outcome."""
        note = self.latest
        return note if note and note.state in OPEN else None

    @property
    def credits(self) -> list[Credit]:
        """Every credit, oldest first."""
        return list(self._credits)

    @property
    def disputes(self) -> list[Note]:
        """Items that wait for an attendant."""
        return [n for n in self.notes.values() if n.state in DISPUTED or n.redemption_refused]

    def apply(self, record: Record) -> None:
        """Take one entry; kinds without a meaning for an item pass."""
        act = self._apply.get(record["what"])
        if act:
            act(record)

    def _opened(self, record: Record) -> None:
        self.token = self.token or record["token"]

    def _decided(self, record: Record) -> None:
        fields = ("kind", "code", "cents", "number", "claimed", "why")
        note = Note(record["note"], **{name: record[name] for name in fields})
        note.state = NoteState.TO_STACK if record["stack"] else NoteState.TO_RETURN
        self.notes[note.id] = note

    def _credited(self, record: Record) -> None:
        note = self.notes[record["note"]]
        note.state = NoteState.CREDITED
        self._credits.append(Credit(note.id, note.cents or 0, note.kind))
        self._to_settle(note)

    def _returned(self, record: Record) -> None:
        note = self.notes[record["note"]]
        note.state, note.why = NoteState.RETURNED, record["why"]
        self._to_settle(note)

    def _to_settle(self, note: Note) -> None:
        if note.claimed:
            self.unsettled[note.id] = note

    def _disputed(self, record: Record) -> None:
        note = self.notes.setdefault(record["note"], Note(record["note"]))
        # Claimed or not, what becomes of a voucher in dispute is the attendant's to tell the voucher system.
        self.unsettled.pop(note.id, None)
        note.state = NoteState.UNEXPLAINED if record["stacked"] else NoteState.FATE_UNKNOWN
        note.why = record["why"]

    def _finished(self, record: Record) -> None:
        self.notes[record["note"]].finished = True

    def _voucher_settled(self, record: Record) -> None:
        note = self.notes[record["note"]]
        self.unsettled.pop(note.id, None)
        note.redemption_refused = bool(record["refused"])

    def _resolved(self, record: Record) -> None:
        note = self.notes[record["note"]]
        note.state, note.why = NoteState.RESOLVED, record["why"]
        note.finished, note.redemption_refused = True, False

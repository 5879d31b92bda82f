"""What the events of an SSP poll mean in ID-003's words, which every host of an acceptor speaks.

SSP tells what happened, once, and says nothing while nothing does; ID-003 tells how the device stands. So a few things
are remembered from poll to poll: an item that was accepted and has no outcome yet, a note on its way out, a cash box
that was taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pitbench.protocols.acceptor_host import StatusSeen
from pitbench.protocols.id003 import EscrowCode, FailureCode, RejectReason, Status
from pitbench.protocols.ssp import Event, Happened, RejectCode

# Several may stand in every reply, and ID-003 tells one status: the first of these.
_ERRORS = {
    Event.FRAUD_ATTEMPT: StatusSeen(Status.CHEATED),
    Event.SAFE_JAM: StatusSeen(Status.JAM_IN_STACKER),
    Event.UNSAFE_JAM: StatusSeen(Status.JAM_IN_ACCEPTOR),
    Event.PATH_OPEN: StatusSeen(Status.FAILURE, bytes((FailureCode.HEAD_REMOVED,))),
    Event.CASHBOX_REMOVED: StatusSeen(Status.STACKER_OPEN),
    Event.STACKER_FULL: StatusSeen(Status.STACKER_FULL),
}
_MOVING = {
    Event.STACKING: Status.STACKING,
    Event.STACKED: Status.STACKED,
    Event.STORED_IN_PAYOUT: Status.STACKED,
    Event.INITIALISING: Status.INITIALISE,
}
# Told at power-up of an item that was under way; who hears it needs the word of nobody else to go on.
_AT_POWER_UP = {
    Event.CLEARED_TO_CASHBOX: Status.POWER_UP_BILL_IN_STACKER,
    Event.CLEARED_FROM_FRONT: Status.POWER_UP_BILL_IN_ACCEPTOR,
}
_CREDITS = frozenset({Event.CREDIT, Event.TICKET_STACKED})
_REJECTIONS = frozenset({Event.REJECTING, Event.REJECTED})
# An item is waited for until one of these.
_OUTCOMES = _CREDITS | _REJECTIONS | _AT_POWER_UP.keys()
_DISABLED = frozenset({Event.DISABLED, Event.CHANNELS_DISABLED})
# A reply with nothing but these tells of no item.
_AT_REST = _DISABLED | {Event.CASHBOX_REPLACED}

# ID-003 has one reason for what this project's device does after 10 s in escrow, and it is 79.
_REASONS = {
    RejectReason.INHIBITED: (
        RejectCode.INHIBITED_BY_DATASET,
        RejectCode.INHIBITED_BY_HOST,
        RejectCode.ESCROW_TIMEOUT,
    ),
    RejectReason.LENGTH: (RejectCode.LENGTH, RejectCode.TOO_LONG, RejectCode.TOO_SHORT, RejectCode.WIDTH),
    RejectReason.INSERTION: (
        RejectCode.SECOND_NOTE,
        RejectCode.NO_NOTE,
        RejectCode.TWISTED,
        RejectCode.DOUBLE_NOTE,
    ),
    RejectReason.CONVEYING: (
        RejectCode.REAR_SENSOR,
        RejectCode.SLOW_MECHANISM,
        RejectCode.NOT_REACHED,
        RejectCode.OVERSAMPLED,
        RejectCode.UNABLE_TO_STACK,
    ),
    RejectReason.DENOMINATION: (RejectCode.SEVERAL_CHANNELS, RejectCode.FRAUD_CHANNEL),
    RejectReason.OPERATION: (RejectCode.STRIMMING, RejectCode.PAID_OUT),
    RejectReason.PHOTO_PATTERN_1: (
        RejectCode.AVERAGE,
        RejectCode.COASTLINE,
        RejectCode.GRAPH,
        RejectCode.BURIED,
        RejectCode.PEAK,
        RejectCode.SLOT_1,
        RejectCode.SLOT_2,
    ),
}
# A barcode that can't be read: ID-003 has 91 to 9D for barcodes, without a name for this one.
_BARCODE_UNREAD = 0x91
_REASON = {int(code): int(reason) for reason, codes in _REASONS.items() for code in codes} | {
    int(RejectCode.BARCODE_SCAN): _BARCODE_UNREAD
}


def escrow_code(channel: int) -> int:
    """Return the escrow code of a channel: 61 for channel 1 and so on; 6F is a barcode's and left out."""
    return channel + 0x60 + (channel >= EscrowCode.BARCODE - 0x60)


def rejection(code: int | None) -> StatusSeen:
    """Return how the end of a rejected note is told, by the device's reject code (None: it didn't tell)."""
    if code == RejectCode.BY_HOST:
        return StatusSeen(Status.RETURNING)
    reason = _REASON.get(-1 if code is None else code)
    return StatusSeen(Status.REJECTING, b"" if reason is None else bytes((reason,)))


@dataclass(frozen=True)
class Reading:
    """What one reply to a poll means.

    Args:
        statuses: to be told, in order.
        escrow: ID-003's data of the note in escrow, None without one.
        ticket: a ticket is in escrow, and its digits must be asked for.
        rejected: a note went back, and the reason must be asked for before anything else is told.
        credit, settled: something that must not be lost was told: a credit, which waits for its user's word, or an
            outcome at power-up or a fraud, which need none.
        reset: the device has started anew.
    """

    statuses: tuple[StatusSeen, ...] = ()
    escrow: bytes | None = None
    ticket: bool = False
    rejected: bool = False
    credit: bool = False
    settled: bool = False
    reset: bool = False


class StatusReader:
    """Reads replies to polls, one after the other.

    Attributes: `returning` (the host had the note in escrow rejected).

    Args:
        outcome_ms: how long an accepted item may be without any event before the device counts as at rest, ms.
    """

    def __init__(self, outcome_ms: int) -> None:
        self._outcome_ms = outcome_ms
        self._forget()

    def _forget(self) -> None:
        self.returning = False
        self._rejecting = False
        self._cashbox_out = False
        # Until when an outcome of the item is waited for; None where none is.
        self._outcome_by: int | None = None
        self._credited = False

    def accepted(self, now_ms: int) -> None:
        """The host tells the device to stack what is in escrow."""
        self._outcome_by = now_ms + self._outcome_ms

    def reject_told(self) -> None:
        """The reason of the last rejection is known, or will not be."""
        self._rejecting = False

    def read(self, events: Sequence[Happened], unknown: bytes, now_ms: int) -> Reading:
        """Return what a poll's events mean; `unknown` is what stood behind the last one that is known."""
        codes = frozenset(event.code for event in events)
        self._remember(events, now_ms)
        quiet = not unknown and codes <= _AT_REST
        rejected = self._rejecting and (quiet or Event.REJECTED in codes)
        moving = _some(map(self._movement, events))
        return Reading(
            statuses=self._told(events, rejected, moving) or self._standing(codes, unknown, rejected, now_ms),
            escrow=next((status.data for status in moving if status.status == Status.ESCROW), None),
            ticket=Event.TICKET_IN_ESCROW in codes,
            rejected=rejected,
            credit=bool(codes & _CREDITS),
            settled=bool(codes & (_AT_POWER_UP.keys() | {Event.FRAUD_ATTEMPT})),
            reset=Event.RESET in codes,
        )

    def _remember(self, events: Sequence[Happened], now_ms: int) -> None:
        for event in events:
            if event.code == Event.RESET:
                self._forget()
            elif event.code == Event.READ:
                self._credited = self.returning = self._cashbox_out = False
            elif event.code in (Event.CASHBOX_REMOVED, Event.CASHBOX_REPLACED):
                self._cashbox_out = event.code == Event.CASHBOX_REMOVED
            elif event.code == Event.STACKING and not self._credited:
                self.accepted(now_ms)
            elif event.code in _OUTCOMES:
                self._outcome_by = None
                self._credited |= event.code in _CREDITS
                self._rejecting |= event.code in _REJECTIONS and not self.returning

    def _told(
        self, events: Sequence[Happened], rejected: bool, moving: tuple[StatusSeen, ...]
    ) -> tuple[StatusSeen, ...]:
        """What events say themselves. Where one must not be lost, what tells of other items waits until it isn't."""
        codes = {event.code for event in events}
        errors = tuple(status for code, status in _ERRORS.items() if code in codes)[:1]
        money = _some(map(_money, events))
        started = (StatusSeen(Status.POWER_UP),) if Event.RESET in codes and not codes & _AT_POWER_UP.keys() else ()
        if money or rejected:
            return errors + money + started
        return started + errors + moving

    def _movement(self, event: Happened) -> StatusSeen | None:
        if event.code == Event.READ and event.channel:
            return StatusSeen(Status.ESCROW, bytes((escrow_code(event.channel),)))
        if event.code == Event.READ:
            return StatusSeen(Status.ACCEPTING)
        if event.code in _REJECTIONS and self.returning:
            return StatusSeen(Status.RETURNING)
        status = _MOVING.get(event.code)
        return None if status is None else StatusSeen(status)

    def _standing(self, codes: frozenset[Event], unknown: bytes, rejected: bool, now_ms: int) -> tuple[StatusSeen, ...]:
        """How the device stands that said nothing of its own, or nothing that is known."""
        if rejected or not codes <= _AT_REST:
            return ()
        if unknown:
            return (StatusSeen(unknown[0]),)
        if self._outcome_by is not None and now_ms < self._outcome_by:
            return (StatusSeen(Status.STACKING),)
        self._outcome_by = None
        self.returning = False
        if self._cashbox_out:
            return (StatusSeen(Status.STACKER_OPEN),)
        return (StatusSeen(Status.DISABLED if codes & _DISABLED else Status.IDLE),)


def _money(event: Happened) -> StatusSeen | None:
    code = bytes((escrow_code(event.channel),)) if event.channel else b""
    if event.code == Event.CREDIT:
        return StatusSeen(Status.VEND_VALID, code)
    if event.code == Event.TICKET_STACKED:
        return StatusSeen(Status.VEND_VALID, bytes((EscrowCode.BARCODE,)))
    return StatusSeen(_AT_POWER_UP[event.code], code) if event.code in _AT_POWER_UP else None


def _some(statuses: Iterable[StatusSeen | None]) -> tuple[StatusSeen, ...]:
    return tuple(status for status in statuses if status is not None)

"""The host (master) of a ccTalk bill validator, sans-IO: what to send next, and what a reply means in ID-003's words.

A credit has no acknowledgement on this wire. `acknowledge()` sends nothing: it lets the host go past the credit that it
reports until then, and poll on, which is all that a device ever learns. What was told already is known by the event
counter; `mark` is that knowledge, and `resume(mark)` gives it to the next life of a host, so that it credits no old
event and loses no new one. Without a mark the first answer is history: what is in escrow is told, no credit ever.

A reply doesn't name its command. So a poll and its answer stand between any two commands: the line keeps its order, and
with the poll's answer every older reply has come, however late or often.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from pitbench.protocols import cctalk
from pitbench.protocols.acceptor_host import HostEvent, Refused, StatusSeen, TableRead, VersionRead
from pitbench.protocols.cctalk import (
    BARCODE,
    EVENTS_SIZE,
    RETURNED,
    Checksum,
    Code,
    Decoder,
    Event,
    Fault,
    Frame,
    Reply,
    Route,
    RouteError,
    command_text,
    encode,
    parse_events,
)
from pitbench.protocols.cctalk_events import ENDS, EventTrail, Happening, held
from pitbench.protocols.cctalk_setup import BILLS, CODE_OF_TYPE_0, LAST_TYPE, Ask, SetUp, acked
from pitbench.protocols.host_patience import NO_ANSWER, REFUSAL, Listener
from pitbench.protocols.id003 import ERRORS, Command, Denomination, EscrowCode, FailureCode, RejectReason, Status

UNKNOWN_NOTE = bytes([CODE_OF_TYPE_0])
MASK_BYTES = 2
ALL_TYPES = 0xFFFF
# Polls after a start in which the device may tell what became of the bill that was under way.
START_POLLS = 3
AT_REST = frozenset({Status.IDLE, Status.DISABLED, Status.INITIALISE})
IN_ESCROW = frozenset({Status.ESCROW, Status.HOLDING})
ROUTES = {
    Command.STACK_1: Route.STACK,
    Command.STACK_2: Route.STACK,
    Command.RETURN: Route.RETURN,
    Command.HOLD: Route.EXTEND,
}


@dataclass(frozen=True)
class CctalkSettings:
    """How the host talks, and what it sets.

    Args:
        checksum: the mode of the wire; a device doesn't answer in the other one.
        address, own_address: of the validator, and of the host.
        poll_ms, reply_ms, silent_ms: poll period, wait for a reply, time without any frame after which the device
            counts as silent (and is set up anew: validators refuse notes once nobody polls them); milliseconds.
        self_check_ms: wait for the answer to a self-check, and time between two of them while a fault stands; ms.
        route_ms: how long a routed bill may take until its event; after it the bill is taken for still in escrow, or,
            if the device called the escrow empty, for gone without an outcome; milliseconds.
        start_ms: how long a device that started anew with a bill under way is given, once it is set up, to tell what
            became of the bill; milliseconds.
        refresh_ms: period in which inhibits and mode are set again: between a start and its first event a device can
            start again without a trace; milliseconds.
        operating_mode: data of MODIFY_OPERATING_MODE, bit 0 stacker, bit 1 escrow; None leaves it alone.
    """

    checksum: Checksum = Checksum.SUM
    address: int = cctalk.VALIDATOR
    own_address: int = cctalk.HOST
    poll_ms: int = 150
    reply_ms: int = 300
    silent_ms: int = 2000
    self_check_ms: int = 1000
    route_ms: int = 6000
    start_ms: int = 3000
    refresh_ms: int = 5000
    operating_mode: int | None = 3


POLL = Ask(cctalk.Command.READ_EVENTS)
RESET = Ask(cctalk.Command.RESET_DEVICE)
READ_BARCODE = Ask(cctalk.Command.READ_BARCODE)
SELF_CHECK = Ask(cctalk.Command.SELF_CHECK)
HOLD = Ask(cctalk.Command.ROUTE_BILL, bytes([Route.EXTEND]))
ACCEPT = Ask(cctalk.Command.MODIFY_MASTER_INHIBIT, b"\x01")


def _error(status: Status, code: int, data: bytes | None = None) -> StatusSeen:
    # ID-003 has no data behind these; the event's number tells apart what it has one word for.
    return StatusSeen(status, bytes([code]) if data is None else data)


ERROR_OF_CODE: dict[int, StatusSeen] = {
    Code.BILL_JAMMED_UNSAFE: _error(Status.JAM_IN_ACCEPTOR, Code.BILL_JAMMED_UNSAFE),
    Code.BILL_JAMMED_SAFE: _error(Status.JAM_IN_ACCEPTOR, Code.BILL_JAMMED_SAFE),
    Code.BILL_JAMMED_IN_STACKER: _error(Status.JAM_IN_STACKER, Code.BILL_JAMMED_IN_STACKER),
    Code.STACKER_JAMMED: _error(Status.JAM_IN_STACKER, Code.STACKER_JAMMED),
    Code.STACKER_REMOVED: _error(Status.STACKER_OPEN, 0, b""),
    Code.STACKER_FULL: _error(Status.STACKER_FULL, 0, b""),
    Code.STACKER_FAULTY: _error(Status.FAILURE, FailureCode.STACK_MOTOR),
    Code.BILL_PULLED_BACK: _error(Status.CHEATED, Code.BILL_PULLED_BACK),
    Code.BILL_TAMPER: _error(Status.CHEATED, Code.BILL_TAMPER),
    Code.OPTO_FRAUD: _error(Status.CHEATED, Code.OPTO_FRAUD),
    Code.STRING_FRAUD: _error(Status.CHEATED, Code.STRING_FRAUD),
    Code.ANTI_STRING_FAULTY: _error(Status.FAILURE, 0, b""),
}
STACKER_AGAIN = frozenset({Code.STACKER_OK, Code.STACKER_INSERTED})
OF_STACKER = frozenset({Status.STACKER_OPEN, Status.STACKER_FULL, Status.JAM_IN_STACKER})
REASON_OF_CODE: dict[int, RejectReason] = {
    Code.INVALID_BILL: RejectReason.DENOMINATION,
    Code.INVALID_BILL_TRANSPORT: RejectReason.CONVEYING,
    Code.BILL_INHIBITED: RejectReason.INHIBITED,
    Code.BILL_INHIBITED_BY_SWITCH: RejectReason.INHIBITED,
}
# After one of these the device may have forgotten what it was told to take.
NOT_TAKEN = frozenset({Code.MASTER_INHIBIT_ACTIVE, Code.BILL_INHIBITED})
ERROR_OF_FAULT: dict[int, StatusSeen] = {
    Fault.BILL_JAMMED: StatusSeen(Status.JAM_IN_ACCEPTOR),
    Fault.STACKER: StatusSeen(Status.FAILURE, bytes([FailureCode.STACK_MOTOR])),
    Fault.TRANSPORT_MOTOR: StatusSeen(Status.FAILURE, bytes([FailureCode.TRANSPORT_MOTOR])),
    Fault.ROM_CHECKSUM: StatusSeen(Status.FAILURE, bytes([FailureCode.ROM])),
    Fault.STACKER_MISSING: StatusSeen(Status.STACKER_OPEN),
    Fault.STACKER_FULL: StatusSeen(Status.STACKER_FULL),
    Fault.DOOR_OPEN: StatusSeen(Status.FAILURE, bytes([FailureCode.HEAD_REMOVED])),
}


class CctalkHost(Listener):
    """Master of one ccTalk bill validator.

    Counters: `timeouts`, `naks`, `busy` replies, `echoes` (frames to another address: our own, on a single wire),
    `strays` (replies that nobody waits for), `strange` (unknown events), `lost` (events that no poll saw).
    `polls_only` holds back everything but polls, for a user that can't make its decisions durable just now; what was
    told last is told again until it can.
    """

    def __init__(self, settings: CctalkSettings | None = None, *, inhibited: bool = False) -> None:
        self.settings = settings or CctalkSettings()
        super().__init__(self.settings.silent_ms)
        self.decoder = Decoder(self.settings.checksum, self.settings.own_address, self.settings.address)
        self.status: int | None = None
        self.table: dict[int, Denomination] | None = None
        self.version: str | None = None
        self.polls_only = False
        self.timeouts = self.naks = self.busy = self.echoes = self.strays = self.strange = self.lost = 0
        self._trail = EventTrail()
        self._inhibited = inhibited
        self._codes: frozenset[int] | None = None
        self._setup = SetUp()
        self._bay = _Bay()
        self._error: StatusSeen | None = None
        self._check_due: int | None = 0
        self._fault_seen = False
        self._to_tell: list[HostEvent] = []
        self._waiting: Ask | None = None
        self._deadline = 0
        self._poll_due = 0
        self._unanswered: Ask | None = None
        # True while a poll's answer is newer than the last command.
        self._fresh = False
        self._queued: Route | None = None
        self._reset_wanted = self._reset_sent = False
        # A device that starts unasked and has a fault is reset once, as a power-up of ID-003 is.
        self._cold = False
        self._starting = False
        self._start_polls = 0
        self._ready_at: int | None = None
        self._credit_open = self._credit_last = False
        self._last: list[HostEvent] = []

    # What its user wants

    def command(self, command: Command) -> None:
        """Stack, return or hold what is in escrow; the next status withdraws it. There is no wait on this wire."""
        route = ROUTES.get(command)
        self._queued = None if route == Route.EXTEND and self._bay.cannot_hold else route

    def reset(self) -> None:
        """Reset the device once it reports an error, or rests; kept until it is done."""
        self._reset_wanted = True

    def acknowledge(self) -> None:
        """The credit that stands is durable: go past it. Nothing is sent; the next poll is all that a device hears."""
        self._credit_open = False

    def inhibit(self, inhibited: bool) -> None:
        """Want acceptance off or on (master inhibit)."""
        self._inhibited = inhibited
        self._setup.try_again(cctalk.Command.MODIFY_MASTER_INHIBIT)

    def take(self, codes: frozenset[int]) -> None:
        """Want exactly the notes of these escrow codes to be taken (inhibits)."""
        self._codes = codes
        self._setup.try_again(cctalk.Command.MODIFY_INHIBITS)

    @property
    def mark(self) -> str | None:
        """What the next life must know of what was told so far; None before the device was heard."""
        return self._trail.mark

    def resume(self, mark: str) -> None:
        """Go on where an earlier life ended; before anything is received. Raises ValueError if that isn't a mark."""
        self._trail.resume(mark)
        self._enter(held(self._trail.told), told=True)

    @property
    def ready(self) -> bool:
        """True once the table is known and all settings are confirmed or given up."""
        return self.table is not None and not self._setup.open(self._wanted())

    # What it sends

    def next_frame(self, now_ms: int) -> bytes | None:
        """Return the frame to send now, None if there is nothing to send. `now_ms` never goes backwards."""
        if self._waiting is not None:
            if now_ms < self._deadline:
                return None
            self._timed_out()
        ask = self._action(now_ms) or (POLL if now_ms >= self._poll_due else None)
        return None if ask is None else self._send(ask, now_ms)

    def _timed_out(self) -> None:
        self.timeouts += 1
        self._unanswered, self._waiting = self._waiting, None
        if self._unanswered:
            self._failed(self._unanswered, NO_ANSWER, "the device doesn't answer it")
        self._fresh = False
        self._poll_due = 0

    def _action(self, now_ms: int) -> Ask | None:
        if self.polls_only or not self._fresh:
            return None
        if self._barcode_unread():
            return READ_BARCODE
        if self._start_polls:
            return self._next_of(self._setup.reads() + self._due_settings(now_ms))
        if self._trail.waiting or self.status is None:
            return None
        if self._queued is not None and self.status in IN_ESCROW:
            return Ask(cctalk.Command.ROUTE_BILL, bytes([self._queued]))
        if self._reset_wanted and self.status in AT_REST | ERRORS:
            return RESET
        return self._next_of(self._due(now_ms))

    def _next_of(self, asks: list[Ask]) -> Ask | None:
        """The first of these, but one that is never answered must not keep the others waiting."""
        return min(asks, key=lambda ask: ask == self._unanswered, default=None)

    def _due(self, now_ms: int) -> list[Ask]:
        """Reads and settings that are due in the present status, in order."""
        check = [SELF_CHECK] if self._check_due is not None and now_ms >= self._check_due else []
        checks = check if self._bay.empty or self._error else []
        settings = self._due_settings(now_ms) if self.status in AT_REST else []
        return self._setup.reads() + checks + settings

    def _due_settings(self, now_ms: int) -> list[Ask]:
        return self._setup.settings(self._wanted(), now_ms - self.settings.refresh_ms)

    def _wanted(self) -> list[Ask]:
        """What is set, in order: master inhibit comes last, as it opens the device for business."""
        if self.table is None:
            return []
        mode = self.settings.operating_mode
        # Places without a bill are left on: no harm, and a barcode may have one.
        refused = set() if self._codes is None else self.table.keys() - self._codes
        mask = ALL_TYPES & ~sum(1 << code - CODE_OF_TYPE_0 - 1 for code in refused)
        asks = [] if mode is None else [Ask(cctalk.Command.MODIFY_OPERATING_MODE, bytes([mode]))]
        return [
            *asks,
            Ask(cctalk.Command.MODIFY_INHIBITS, mask.to_bytes(MASK_BYTES, "little")),
            Ask(cctalk.Command.MODIFY_MASTER_INHIBIT, bytes([not self._inhibited])),
        ]

    def _send(self, ask: Ask, now_ms: int) -> bytes:
        settings = self.settings
        if ask != POLL:
            self._fresh = False
            self._queued = None
        self._reset_sent |= ask == RESET
        self._waiting = ask
        self._deadline = now_ms + (settings.self_check_ms if ask == SELF_CHECK else settings.reply_ms)
        self._poll_due = now_ms + settings.poll_ms
        return encode(ask.command, ask.data, settings.checksum, settings.address, settings.own_address)

    # What it hears

    def received(self, frame: Frame, now_ms: int) -> Sequence[HostEvent]:
        """Take one frame; return what it means."""
        if frame.to != self.settings.own_address:
            self.echoes += 1
            return []
        self._heard(now_ms)
        if frame.header == Reply.DATA and len(frame.data) == EVENTS_SIZE and cctalk.printable(frame.data) is None:
            return self._polled(frame.data, now_ms)
        if self._waiting is None:
            self.strays += 1
            return []
        return self._answered(self._waiting, frame, now_ms)

    def _heard(self, now_ms: int) -> None:
        if self._heard_at is not None and self.silent(now_ms):
            self._setup.forget_settings()
        self._heard_at = now_ms

    def _answered(self, ask: Ask, frame: Frame, now_ms: int) -> list[HostEvent]:
        if ask == POLL and frame.header == Reply.DATA:
            self.strays += 1
            return []
        self._waiting = None
        if ask != POLL:
            self._poll_due = now_ms
        if frame.header == Reply.BUSY:
            self.busy += 1
        elif frame.header != Reply.DATA:
            self._refused(ask)
        else:
            self._accepted(ask, frame.data, now_ms)
        return self._news()

    def _refused(self, ask: Ask) -> None:
        self.naks += 1
        if ask == HOLD:
            self._bay.cannot_hold = True
        self._failed(ask, REFUSAL, "the device refuses it (NAK)")

    def _failed(self, ask: Ask, weight: int, why: str) -> None:
        """Count a failure; once it is one too many, go on without."""
        if not self._setup.failed(ask, weight):
            return
        if ask == READ_BARCODE:
            self._bay.digits = b""
        elif ask == SELF_CHECK:
            self._check_over()
        if ask not in BILLS:
            self._to_tell.append(Refused(command_text(ask.command), why))

    def _accepted(self, ask: Ask, data: bytes, now_ms: int) -> None:
        try:
            self._take_answer(ask, data, now_ms)
        except ValueError as error:
            self._failed(ask, REFUSAL, str(error))

    def _take_answer(self, ask: Ask, data: bytes, now_ms: int) -> None:
        if ask.command == cctalk.Command.ROUTE_BILL:
            self._routed(ask.data[0], data, now_ms)
        elif ask == READ_BARCODE:
            self._bay.digits = data
        elif ask == SELF_CHECK:
            self._checked(data, now_ms)
        elif ask == RESET:
            self._reset_done(data)
        elif self._setup.is_read(ask):
            self._setup.answered(ask, data)
        else:
            self._setup.confirmed(ask, data, now_ms)

    def _news(self) -> list[HostEvent]:
        """What was read meanwhile, and what was given up."""
        told, self._to_tell = self._to_tell, []
        identity, table = self._setup.identity(), self._setup.table()
        if identity is not None:
            self.version = identity
            told.append(VersionRead(identity))
        if table is not None:
            self.table, left_out = table
            told += [Refused("a bill type", why) for why in left_out]
            told.append(TableRead(self.table))
        return told

    def _routed(self, route: int, data: bytes, now_ms: int) -> None:
        if data == bytes([RouteError.FAILED]):
            return
        empty = data == bytes([RouteError.ESCROW_EMPTY])
        if route == Route.EXTEND and not empty:
            self._bay.holding = True
        elif data and not empty:
            raise ValueError(f"the device answers {cctalk.data_text(data)}")
        else:
            self._bay.move(route, now_ms + self.settings.route_ms, empty)

    def _reset_done(self, data: bytes) -> None:
        acked(data)
        self._reset_wanted = False
        self._trail.expect_restart()

    def _checked(self, data: bytes, now_ms: int) -> None:
        fault = data[0] if data else Fault.UNSPECIFIED
        if fault == Fault.NONE:
            self._check_passed(now_ms)
            return
        self._fault_seen = True
        self._check_due = now_ms + self.settings.self_check_ms
        self._reset_if_cold()
        # Of jams, cheating and the stacker an event tells more, of failures the self-check does.
        if self._error is None or self._error.status == Status.FAILURE:
            self._error = ERROR_OF_FAULT.get(fault, self._error or StatusSeen(Status.FAILURE))

    def _reset_if_cold(self) -> None:
        self._reset_wanted |= self._cold
        self._cold = False

    def _check_passed(self, now_ms: int) -> None:
        """A self-check that never saw an error can't say that it is over; an attempt to cheat need not last."""
        if self._fault_seen or (self._error and self._error.status == Status.CHEATED):
            self._error = None
        self._check_due = now_ms + self.settings.self_check_ms if self._error else None

    def _check_over(self) -> None:
        self._check_due = None
        if self._error and self._error.status == Status.CHEATED:
            self._error = None

    # What became of bills

    def _polled(self, data: bytes, now_ms: int) -> list[HostEvent]:
        if self._waiting == POLL:
            self._waiting = None
            self._fresh = True
        first = self._trail.mark is None
        self._trail.hear(parse_events(data))
        if first:
            self._enter(held(self._trail.told), told=True)
        if not self._last or not (self.polls_only or self._credit_open):
            self._last = self._next(now_ms)
        if self._trail.waiting and not self._trail.waiting[0].restarted:
            self._poll_due = now_ms
        for event in self._last:
            if isinstance(event, StatusSeen):
                self.status = event.status
                self._queued = None
        return self._news() + self._last

    def _next(self, now_ms: int) -> list[HostEvent]:
        """The next happening, or the status that stands; one at a time, so that each is durable before the next."""
        while self._trail.waiting:
            first = self._trail.waiting[0]
            if first.restarted:
                return self._restarted(now_ms)
            if self._barcode_unread():
                return []
            if self._credit_last and first.event and first.event.credit:
                return [self._past()]
            told = self._happened(self._trail.tell())
            if told:
                return told
        return self._standing(now_ms)

    def _barcode_unread(self) -> bool:
        waiting = self._trail.waiting
        news = bool(waiting) and waiting[0].event == BARCODE and not self._outdated(1)
        if news and (self._bay.event != BARCODE or self._bay.told):
            self._enter(BARCODE)
        return self._bay.event == BARCODE and self._bay.digits is None

    def _enter(self, event: Event | None, told: bool = False) -> None:
        self._bay = _Bay(event, told, cannot_hold=self._bay.cannot_hold)
        self._setup.try_again(READ_BARCODE.command)

    def _restarted(self, now_ms: int) -> list[HostEvent]:
        """The device started anew: what it tells of a bill in its first events happened before."""
        if not self._start_polls:
            self._set_up_anew()
        self._start_polls += 1
        later = [happening.event for happening in itertools.islice(self._trail.waiting, 1, None)]
        news = next((event for event in later if event is None or _of_a_bill(event)), None)
        if news is None and None not in later and self._more_to_come(now_ms):
            return []
        code = self._code(news) if news and news.credit else b""
        self._started()
        if news is None or news.escrow:
            return [StatusSeen(Status.POWER_UP)]
        self._tell_up_to(news)
        if not news.credit:
            return [StatusSeen(Status.POWER_UP_BILL_IN_ACCEPTOR)]
        self._credit_last = True
        return [StatusSeen(Status.POWER_UP_BILL_IN_STACKER, code)]

    def _set_up_anew(self) -> None:
        self._setup = SetUp()
        self._ready_at = None
        self._cold, self._reset_sent, self._reset_wanted = not self._reset_sent, False, False
        self._error, self._check_due, self._fault_seen = None, 0, False

    def _more_to_come(self, now_ms: int) -> bool:
        """A bill that was under way may be given back only once the device is set up, and be told only then."""
        if self._start_polls <= START_POLLS or self._bay.empty:
            return self._start_polls <= START_POLLS
        if self._ready_at is None and self.ready:
            self._ready_at = now_ms
        return self._ready_at is None or now_ms - self._ready_at < self.settings.start_ms

    def _started(self) -> None:
        self._trail.tell()
        self._start_polls, self._starting, self._credit_last = 0, True, False
        self._enter(None)

    def _tell_up_to(self, news: Event) -> None:
        while (event := self._trail.tell().event) != news:
            if event:
                self._coded(event.b)

    def _happened(self, happening: Happening) -> list[HostEvent]:
        event = happening.event
        if event is None:
            return self._lost(happening.lost)
        if event.escrow and self._outdated(0):
            return [self._past()]
        if event == BARCODE:
            self._bay.told = True
            return [self._escrow()]
        if event.escrow:
            self._enter(event, told=True)
            return [self._escrow()]
        if event.credit:
            return [self._credited(event)]
        if event.a:
            self.strange += 1
            return []
        return self._coded(event.b)

    def _outdated(self, first: int) -> bool:
        """Whether a bill's next event is known already: nobody decides any more about what was in escrow before it."""
        later = itertools.islice(self._trail.waiting, first, None)
        return any(one.event is None or _of_a_bill(one.event) for one in later)

    def _past(self) -> StatusSeen:
        """The device is past whatever was decided about: a credit that follows is of another bill."""
        self._enter(None)
        self._credit_last = False
        return StatusSeen(self._idle())

    def _lost(self, count: int) -> list[HostEvent]:
        self.lost += count
        self._setup.forget_settings()
        self._check_due = 0
        self._enter(None)
        why = f"{count} came between two polls and were never seen"
        return [Refused("the acceptor's events", why), StatusSeen(Status.INITIALISE)]

    def _credited(self, event: Event) -> StatusSeen:
        told = StatusSeen(Status.VEND_VALID, self._code(event))
        self._enter(None)
        self._credit_open = self._credit_last = True
        return told

    def _code(self, event: Event) -> bytes:
        """Neutral code of a bill type; what is in no table is the barcode that was held, else no known note."""
        code = CODE_OF_TYPE_0 + event.a
        known = 1 <= event.a <= LAST_TYPE and (self.table is None or code in self.table)
        if known:
            return bytes([code])
        return bytes([EscrowCode.BARCODE]) if self._bay.event == BARCODE else UNKNOWN_NOTE

    def _coded(self, code: int) -> list[HostEvent]:
        """Take an event that names no bill type."""
        if code in NOT_TAKEN:
            self._setup.forget_settings()
        if code in STACKER_AGAIN:
            self._stacker_again()
        if code in ERROR_OF_CODE:
            return self._error_told(code)
        if Event(0, code) in ENDS:
            self._enter(None)
        if code == Code.BILL_RETURNED:
            return [StatusSeen(Status.RETURNING)]
        if code in REASON_OF_CODE:
            return [StatusSeen(Status.REJECTING, bytes([REASON_OF_CODE[code]]))]
        self.strange += code not in Code._value2member_map_
        return []

    def _error_told(self, code: int) -> list[HostEvent]:
        self._error, self._check_due = ERROR_OF_CODE[code], 0
        self._reset_if_cold()
        if Event(0, code) in ENDS:
            self._enter(None)
        return [] if self._failure_unnamed() else [self._error]

    def _stacker_again(self) -> None:
        self._check_due = 0
        if self._error and (self._error.status in OF_STACKER or self._error == ERROR_OF_CODE[Code.STACKER_FAULTY]):
            self._error = None

    def _standing(self, now_ms: int) -> list[HostEvent]:
        """The status that stands while nothing happens; nothing is told while a bill is on its way back."""
        if self._error:
            return [] if self._failure_unnamed() else [self._error]
        if self._barcode_unread():
            return []
        self._bay.look(now_ms)
        if self._bay.routed == Route.RETURN:
            return []
        if self._bay.routed == Route.STACK:
            return [StatusSeen(Status.STACKING)]
        if not self._bay.empty:
            return [StatusSeen(Status.HOLDING) if self._bay.holding else self._escrow()]
        self._credit_last = False
        return [self._rest()]

    def _failure_unnamed(self) -> bool:
        """Which failure it is, the self-check tells, and that is still to come."""
        return self._error is not None and self._error.status == Status.FAILURE and self._check_due == 0

    def _escrow(self) -> StatusSeen:
        assert self._bay.event
        return StatusSeen(Status.ESCROW, self._code(self._bay.event) + (self._bay.digits or b""))

    def _rest(self) -> StatusSeen:
        self._starting &= not self.ready
        self._cold &= self._starting
        return StatusSeen(Status.INITIALISE if self._starting else self._idle())

    def _idle(self) -> Status:
        accepting = not self._inhibited and self._setup.holds(ACCEPT)
        return Status.IDLE if accepting else Status.DISABLED


@dataclass
class _Bay:
    """What is in escrow: the event that told it, a barcode's digits once they were read, where it was routed.

    `told` is False until the user knows of a barcode; `until` (ms) is how long its routing may take; `empty_seen` tells
    that the device called the escrow empty since.
    """

    event: Event | None = None
    told: bool = False
    digits: bytes | None = None
    holding: bool = False
    cannot_hold: bool = False
    routed: int | None = None
    until: int = 0
    empty_seen: bool = False

    @property
    def empty(self) -> bool:
        return self.event is None

    def move(self, route: int, until: int, empty: bool) -> None:
        """The device took the route, or says that there is nothing to route any more: an event will tell."""
        self.routed, self.until, self.empty_seen = route, until, empty
        self.holding = False

    def look(self, now_ms: int) -> None:
        """Give up waiting for an event that is overdue."""
        if self.routed is not None and now_ms >= self.until:
            self.routed = None
            if self.empty_seen:
                self.event = None


def _of_a_bill(event: Event) -> bool:
    return event.escrow or event.credit or event == RETURNED


# What a kiosk looks for in the host of an acceptor's wire.
Settings = CctalkSettings
Host = CctalkHost

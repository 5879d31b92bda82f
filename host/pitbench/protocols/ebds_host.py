"""The EBDS host (master), sans-IO: what to send next, and what a reply means in ID-003's words.

Every poll carries all settings. A frame whose acknowledge bit differs from the last one's acknowledges the last reply,
and is carried out; one with the same bit asks for the last reply again, and isn't. So:

- A frame without an answer is followed by a plain poll with the same bit, never by the same action: what the device
  has done it tells again, and what it hasn't is decided by its status anew.
- While a credit isn't acknowledged, or its user can't make decisions durable, the bit stays: the event is told again.
- A reply may be as old as the first frame of its bit. A standing status that may be older than `trust_ms` is not told,
  and asked for anew; events are told whatever their age.

A host that starts doesn't know which bit the device heard last, and its first poll may acknowledge what the host before
it never read. So the bit of the next frame is a mark that its user keeps while a note is being stacked: with it a new
host asks for that frame's reply again. A hold isn't said: polls keep a note in escrow.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from pitbench.protocols import ebds
from pitbench.protocols.acceptor_host import HostEvent, Refused, StatusSeen, TableRead, VersionRead
from pitbench.protocols.ebds import Condition, Exceptional, Frame, Kind, Mode, Option, Query, Report, State, Subtype
from pitbench.protocols.host_patience import GIVE_UP, NO_ANSWER, REFUSAL, Listener
from pitbench.protocols.id003 import ERRORS, POWER_UPS, Command, Denomination, EscrowCode, FailureCode, Status

# A device may say nothing for a second after a reset, and may answer none at all.
RESET_QUIET_MS = 1000
RESETS = 3
# Entries of the note table, at most (one open driver).
LAST_ENTRY = 128
ENTRIES_A_BYTE = 7
# An escrow code that is in no table: a note that is not among the settings' values.
UNKNOWN_NOTE = 0x60
COUNTRY_USD = 1
ALL_NOTES = 0x7F
BARCODES = Option.BARCODE | Option.EXTENDED_COUPON
AT_HAND = State.ESCROWED | State.STACKED
IN_ACCEPTOR = State.ACCEPTING | State.ESCROWED | State.RETURNING | State.RETURNED
UNTIL_STACKED = frozenset({Status.ESCROW, Status.STACKING})
AT_REST = frozenset({Status.IDLE, Status.DISABLED, Status.INITIALISE})
# Of these the device tells once, until it is acknowledged.
EVENTS = frozenset({Status.VEND_VALID, Status.RETURNING, Status.REJECTING, *POWER_UPS})


@dataclass(frozen=True)
class EbdsSettings:
    """How the host talks, and what it sets.

    Args:
        poll_ms, reply_ms, silent_ms: poll period (a device that is polled every 500 ms was seen to stay in power-up),
            wait for a reply, time without any frame after which the device counts as silent; milliseconds.
        trust_ms: age up to which a reply's standing status is believed, milliseconds.
        extended: extended note reporting; without, notes are told as 1 to 7.
        values: what the notes are worth in whole units, in the order of the seven standard places; 0 is none. Only
            these are taken, in extended reporting too (fourteen there at most): a note's escrow code never changes.
        currency: ISO 4217 code of the notes that are taken.
        mode: orientation and escrow, as each poll says it.
        barcode, coupon: vouchers, coupons are read.
        power_up: what becomes of a note that was under way when power was lost; POWER_UP_B tells its value afterwards.
        enable_bytes: length of the switches for single entries of the note table, 8 or 19 by model (one source).
    """

    poll_ms: int = 100
    reply_ms: int = 300
    silent_ms: int = 2000
    trust_ms: int = 1000
    extended: bool = True
    values: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100)
    currency: str = "USD"
    mode: Mode = Mode.FOUR_WAY | Mode.ESCROW
    barcode: bool = True
    coupon: bool = True
    power_up: Option = Option.POWER_UP_B
    enable_bytes: int = 19

    def __post_init__(self) -> None:
        most = EscrowCode.BARCODE - EscrowCode.SLOT_1 if self.extended else 7
        if len(self.values) > most:
            raise ValueError(f"{len(self.values)} values of notes; at most {most} have an escrow code")

    @property
    def table(self) -> dict[int, Denomination]:
        """Every note that may be taken, by its escrow code."""
        country = COUNTRY_USD if self.currency == "USD" else 0
        codes = enumerate(self.values, EscrowCode.SLOT_1)
        return {code: Denomination(code, country, value, 0) for code, value in codes if value}

    def code(self, units: int | None) -> int:
        """Escrow code of a value in whole units of the currency."""
        return EscrowCode.SLOT_1 + self.values.index(units) if units and units in self.values else UNKNOWN_NOTE

    @property
    def option(self) -> Option:
        """Third byte of a poll while notes are taken."""
        barcode = Option.BARCODE if self.barcode else Option(0)
        extended = Option.EXTENDED_NOTE if self.extended else Option(0)
        coupon = Option.EXTENDED_COUPON if self.coupon else Option(0)
        return self.power_up | barcode | coupon | extended


class Ask(Enum):
    """What a frame is for."""

    POLL = "poll"
    STACK = "stack"
    RETURN = "return"
    RESET = "Soft reset"
    CRC = "Software CRC"
    ENTRY = "Note table"
    ENABLES = "Note enables"


ACTIONS = frozenset({Ask.STACK, Ask.RETURN, Ask.RESET})
ACTION_BITS = {Ask.STACK: Mode.STACK, Ask.RETURN: Mode.RETURN}
SET_UP = (Ask.CRC, Ask.ENTRY, Ask.ENABLES)
# HOLD and WAIT need no word: polls keep the note in escrow.
ASKS = {Command.STACK_1: Ask.STACK, Command.STACK_2: Ask.STACK, Command.RETURN: Ask.RETURN}


@dataclass
class _Exchange:
    """A frame and its answer, under one acknowledge bit.

    `sent_at` is when this bit was sent first, None where a host before this one may have sent it; `settings` and
    `enables` what it carried then; `repeated` tells that a plain poll took its place.
    """

    bit: int = 0
    ask: Ask = Ask.POLL
    entry: int = 0
    sent_at: int | None = None
    settings: bytes | None = None
    enables: bytes | None = None
    repeated: bool = False
    answered: bool = False


@dataclass
class _SetUp:
    """What was read and set since the device's last power-up: entries of the note table by their escrow codes."""

    entries: dict[int, int] = field(default_factory=dict)
    table_done: bool = False
    crc_done: bool = False
    enables: bytes | None = None
    failures: Counter[Ask] = field(default_factory=Counter)


class EbdsHost(Listener):
    """Master of one EBDS device.

    Counters: `timeouts`, `unsolicited` (replies that nobody waits for: doubled, late, of the other bit), `invalid`
    (the device's word for a command), `strange` (replies of no known layout).
    `polls_only` holds back everything but polls, for a user that can't make its decisions durable just now.
    """

    def __init__(self, settings: EbdsSettings | None = None, *, inhibited: bool = False) -> None:
        self.settings = settings or EbdsSettings()
        super().__init__(self.settings.silent_ms)
        self.decoder = ebds.Decoder()
        self.status: int | None = None
        self.table: dict[int, Denomination] | None = None
        self.version: str | None = None
        self.polls_only = False
        self.mark: str | None = None
        self.timeouts = self.unsolicited = self.invalid = self.strange = 0
        self._inhibited = inhibited
        self._taken: frozenset[int] | None = None
        self._exchange = _Exchange()
        self._set_up = _SetUp()
        self._confirmed: bytes | None = None
        self._waiting = False
        self._deadline = self._poll_due = self._quiet_until = 0
        # True while `status` is newer than the last action: an action is never repeated on an old status.
        self._fresh = False
        self._queued: Ask | None = None
        # From the command on: a reply that tells the note as stacked may be the next one.
        self._is_stacking = False
        self._resets_left = 0
        self._credit_stands = False
        # Events that came up while a frame was sent; they are told with the next reply.
        self._later: list[HostEvent] = []
        self._model = ""
        if not self.settings.extended:
            self._later += self._table_known(self.settings.table)

    # What its user wants

    def command(self, command: Command) -> None:
        """Stack or return next; HOLD and WAIT need no word. The next status of the device withdraws it."""
        self._queued = ASKS.get(command)
        self._is_stacking = self._queued == Ask.STACK
        self._mark_next()

    def resume(self, mark: str) -> None:
        """Begin with the frame that an earlier life may have sent last. Raises ValueError for what is no mark."""
        if mark not in ("0", "1"):
            raise ValueError(f"{mark} is no bit")
        self.mark = mark
        self._exchange = _Exchange(bit=int(mark))

    def _mark_next(self) -> None:
        if self._is_stacking:
            self.mark = str(1 - self._exchange.bit)

    def reset(self) -> None:
        """Reset the device once it reports an error, or rests; kept until it is done, or was sent three times."""
        self._resets_left = RESETS

    def acknowledge(self) -> None:
        """The credit that stands is durable: the next frame acknowledges it by its bit."""
        self._credit_stands = False

    def inhibit(self, inhibited: bool) -> None:
        """Want acceptance off or on; every poll says so."""
        self._inhibited = inhibited

    def take(self, codes: frozenset[int]) -> None:
        """Want exactly the notes of these escrow codes to be taken."""
        self._taken = codes
        self._set_up.failures.pop(Ask.ENABLES, None)

    @property
    def ready(self) -> bool:
        """True once the table is known and the device has answered a poll with all settings as they are wanted."""
        return self.table is not None and self._confirmed == self._poll_bytes() and not self._to_set_up()

    # What it sends

    def next_frame(self, now_ms: int) -> bytes | None:
        """Return the frame to send now, None if there is nothing to send. `now_ms` never goes backwards."""
        if self._waiting:
            if now_ms < self._deadline:
                return None
            self._timed_out()
        if now_ms < self._quiet_until:
            return None
        if self._held or not self._exchange.answered:
            return self._repeat(now_ms) if now_ms >= self._poll_due else None
        ask = self._action()
        if ask is None and now_ms < self._poll_due:
            return None
        return self._ask(ask or Ask.POLL, now_ms)

    @property
    def _held(self) -> bool:
        """Whether the last reply must not be acknowledged yet."""
        return self._credit_stands or (self.polls_only and self.status in EVENTS)

    def _timed_out(self) -> None:
        self.timeouts += 1
        self._waiting = self._fresh = False
        self._poll_due = 0
        if self._exchange.ask in SET_UP and not self._exchange.repeated:
            self._later += self._failed(self._exchange.ask, NO_ANSWER, "the device doesn't answer")

    def _action(self) -> Ask | None:
        if self.polls_only or not self._fresh:
            return None
        if self._queued is not None:
            return self._queued
        if self._resets_left and self.status in AT_REST | ERRORS:
            return Ask.RESET
        # One that is never answered must not keep the others waiting.
        failures = self._set_up.failures
        due = self._to_set_up() if self.status in AT_REST else []
        return min(due, key=lambda ask: failures[ask], default=None)

    def _to_set_up(self) -> list[Ask]:
        """Reads and settings that are due, in order."""
        done = self._set_up
        due = {
            Ask.CRC: not done.crc_done,
            Ask.ENTRY: self.settings.extended and not done.table_done,
            Ask.ENABLES: done.table_done and self._enables() != done.enables,
        }
        return [ask for ask, wanted in due.items() if wanted and done.failures[ask] < GIVE_UP]

    def _ask(self, ask: Ask, now_ms: int) -> bytes:
        """Send a new frame; its bit acknowledges the last reply."""
        entry = len(self._set_up.entries) + 1
        self._exchange = _Exchange(1 - self._exchange.bit, ask, entry, now_ms, self._poll_bytes(), self._enables())
        if ask in ACTIONS:
            self._queued = None
            self._fresh = False
        wire = self._wire()
        self._sent(now_ms, RESET_QUIET_MS if ask == Ask.RESET else self.settings.reply_ms)
        if ask == Ask.RESET:
            self._resets_left -= 1
            self._quiet_until = now_ms + RESET_QUIET_MS
        return wire

    def _repeat(self, now_ms: int) -> bytes:
        """Ask for the last reply again; a device that never heard the frame takes this as a poll."""
        self._exchange.repeated = True
        self._exchange.answered = False
        self._sent(now_ms, self.settings.reply_ms)
        return ebds.poll(self._exchange.bit, self._poll_bytes())

    def _sent(self, now_ms: int, reply_ms: int) -> None:
        self._waiting = True
        self._deadline = now_ms + reply_ms
        self._poll_due = now_ms + self.settings.poll_ms

    def _wire(self) -> bytes:
        bit, ask = self._exchange.bit, self._exchange.ask
        if ask == Ask.RESET:
            return ebds.query(bit, Query.SOFT_RESET)
        if ask == Ask.CRC:
            return ebds.query(bit, Query.SOFTWARE_CRC)
        if ask == Ask.ENTRY:
            return ebds.note_query(bit, self._poll_bytes(), self._exchange.entry)
        if ask == Ask.ENABLES:
            return ebds.note_enables(bit, self._poll_bytes(), self._exchange.enables or b"")
        return ebds.poll(bit, self._poll_bytes(ACTION_BITS.get(ask, 0)))

    def _poll_bytes(self, action: int = 0) -> bytes:
        option = self.settings.option & ~(BARCODES if self._inhibited else Option(0))
        return bytes((0 if self._inhibited else self._notes(), self.settings.mode | action, option))

    def _notes(self) -> int:
        """First byte of a poll: standard places that are taken; in extended reporting it only says whether any is."""
        if self.settings.extended:
            return ALL_NOTES if self._taken is None or self._taken else 0
        return sum(self._takes(EscrowCode.SLOT_1 + place) << place for place in range(7))

    def _takes(self, code: int) -> bool:
        return code in self.settings.table and (self._taken is None or code in self._taken)

    def _enables(self) -> bytes | None:
        """Switches of the note table's entries; None where the device's own are right, which are all on."""
        on = [entry for entry, code in self._set_up.entries.items() if self._takes(code)]
        if len(on) == len(self._set_up.entries) and self._set_up.enables is None:
            return None
        switches = bytearray(self.settings.enable_bytes)
        for at in (entry - 1 for entry in on if entry <= ENTRIES_A_BYTE * len(switches)):
            switches[at // ENTRIES_A_BYTE] |= 1 << at % ENTRIES_A_BYTE
        return bytes(switches)

    # What it hears

    def received(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        """Take one frame of the device; return what it means."""
        if self.silent(now_ms):
            self._set_up = _SetUp()
        self._heard_at = now_ms
        if not self._waiting or frame.bit != self._exchange.bit:
            self.unsolicited += 1
            return []
        self._waiting = False
        self._exchange.answered = True
        told, self._later = self._later, []
        return told + self._answered(frame, now_ms)

    def _answered(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        if frame.kind == Kind.AUXILIARY:
            return self._auxiliary_heard(frame.data)
        try:
            report, rest = ebds.parse_reply(frame)
        except ValueError:
            self.strange += 1
            return []
        self.invalid += Exceptional.INVALID_COMMAND in report.exceptional
        return self._set_up_heard(frame, report, rest) + self._report_heard(frame, report, rest, now_ms)

    # Reads and settings

    def _auxiliary_heard(self, data: bytes) -> list[HostEvent]:
        # The answer doesn't name its query; the bit tells that it is the one that was asked.
        if self._exchange.ask != Ask.CRC:
            self.strange += 1
            return []
        try:
            crc = ebds.parse_crc(data)
        except ValueError as error:
            return self._failed(Ask.CRC, REFUSAL, f"the device sends {error}")
        self._set_up.crc_done = True
        self.version = f"EBDS{self._model}, software CRC {crc:04x}"
        return [VersionRead(self.version)]

    def _set_up_heard(self, frame: Frame, report: Report, rest: bytes) -> list[HostEvent]:
        ask, repeated = self._exchange.ask, self._exchange.repeated
        if ask not in SET_UP:
            return []
        if ask == Ask.ENTRY and frame.subtype == Subtype.NOTE:
            # What stands in a reply with a note at hand may be that note, and not the entry.
            return [] if report.state & AT_HAND else self._entry_heard(rest)
        if repeated:
            return []
        if Exceptional.INVALID_COMMAND in report.exceptional:
            return self._failed(ask, REFUSAL, "the device calls it an invalid command")
        if ask != Ask.ENABLES:
            return self._failed(ask, REFUSAL, "the device answers something else")
        self._set_up.enables = self._exchange.enables
        self._set_up.failures.pop(ask, None)
        return []

    def _entry_heard(self, data: bytes) -> list[HostEvent]:
        if self._exchange.entry != len(self._set_up.entries) + 1:
            return []
        try:
            note = ebds.parse_note(data)
        except ValueError as error:
            return self._failed(Ask.ENTRY, REFUSAL, f"the device sends {error}")
        if note is not None and note.index != self._exchange.entry:
            return self._failed(Ask.ENTRY, REFUSAL, f"the device tells entry {note.index} for {self._exchange.entry}")
        self._set_up.failures.pop(Ask.ENTRY, None)
        if note is not None:
            self._set_up.entries[note.index] = self._code(note)
        if note is not None and note.index < LAST_ENTRY:
            return []
        known = set(self._set_up.entries.values())
        return self._table_known({code: d for code, d in self.settings.table.items() if code in known})

    def _table_known(self, table: dict[int, Denomination]) -> list[HostEvent]:
        self._set_up.table_done = True
        self.table = table
        return [TableRead(table)]

    def _failed(self, ask: Ask, weight: int, why: str) -> list[HostEvent]:
        failures = self._set_up.failures
        failures[ask] += weight
        if failures[ask] < GIVE_UP:
            return []
        return [Refused(ask.value, why), *(self._without_table() if ask == Ask.ENTRY else [])]

    def _without_table(self) -> list[HostEvent]:
        """The device won't tell its table: the settings' own says what may be taken, and no entry can be switched."""
        self._set_up.entries.clear()
        return self._table_known(self.settings.table)

    # Statuses

    def _report_heard(self, frame: Frame, report: Report, rest: bytes, now_ms: int) -> list[HostEvent]:
        status, exchange = _status(report), self._exchange
        self._model = f" model {report.model:02x}, revision {ebds.revision_text(report.revision)}"
        self._confirmed = exchange.settings
        if exchange.ask == Ask.RESET and not exchange.repeated:
            self._resets_left = 0
        unsure = exchange.sent_at is None or now_ms - exchange.sent_at > self.settings.trust_ms
        if (unsure and status not in EVENTS) or (status == Status.ESCROW and exchange.ask == Ask.ENTRY):
            self._fresh = False
            self._poll_due = now_ms
            return []
        return self._status_seen(status, self._data(status, frame, report, rest))

    def _status_seen(self, status: Status, data: bytes) -> list[HostEvent]:
        self._queued = None
        self._fresh = True
        self._credit_stands = status == Status.VEND_VALID
        if status in POWER_UPS:
            self._resets_left = 0
            self._set_up = _SetUp()
        self.status = status
        self._is_stacking = self._is_stacking and status in UNTIL_STACKED
        self._mark_next()
        learned = self._learn(data[0]) if status == Status.ESCROW and data else []
        return [*learned, StatusSeen(status, data)]

    def _learn(self, code: int) -> list[HostEvent]:
        """A note in escrow is in the table, whether that was read yet or not."""
        if code not in self.settings.table or (self.table is not None and code in self.table):
            return []
        self.table = {**(self.table or {}), code: self.settings.table[code]}
        return [TableRead(self.table)]

    def _data(self, status: Status, frame: Frame, report: Report, rest: bytes) -> bytes:
        if status == Status.FAILURE and Exceptional.TRANSPORT_OPEN in report.exceptional:
            return bytes([FailureCode.HEAD_REMOVED])
        if status not in (Status.ESCROW, Status.VEND_VALID):
            return b""
        item = self._item(frame, report, rest)
        return item if status == Status.ESCROW else item[:1]

    def _item(self, frame: Frame, report: Report, rest: bytes) -> bytes:
        """Escrow code of the item at hand, and a barcode's digits; nothing where the reply doesn't tell."""
        if self._exchange.ask == Ask.ENTRY:
            return b""
        if frame.subtype == Subtype.BARCODE:
            return bytes([EscrowCode.BARCODE]) + ebds.parse_barcode(rest).encode("ascii", "replace")
        if frame.subtype == Subtype.NOTE:
            return self._noted(rest)
        values = (0, *self.settings.values, *[0] * 7)
        return bytes([self.settings.code(values[report.value])]) if report.value else b""

    def _noted(self, rest: bytes) -> bytes:
        try:
            note = ebds.parse_note(rest)
        except ValueError:
            self.strange += 1
            return b""
        return bytes([UNKNOWN_NOTE if note is None else self._code(note)])

    def _code(self, note: ebds.Note) -> int:
        return self.settings.code(note.units) if note.currency == self.settings.currency else UNKNOWN_NOTE


def _status(report: Report) -> Status:
    """The status in ID-003's words that a report amounts to: events first, then what keeps it from working."""
    state, power_up = report.state, Exceptional.POWER_UP in report.exceptional
    if State.STACKED in state:
        return Status.POWER_UP_BILL_IN_STACKER if power_up else Status.VEND_VALID
    if power_up and State.STACKING not in state:
        return Status.POWER_UP_BILL_IN_ACCEPTOR if state & IN_ACCEPTOR else Status.POWER_UP
    if State.RETURNED in state:
        return Status.RETURNING
    return _trouble(report) or _condition(report)


def _trouble(report: Report) -> Status | None:
    jam = Status.JAM_IN_STACKER if State.STACKING in report.state else Status.JAM_IN_ACCEPTOR
    troubles = {
        Status.FAILURE: Exceptional.FAILURE in report.exceptional or Exceptional.TRANSPORT_OPEN in report.exceptional,
        Status.STACKER_OPEN: Condition.CASSETTE_PRESENT not in report.condition,
        jam: Condition.JAM in report.condition or bool(report.misc & ebds.Misc.STALLED),
        Status.STACKER_FULL: Condition.STACKER_FULL in report.condition,
        Status.CHEATED: Condition.CHEATED in report.condition,
    }
    return next((status for status, stands in troubles.items() if stands), None)


def _condition(report: Report) -> Status:
    disabled = bool(report.misc & ebds.Misc.DISABLED) or Condition.CALIBRATING in report.condition
    conditions = {
        Status.ESCROW: State.ESCROWED in report.state,
        Status.STACKING: State.STACKING in report.state,
        Status.REJECTING: Condition.REJECTED in report.condition,
        Status.RETURNING: State.RETURNING in report.state,
        Status.PAUSE: Condition.PAUSED in report.condition,
        Status.ACCEPTING: State.ACCEPTING in report.state,
        Status.DISABLED: disabled,
        Status.IDLE: State.IDLE in report.state,
    }
    return next((status for status, stands in conditions.items() if stands), Status.INITIALISE)


Host, Settings = EbdsHost, EbdsSettings

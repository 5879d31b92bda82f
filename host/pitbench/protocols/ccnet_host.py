"""The CCNET host (master), sans-IO: what to send next, and what a reply means in ID-003's words.

It asks with `next_frame`, is told with `received`, and never sleeps. It decides by the device's last state and not by
counting replies, so a lost, late, doubled or damaged frame costs time and nothing else.

The wire has an acknowledgement: the device repeats "bill stacked" until the host's ACK, which `acknowledge` releases
once the credit is durable. An ACK names no reply, so none leaves that could be taken for the one of a bill stacked
meanwhile: see `Acks`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pitbench.protocols import id003
from pitbench.protocols.acceptor_host import HostEvent, Refused, StatusSeen, TableRead, VersionRead
from pitbench.protocols.ccnet import (
    BARCODE_TYPE,
    BILL_TYPES,
    IDENTIFICATION_SIZE,
    LONGEST_STATE,
    MASK_SIZE,
    STATUS_SIZE,
    TABLE_SIZE,
    BillType,
    Command,
    Decoder,
    FailureCode,
    Frame,
    RejectReason,
    Reply,
    State,
    barcode_digits,
    command_text,
    encode,
    mask,
    masked_types,
    parse_bill_table,
    parse_identification,
    parse_status,
)
from pitbench.protocols.host_patience import GIVE_UP, NO_ANSWER, REFUSAL, Listener
from pitbench.protocols.id003 import Denomination, EscrowCode, Status

# A device that still isn't in the state that was asked for so long after the last setting is set up anew.
SETTLE_MS = 5000
# An ACK that was held back for safety is given no earlier than this after the last fault of the line.
QUIET_MS = 1000

ACTIONS = {
    id003.Command.STACK_1: Command.STACK,
    id003.Command.STACK_2: Command.STACK,
    id003.Command.RETURN: Command.RETURN,
    id003.Command.HOLD: Command.HOLD,
}
DEEDS = frozenset({Command.RESET, *ACTIONS.values()})
READS = (Command.IDENTIFICATION, Command.GET_BILL_TABLE)
QUESTION_OF = {
    IDENTIFICATION_SIZE: Command.IDENTIFICATION,
    TABLE_SIZE: Command.GET_BILL_TABLE,
    STATUS_SIZE: Command.GET_STATUS,
}
QUESTIONS = tuple(QUESTION_OF.values())
# ENABLE_BILL_TYPES comes last: it is what opens the device for business.
SETTINGS = (Command.SET_SECURITY, Command.SET_BARCODE_PARAMETERS, Command.ENABLE_BILL_TYPES)

STATUSES: dict[int, Status] = {
    State.POWER_UP: Status.POWER_UP,
    State.POWER_UP_WITH_BILL_IN_VALIDATOR: Status.POWER_UP_BILL_IN_ACCEPTOR,
    State.POWER_UP_WITH_BILL_IN_STACKER: Status.POWER_UP_BILL_IN_STACKER,
    State.INITIALISE: Status.INITIALISE,
    State.IDLING: Status.IDLE,
    State.ACCEPTING: Status.ACCEPTING,
    State.STACKING: Status.STACKING,
    State.RETURNING: Status.RETURNING,
    State.UNIT_DISABLED: Status.DISABLED,
    State.HOLDING: Status.HOLDING,
    State.REJECTING: Status.REJECTING,
    State.DROP_CASSETTE_FULL: Status.STACKER_FULL,
    State.DROP_CASSETTE_OUT_OF_POSITION: Status.STACKER_OPEN,
    State.VALIDATOR_JAMMED: Status.JAM_IN_ACCEPTOR,
    State.DROP_CASSETTE_JAMMED: Status.JAM_IN_STACKER,
    State.CHEATED: Status.CHEATED,
    State.PAUSE: Status.PAUSE,
    State.FAILURE: Status.FAILURE,
    State.ESCROW_POSITION: Status.ESCROW,
    State.BILL_STACKED: Status.VEND_VALID,
    State.BILL_RETURNED: Status.RETURNING,
}
# An unknown state's byte is told with this added, so that it is never taken for a status of ID-003.
UNKNOWN_STATE = 0x100

# An escrow code for a bill type that no table can have.
UNKNOWN_CODE = 0xFF
# Countries of ID-003's currency table.
USD, OTHER_COUNTRY = 1, 0

# Codes without a word of ID-003 are told as they are: their numbers mean nothing else there.
UV_REJECT = 0x7F
REASONS: dict[int, int] = {
    RejectReason.INSERTION: id003.RejectReason.INSERTION,
    RejectReason.MAGNETIC: id003.RejectReason.MAGNETIC,
    RejectReason.BILL_IN_HEAD: id003.RejectReason.BILL_IN_HEAD,
    RejectReason.MULTIPLYING: id003.RejectReason.COMPENSATION,
    RejectReason.CONVEYING: id003.RejectReason.CONVEYING,
    RejectReason.IDENTIFICATION: id003.RejectReason.DENOMINATION,
    RejectReason.VERIFICATION: id003.RejectReason.PHOTO_PATTERN_1,
    RejectReason.OPTIC: id003.RejectReason.PHOTO_LEVEL,
    RejectReason.INHIBITED: id003.RejectReason.INHIBITED,
    RejectReason.OPERATION: id003.RejectReason.OPERATION,
    RejectReason.LENGTH: id003.RejectReason.LENGTH,
    RejectReason.UV: UV_REJECT,
}
FAILURES: dict[int, int] = {
    FailureCode.STACK_MOTOR: id003.FailureCode.STACK_MOTOR,
    FailureCode.TRANSPORT_MOTOR_SPEED: id003.FailureCode.TRANSPORT_SPEED,
    FailureCode.TRANSPORT_MOTOR: id003.FailureCode.TRANSPORT_MOTOR,
    FailureCode.ALIGNING_MOTOR: id003.FailureCode.ALIGNING_MOTOR,
    FailureCode.INITIAL_CASSETTE_STATUS: id003.FailureCode.CASH_BOX_NOT_READY,
}
TRANSLATIONS: dict[int, dict[int, int]] = {State.REJECTING: REASONS, State.FAILURE: FAILURES}

POWER_UPS = frozenset(
    {State.POWER_UP, State.POWER_UP_WITH_BILL_IN_VALIDATOR, State.POWER_UP_WITH_BILL_IN_STACKER},
)
ERRORS = frozenset(State(code) for code in range(State.DROP_CASSETTE_FULL, State.FAILURE + 1))
AT_REST = frozenset({State.IDLING, State.UNIT_DISABLED})
# Where a device tells what it is and knows; elsewhere it calls the question an illegal command.
READABLE = frozenset({State.INITIALISE, State.UNIT_DISABLED})
# The device certainly holds no item that it may yet call stacked.
NOT_STACKING = POWER_UPS | {
    State.INITIALISE,
    State.IDLING,
    State.ACCEPTING,
    State.RETURNING,
    State.UNIT_DISABLED,
    State.REJECTING,
    State.BILL_RETURNED,
}


def escrow_code(bill_type: int) -> int:
    """Return ID-003's escrow code for a bill type that is a note: 61 for type 0, and so on, without 6F."""
    code = EscrowCode.SLOT_1 + bill_type
    return code + (code >= EscrowCode.BARCODE)


CODES = {number: escrow_code(number) for number in range(BILL_TYPES)}


@dataclass(frozen=True)
class Settings:
    """How the host talks, and what it sets.

    Args:
        poll_ms, reply_ms, silent_ms: poll period, wait for a reply, time without any frame after which the device
            counts as silent; milliseconds.
        turn_ms: least time between an ACK and the next command; milliseconds.
        stuck_ms: after this time in one state an ACK that is held back for safety is given all the same, for devices
            that repeat a reply word for word until they get one; milliseconds.
        security: bill types under high security, three bytes as `ccnet.mask` makes them; empty leaves them alone.
        barcode: data of SET_BARCODE_PARAMETERS; 01 12 is interleaved 2 of 5 with 18 digits (one source). Empty takes
            no barcodes.
        currency: letters of the one currency whose notes are taken; empty stands for that of the table's first row.
    """

    poll_ms: int = 150
    reply_ms: int = 300
    silent_ms: int = 2000
    turn_ms: int = 20
    stuck_ms: int = 3000
    security: bytes = b""
    barcode: bytes = b"\x01\x12"
    currency: str = ""


class Acks:
    """Decides which replies are acknowledged at once.

    An ACK says nothing of the reply that it means. While an item may be on its way into the stacker, the ACK of a late
    or doubled reply would be taken for that of "bill stacked", which may itself be lost: so none is given then. No
    state but "bill stacked" needs one to be told again.

    Args:
        stuck_ms: after this time in one state the ACK is given all the same, on a line that is quiet.
    """

    def __init__(self, stuck_ms: int) -> None:
        self.owed = False
        self._stuck_ms = stuck_ms
        # What was sent before this host began isn't known.
        self._stacking = True
        self._payload = b""
        self._since = 0
        self._fault_at = 0

    def sent(self, command: Command) -> None:
        """A command leaves: no reply to an earlier one is acknowledged any more."""
        self.owed = False
        self._stacking |= command == Command.STACK

    def fault(self, now_ms: int) -> None:
        """A reply is missing, or one came that nobody asked for."""
        self._fault_at = now_ms

    def answered(self, frame: Frame, now_ms: int) -> None:
        """The reply that was asked for came."""
        if frame.is_state:
            self._observe(frame, now_ms)
        self.owed = frame.code != State.BILL_STACKED and (not self._stacking or self._stuck(now_ms))
        if self.owed:
            self._since = now_ms

    def _observe(self, frame: Frame, now_ms: int) -> None:
        if frame.code in NOT_STACKING:
            self._stacking = False
        elif frame.code == State.STACKING:
            self._stacking = True
        if frame.payload != self._payload:
            self._payload, self._since = frame.payload, now_ms

    def _stuck(self, now_ms: int) -> bool:
        return now_ms - self._since >= self._stuck_ms and now_ms - self._fault_at >= QUIET_MS


class Host(Listener):
    """Master of one CCNET device.

    Counters: `timeouts`, `unsolicited` (frames nobody asked for), `invalid` (illegal command), `naks`, `strange`
    (unknown states and answers).
    `polls_only` holds back everything but polls, for a user that can't make its decisions durable just now.
    """

    def __init__(self, settings: Settings | None = None, *, inhibited: bool = False) -> None:
        self.settings = settings or Settings()
        super().__init__(self.settings.silent_ms)
        self.decoder = Decoder()
        self.status: int | None = None
        self.table: dict[int, Denomination] | None = None
        self.version: str | None = None
        self.polls_only = False
        self.timeouts = self.unsolicited = self.invalid = self.naks = self.strange = 0
        self._acks = Acks(self.settings.stuck_ms)
        self._state: int | None = None
        self._inhibited = inhibited
        self._take: frozenset[int] | None = None
        self._rows: dict[int, BillType] = {}
        self._confirmed: dict[Command, bytes] = {}
        self._setting = b""
        self._read: set[Command] = set()
        self._checked = True
        self._failures: Counter[Command] = Counter()
        self._unanswered: Command | None = None
        self._waiting: Command | None = None
        self._deadline = 0
        self._poll_due = 0
        self._not_before = 0
        # True while `status` is newer than the last action: an action is never repeated on an old status.
        self._fresh = False
        self._queued: Command | None = None
        self._reset_wanted = False
        self._acknowledged = False
        # Whether a barcode stands in escrow, and its number once it was read.
        self._barcode_held = False
        self._number: str | None = None
        self._set_up_at = 0

    # What its user wants

    def command(self, command: id003.Command) -> None:
        """Send a stack, return or hold next; the next status withdraws it. The wire has no wait and one stack."""
        self._queued = ACTIONS.get(command)

    def acknowledge(self) -> None:
        """Send ACK next: the bill stacked that stands is done with."""
        self._acknowledged = self._state == State.BILL_STACKED

    def reset(self) -> None:
        """Reset the device once it reports an error, or rests; kept until it is done."""
        self._reset_wanted = True

    def inhibit(self, inhibited: bool) -> None:
        """Want acceptance off or on."""
        self._inhibited = inhibited
        self._failures.pop(Command.ENABLE_BILL_TYPES, None)

    def take(self, codes: frozenset[int]) -> None:
        """Want exactly the notes of these escrow codes to be taken."""
        self._take = codes
        self._failures.pop(Command.ENABLE_BILL_TYPES, None)

    @property
    def ready(self) -> bool:
        """True once the table is known and all settings are confirmed or given up."""
        return self.table is not None and self._state in AT_REST and not self._to_set_up()

    # What it sends

    def next_frame(self, now_ms: int) -> bytes | None:
        """Return the frame to send now, None if there is nothing to send. `now_ms` never goes backwards."""
        if self._waiting is not None:
            if now_ms < self._deadline:
                return None
            self._timed_out(now_ms)
        if self._acks.owed | self._acknowledged and not self.polls_only:
            return self._send_ack(now_ms)
        if now_ms < self._not_before:
            return None
        command = self._action() or (Command.POLL if now_ms >= self._poll_due else None)
        return None if command is None else self._send(command, now_ms)

    def _timed_out(self, now_ms: int) -> None:
        # A poll follows before anything is repeated: the device may have done it, and only its answer was lost.
        self.timeouts += 1
        self._acks.fault(now_ms)
        self._unanswered, self._waiting = self._waiting, None
        self._failed(self._unanswered, NO_ANSWER)
        # Unseen, one voucher may have gone and another one come.
        self._number = None
        self._poll_due = 0

    def _action(self) -> Command | None:
        if self.polls_only or not self._fresh:
            return None
        if self._queued is not None:
            return self._queued
        if self._state in POWER_UPS or (self._reset_wanted and self._state in AT_REST | ERRORS):
            return Command.RESET
        # One that is never answered must not keep the others waiting.
        return min(self._to_set_up(), key=lambda command: command == self._unanswered, default=None)

    def _to_set_up(self) -> list[Command]:
        """Reads and settings that are due in the present state, in order."""
        due = [c for c in READS if c not in self._read] if self._state in READABLE else []
        if self._state in AT_REST:
            due += [command for command, data in self._wanted().items() if self._confirmed.get(command) != data]
            due += [] if self._checked else [Command.GET_STATUS]
        if self._number_is_due():
            due.append(Command.EXTRACT_BARCODE_DATA)
        return [command for command in due if self._failures[command] < GIVE_UP]

    def _wanted(self) -> dict[Command, bytes]:
        """Data of each setting, in the order of sending."""
        enabled = mask(self._types_wanted())
        data = (self.settings.security, self.settings.barcode, enabled + enabled)
        return {command: value for command, value in zip(SETTINGS, data, strict=True) if value}

    def _types_wanted(self) -> frozenset[int]:
        # An enabled device tells nothing of its table, so it is closed until the table is known.
        if self._inhibited or self.table is None:
            return frozenset()
        taken = set(self.table) if self._take is None else self._take & set(self.table)
        notes = frozenset(number for number, code in CODES.items() if code in taken)
        return notes | {BARCODE_TYPE} if self.settings.barcode and BARCODE_TYPE not in self._rows else notes

    def _failed(self, command: Command | None, weight: int) -> None:
        self._fresh = False
        if command is not None:
            self._failures[command] += weight

    def _send(self, command: Command, now_ms: int) -> bytes:
        if command in DEEDS:
            self._queued = None
            self._fresh = False
        self._acks.sent(command)
        self._waiting = command
        self._setting = self._wanted().get(command, b"") if command in SETTINGS else b""
        self._deadline = now_ms + self.settings.reply_ms
        self._poll_due = now_ms + self.settings.poll_ms
        return encode(command, self._setting)

    def _send_ack(self, now_ms: int) -> bytes:
        # Nothing answers an ACK; the next poll shows what came of it.
        self._acknowledged = self._acks.owed = False
        self._not_before = now_ms + self.settings.turn_ms
        return encode(Command.ACK)

    # What it hears

    def received(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        """Take one frame of the device; return what it means."""
        self._heard_at = now_ms
        if frame.payload == bytes([Reply.ACK]):
            return self._acked(now_ms)
        if frame.payload == bytes([Reply.NAK]):
            return self._nak()
        if frame.payload == bytes([Reply.ILLEGAL_COMMAND]):
            return self._illegal()
        digits = barcode_digits(frame.payload)
        if digits is not None:
            return self._barcode_read(digits, frame, now_ms)
        if len(frame.payload) <= LONGEST_STATE:
            return self._state_seen(frame, now_ms)
        return self._answered(frame, now_ms)

    def _asked_for(self, command: Command, frame: Frame, now_ms: int) -> bool:
        """Stop waiting for the answer to a command, if this is what was waited for."""
        asked = self._waiting == command
        if asked:
            self._waiting = None
            self._acks.answered(frame, now_ms)
        else:
            self._unasked(now_ms)
        return asked

    def _unasked(self, now_ms: int) -> None:
        self.unsolicited += 1
        self._acks.fault(now_ms)

    def _acked(self, now_ms: int) -> list[HostEvent]:
        command = self._waiting
        if command in SETTINGS:
            self._confirm(Command(command), now_ms)
        elif command in DEEDS:
            self._reset_wanted &= command != Command.RESET
            self._queued = None
        else:
            self._unasked(now_ms)
            return []
        self._waiting = None
        return []

    def _confirm(self, setting: Command, now_ms: int) -> None:
        self._confirmed[setting] = self._setting
        self._failures.pop(setting, None)
        self._set_up_at = now_ms
        # An ACK names nothing, and may be a late one of something else: the device is asked what it holds.
        self._checked &= setting != Command.ENABLE_BILL_TYPES

    def _nak(self) -> list[HostEvent]:
        self.naks += 1
        command, self._waiting = self._waiting, None
        self._failed(command, NO_ANSWER)
        return []

    def _illegal(self) -> list[HostEvent]:
        self.invalid += 1
        command, self._waiting = self._waiting, None
        return self._refused(command, "the device calls it an illegal command") if command is not None else []

    def _refused(self, command: Command, why: str) -> list[HostEvent]:
        self._failed(command, REFUSAL)
        for_good = self._failures[command] in range(GIVE_UP, GIVE_UP + REFUSAL)
        return [Refused(command_text(command), why)] if for_good and command in SETTINGS + QUESTIONS else []

    def _answered(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        """An answer whose length tells what it is; late ones are as true as others."""
        command = QUESTION_OF.get(len(frame.payload), self._waiting)
        asked = command is not None and self._asked_for(command, frame, now_ms)
        try:
            return self._told(command, frame.payload)
        except ValueError as error:
            self.strange += 1
            return self._refused(Command(command), str(error)) if asked and command in QUESTIONS else []

    def _told(self, command: Command | None, data: bytes) -> list[HostEvent]:
        """Take what a question was answered with. Raises ValueError if it has another layout."""
        if command == Command.GET_BILL_TABLE:
            return self._table_read(data)
        if command == Command.IDENTIFICATION:
            return self._version_read(data)
        if command == Command.GET_STATUS:
            return self._holds(parse_status(data).enabled)
        raise ValueError(f"an answer of {len(data)} bytes isn't known")

    def _table_read(self, data: bytes) -> list[HostEvent]:
        self._rows = parse_bill_table(data)
        self.table = _denominations(self._rows, self.settings.currency)
        self._read.add(Command.GET_BILL_TABLE)
        return [TableRead(self.table)]

    def _version_read(self, data: bytes) -> list[HostEvent]:
        self.version = parse_identification(data).text
        self._read.add(Command.IDENTIFICATION)
        return [VersionRead(self.version)]

    def _holds(self, enabled: frozenset[int]) -> list[HostEvent]:
        """The device says which bill types it takes; those that its table doesn't have are its own affair."""
        self._checked = True
        meant = masked_types(self._confirmed.get(Command.ENABLE_BILL_TYPES, b"")[:MASK_SIZE])
        if meant & set(self._rows) == enabled & set(self._rows):
            return []
        self._confirmed.pop(Command.ENABLE_BILL_TYPES, None)
        return self._refused(Command.ENABLE_BILL_TYPES, "the device holds other bill types enabled")

    def _barcode_read(self, digits: str, frame: Frame, now_ms: int) -> list[HostEvent]:
        if not self._asked_for(Command.EXTRACT_BARCODE_DATA, frame, now_ms) or not self._barcode_held:
            return []
        self._number = digits
        return [StatusSeen(Status.ESCROW, self._barcode())]

    def _barcode(self) -> bytes:
        return bytes([EscrowCode.BARCODE]) + (self._number or "").encode("ascii")

    def _state_seen(self, frame: Frame, now_ms: int) -> list[HostEvent]:
        self._asked_for(Command.POLL, frame, now_ms)
        if frame.code == State.DEVICE_BUSY:
            # What it is busy with it says later; until then nothing is sent on an old state.
            self._fresh = False
            return []
        self._acknowledged = False
        self._queued = None
        self._fresh = True
        self._reset_wanted &= frame.code != State.INITIALISE
        self._watch_barcode(frame)
        before, self._state = self._state, frame.code
        self._forget_settings(before, now_ms)
        return self._status_seen(frame)

    def _status_seen(self, frame: Frame) -> list[HostEvent]:
        if frame.code not in State._value2member_map_:
            self.strange += 1
        self.status = STATUSES.get(frame.code, UNKNOWN_STATE + frame.code)
        return [] if self._number_is_due() else [StatusSeen(self.status, self._data(frame))]

    def _number_is_due(self) -> bool:
        """Whether a barcode in escrow waits for its number; one that the device won't tell is waited for no longer."""
        given_up = self._failures[Command.EXTRACT_BARCODE_DATA] >= GIVE_UP
        return self._barcode_held and self._number is None and not given_up

    def _data(self, frame: Frame) -> bytes:
        """The data of a status as ID-003 has it."""
        if frame.code in (State.ESCROW_POSITION, State.BILL_STACKED):
            return self._escrow_data(frame)
        return bytes(TRANSLATIONS[frame.code].get(code, code) for code in frame.data[:1] if frame.code in TRANSLATIONS)

    def _escrow_data(self, frame: Frame) -> bytes:
        if self._is_barcode(frame):
            return self._barcode() if frame.code == State.ESCROW_POSITION else bytes([EscrowCode.BARCODE])
        return bytes(CODES.get(number, UNKNOWN_CODE) for number in frame.data[:1])

    def _is_barcode(self, frame: Frame) -> bool:
        return frame.data[:1] == bytes([BARCODE_TYPE]) and BARCODE_TYPE not in self._rows

    def _watch_barcode(self, frame: Frame) -> None:
        self._barcode_held = frame.code == State.ESCROW_POSITION and self._is_barcode(frame)
        if not self._barcode_held and frame.code != State.HOLDING:
            self._number = None
            self._failures.pop(Command.EXTRACT_BARCODE_DATA, None)

    def _forget_settings(self, before: int | None, now_ms: int) -> None:
        entered = self._state == State.INITIALISE and before != self._state
        if self._state in POWER_UPS or entered or self._astray(now_ms):
            self._confirmed.clear()
            self._read.clear()
            self._failures.clear()
            self._checked = True
            self._set_up_at = now_ms

    def _astray(self, now_ms: int) -> bool:
        """Whether the device rests, nothing is left to set, and yet it isn't as it was set."""
        open_wanted = bool(self._types_wanted()) or self.table is None
        as_wanted = (self._state == State.IDLING) == open_wanted
        waited = now_ms - self._set_up_at > SETTLE_MS
        return self._state in AT_REST and not as_wanted and waited and not self._to_set_up()


def _denominations(rows: dict[int, BillType], currency: str) -> dict[int, Denomination]:
    """Return escrow code → denomination for the notes of one currency, that of the first row if none is named.

    A note of less than one unit is left out: a power of ten below 0 has no place in ID-003's table.
    """
    currency = currency or next((row.currency for row in rows.values()), "")
    taken = [row for row in rows.values() if row.currency == currency and row.zeros >= 0]
    country = USD if currency.startswith("US") else OTHER_COUNTRY
    return {CODES[row.number]: Denomination(CODES[row.number], country, row.digit, row.zeros) for row in taken}

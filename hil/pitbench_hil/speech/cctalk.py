"""ccTalk counts events and tells each once: what the device does now is the last event, until another one comes.

No event tells that an item is drawn in, stored or gone; while nothing else is told, self-check and master inhibit say
whether the device tests itself, is in error, disabled or idle. A route that is acknowledged is under way. A credit has
no acknowledgement: the next poll settles it, whatever the host made of it, so it is told once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pitbench.protocols import cctalk
from pitbench.protocols.cctalk import (
    BARCODE,
    EVENTS_SIZE,
    HOST,
    LONGEST_DATA,
    RETURNED,
    VALIDATOR,
    Checksum,
    Code,
    Decoder,
    Event,
    Fault,
    Reply,
    Route,
    counted,
    denomination,
    encode,
    parse_bill_id,
    parse_events,
    parse_scaling,
)
from pitbench.protocols.id003 import (
    Command,
    Denomination,
    EscrowCode,
    FailureCode,
    Frame,
    RejectReason,
    Status,
    command_text,
)
from pitbench.protocols.id003 import Reply as Said

from pitbench_hil import speech
from pitbench_hil.board_bench import Unreached
from pitbench_hil.speech import Unsaid, UnsaidData, UnsaidReply, Words

# What was sent before the last answer of the link is here by then.
LATE_S = 0.0005
# The board's time to answer what it knows.
UNKNOWN_S = 0.05
SIGNATURE_REQUESTS = 200
# Data bytes; a device takes more for damage.
LONGEST_REQUEST = 8
# Bits of the inhibit mask: bill types, and what carries a barcode.
BILLS = 0x3FFF
BARCODES_FROM = 14
# Escrow codes count from 61, bill types from 1.
CODE_OF_TYPE_0 = EscrowCode.SLOT_1 - 1

# A device that starts, and one that is reset, takes nothing.
SHUT = {Command.SET_ENABLE: b"\xff\xff", Command.SET_BARCODE_INHIBIT: b"\x03", Command.SET_INHIBIT: b"\x01"}
ROUTES = {
    Command.STACK_1: Route.STACK,
    Command.STACK_2: Route.STACK,
    Command.RETURN: Route.RETURN,
    Command.HOLD: Route.EXTEND,
}
NATIVE = {
    Command.STATUS_REQUEST: cctalk.Command.READ_EVENTS,
    Command.RESET: cctalk.Command.RESET_DEVICE,
    Command.VERSION: cctalk.Command.REQUEST_SOFTWARE_REVISION,
    Command.PROGRAM_SIGNATURE: cctalk.Command.CALCULATE_ROM_CHECKSUM,
    Command.GET_INHIBIT: cctalk.Command.REQUEST_MASTER_INHIBIT,
    Command.GET_ENABLE: cctalk.Command.REQUEST_INHIBITS,
    Command.GET_BARCODE_INHIBIT: cctalk.Command.REQUEST_INHIBITS,
}
READS = (*NATIVE,)[2:]
# Headers of coin acceptors and hoppers, and one of nobody.
UNKNOWN = (99, 163, 167, 172, 179, 188, 210)
# Data that go with each known header: none, routes and switches, masks, a country, as much as a request has.
DATA = (b"", b"\0", b"\x01", b"\xff", b"\xff\xff", b"US", b"\x01" * LONGEST_REQUEST)
ONLY_STATUS = (cctalk.Command.READ_EVENTS, cctalk.Command.SIMPLE_POLL)

FAULT_EVENTS: dict[int, Status] = {
    Code.BILL_JAMMED_UNSAFE: Status.JAM_IN_ACCEPTOR,
    Code.BILL_JAMMED_SAFE: Status.JAM_IN_ACCEPTOR,
    Code.BILL_JAMMED_IN_STACKER: Status.JAM_IN_STACKER,
    Code.STACKER_JAMMED: Status.JAM_IN_STACKER,
    Code.STACKER_REMOVED: Status.STACKER_OPEN,
    Code.STACKER_FULL: Status.STACKER_FULL,
    Code.STACKER_FAULTY: Status.FAILURE,
    Code.ANTI_STRING_FAULTY: Status.FAILURE,
    Code.BILL_PULLED_BACK: Status.CHEATED,
    Code.BILL_TAMPER: Status.CHEATED,
    Code.OPTO_FRAUD: Status.CHEATED,
    Code.STRING_FRAUD: Status.CHEATED,
}
# Event -> the one that it ends.
ENDED = {Code.STACKER_OK: Code.STACKER_FAULTY, Code.STACKER_INSERTED: Code.STACKER_REMOVED}
STANDING: dict[int, Status] = {
    Fault.STACKER_MISSING: Status.STACKER_OPEN,
    Fault.STACKER_FULL: Status.STACKER_FULL,
    Fault.UNSPECIFIED: Status.CHEATED,
}
FAILURES: dict[int, FailureCode] = {
    Fault.ROM_CHECKSUM: FailureCode.BOOT_ROM,
    Fault.DOOR_OPEN: FailureCode.HEAD_REMOVED,
    Fault.STACKER: FailureCode.STACK_MOTOR,
    Fault.TRANSPORT_MOTOR: FailureCode.TRANSPORT_MOTOR,
}
REJECTED = {Code.INVALID_BILL, Code.INVALID_BILL_TRANSPORT, Code.BILL_INHIBITED, Code.BILL_INHIBITED_BY_SWITCH}
Fits = Callable[[cctalk.Frame], bool]


class Speech(speech.Speech):
    """Polls once for a status, and asks further only where events alone don't tell it."""

    wire = "cctalk"
    tells_anew = False
    words = Words(
        alike=(
            frozenset({Status.IDLE, Status.ACCEPTING}),
            frozenset({Status.ESCROW, Status.HOLDING, Status.STACKING}),
            frozenset({Status.POWER_UP, Status.POWER_UP_BILL_IN_ACCEPTOR}),
        ),
        untold=frozenset({Status.STACKED, Status.PAUSE, Status.COMMUNICATION_ERROR}),
    )
    # An item is stacked in one way: it is told once it is past the lever.
    unsaid = frozenset(
        {Command.STACK_2, Command.WAIT, *speech.USUAL} - {Command.SET_ENABLE, Command.SET_BARCODE_INHIBIT}
    )
    unknown = UNKNOWN
    overdue = Status.RETURNING
    starts_once = True
    resets_by_any = True
    host_restores = True
    reads = (
        *((command, b"", (command,)) for command in READS if command != Command.PROGRAM_SIGNATURE),
        (Command.PROGRAM_SIGNATURE, b"", (Said.SIGNATURE_BUSY, Said.SIGNATURE_END)),
    )

    def __init__(self, bench: object) -> None:
        super().__init__(bench)
        self.forget()

    def forget(self) -> None:
        """It takes nothing, and has told nothing."""
        self._settings = dict(SHUT)
        self._heard: cctalk.Events | None = None
        self._was_reset = self._restarted = False
        self._begin()

    def _begin(self) -> None:
        """What a counter of 0 says of what was told before."""
        self._item: Frame | None = None
        self._routed: Route | None = None
        self._faults: list[int] = []
        self._told: Status | None = None
        # What came with the poll that settled a credit, and is to be told.
        self._kept: Frame | None = None
        # Since the start it was idle or disabled.
        self._rested = False
        # Events older than the first answer may have told of a fault.
        self._late = False

    # -- what is said

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Say it; what is late goes before it."""
        while self.bench.receive(LATE_S) is not None:
            pass
        self.line_bytes = 0
        if command == Command.STATUS_REQUEST:
            return self._status()
        if command == Command.RESET:
            return self._reset()
        if command in ROUTES:
            return self._route(command)
        if command in SHUT:
            return self._set(command, data)
        if command in READS:
            return self._read(Command(command))
        if command in Command._value2member_map_:
            return self._without_word(Command(command), data)
        return self._unknown(command, data)

    def native(self, command: int, data: bytes = b"") -> bytes:
        """One frame."""
        if command in ROUTES:
            return encode(cctalk.Command.ROUTE_BILL, bytes((ROUTES[Command(command)],)))
        if command == Command.SET_INHIBIT:
            return encode(cctalk.Command.MODIFY_MASTER_INHIBIT, bytes((data == b"\0",)))
        if command in SHUT:
            return encode(cctalk.Command.MODIFY_INHIBITS, _mask({**self._settings, Command(command): data}))
        if command in NATIVE:
            return encode(NATIVE[Command(command)])
        return super().native(command, data)

    def say(self, command: int, data: bytes = b"") -> None:
        """And take a setting for set."""
        super().say(command, data)
        if command in SHUT:
            self._settings[Command(command)] = data

    def ack(self) -> None:
        """The poll that settles a credit; without one there is nothing to say."""
        if self._told in (Status.VEND_VALID, Status.POWER_UP_BILL_IN_STACKER):
            self._told = None
            self._kept = self._fold_all(self._poll() or [])

    def misshapen(self, frame: bytes) -> list[bytes]:
        """Lengths that it hasn't got, the sum right for the bytes that are there; sums that are nearly right; one half
        of a CRC; over-long ones; what is meant for others, and by others."""
        lengths = [_summed(frame[:1] + bytes((length,)) + frame[2:-1]) for length in (0, 2, 3, 8, 64, 255)]
        wrong = (1, 0x80, 0xFF, *frame[:2], frame[3])
        sums = [frame[:-1] + bytes((frame[-1] + by & 0xFF,)) for by in wrong if by]
        long = [
            _summed(frame[:1] + bytes((size,)) + frame[2:4] + b"\x01" * size) for size in (9, 33, LONGEST_DATA, 200)
        ]
        others = [_summed(bytes((to,)) + frame[1:-1]) for to in (2, 3, VALIDATOR - 1, VALIDATOR + 1, 255)]
        sources = [_summed(frame[:2] + bytes((source,)) + frame[3:-1]) for source in (0, 2, VALIDATOR)]
        return [*lengths, *sums, *_half_right(frame), *long, *others, *sources]

    def begun(self) -> bytes:
        """The longest request."""
        return bytes((VALIDATOR, LONGEST_REQUEST))

    def every(self) -> Iterator[bytes]:
        """All 256 headers but those that only ask for the status; those that nobody knows come without data."""
        for header in range(256):
            if header not in ONLY_STATUS:
                known = header in cctalk.Command._value2member_map_
                yield from (encode(header, data) for data in (DATA if known else DATA[:1]))

    # -- what is heard

    def obeyed(self, answer: cctalk.Frame | None) -> bool:
        """A bare ACK; but of a reset, which leads back to where it came from, or of a read that had nothing to tell."""
        header = self.bench.sent[3] if len(self.bench.sent) > 3 else 0
        return answer is not None and _is_ack(answer) and header in _DEEDS

    def complains(self, frame: cctalk.Frame) -> bool:
        """A NAK is of a good frame; a damaged one is met with silence."""
        return False

    def version(self) -> str:
        """Software revision."""
        frame = self.exchange(Command.VERSION)
        return frame.data.decode("ascii", "replace") if frame and frame.cmd == Command.VERSION else ""

    def signature(self) -> int | None:
        """The ROM checksum, computed anew, asked for until it is ready; None where it never is."""
        for _ in range(SIGNATURE_REQUESTS):
            frame = self.exchange(Command.PROGRAM_SIGNATURE)
            if frame is None or frame.cmd != Said.SIGNATURE_BUSY:
                return int.from_bytes(frame.data, "little") if frame and frame.cmd == Said.SIGNATURE_END else None
        return None

    def table(self) -> dict[int, Denomination]:
        """Bill types and their scaling, one question each."""
        found: dict[int, Denomination] = {}
        while (bill := parse_bill_id(self._data(cctalk.Command.REQUEST_BILL_ID, bytes((len(found) + 1,))))) is not None:
            scaling = parse_scaling(self._data(cctalk.Command.REQUEST_SCALING, bill.country.encode()))
            code = EscrowCode.SLOT_1 + len(found)
            found[code] = denomination(code, bill, scaling)
        return found

    def owed(self, frame: bytes) -> bool:
        """An unknown header is met with silence, as a damaged frame is."""
        heard = _only(frame)
        return heard is not None and heard.to == VALIDATOR and heard.header in cctalk.Command._value2member_map_

    # -- one exchange

    def _ask(self, header: int, data: bytes = b"", fits: Fits | None = None) -> cctalk.Frame | None:
        """The first answer that fits; on a wire of one line the request comes back before it."""
        request = encode(header, data)
        self.bench.send(request)
        answer: cctalk.Frame | None = self.bench.receive()
        while answer is not None and (answer.to != HOST or not (fits is None or fits(answer))):
            answer = self.bench.receive()
        self.line_bytes += len(request) + (len(encode(answer.header, answer.data)) if answer else 0)
        return answer

    def _data(self, header: int, data: bytes = b"") -> bytes:
        """What a question is answered with. Raises Unreached."""
        answer = self._ask(header, data)
        if answer is None or answer.header != Reply.DATA:
            raise Unreached(f"{cctalk.command_text(header)} was answered with {answer!r}")
        return answer.data

    # -- events

    def _poll(self) -> list[Event] | None:
        """New events, oldest first; None if there was no answer."""
        answer = self._ask(cctalk.Command.READ_EVENTS, fits=_is_events)
        if answer is None:
            return None
        before, self._heard = self._heard, parse_events(answer.data)
        if self._heard.counter == 0 and (before is None or before.counter or self._was_reset):
            self._begin()
            self._restarted = True
            return []
        if before is None:
            self._late = True
        count = counted(before.counter, self._heard.counter) if before else self._heard.counter
        return list(reversed(self._heard.events[:count]))

    def _status(self) -> Frame | None:
        is_first, news = self._heard is None, self._poll()
        if news is None:
            return None
        if self._restarted:
            return self._as_told(self._started())
        told, self._kept = self._fold_all(news) or self._kept, None
        return self._as_told(told if told and not is_first else self._present())

    def _as_told(self, frame: Frame | None) -> Frame | None:
        self._told = Status(frame.cmd) if frame else self._told
        return frame

    def _started(self) -> Frame | None:
        """The poll that follows counter 0 tells of a credit that isn't settled; and ID-003 lets a power-up hide every
        error but the ROM's."""
        was_reset, self._was_reset, self._restarted = self._was_reset, False, False
        news = self._poll()
        if news is None:
            return None
        told = self._fold_all(news)
        if told and told.cmd == Status.VEND_VALID:
            return Frame(Status.POWER_UP_BILL_IN_STACKER)
        present = self._present() if was_reset or self._faults else None
        return present if was_reset or _is_rom(present) else Frame(Status.POWER_UP)

    def _fold_all(self, news: list[Event]) -> Frame | None:
        told = None
        for event in news:
            told = self._fold(event)
        return told

    def _fold(self, event: Event) -> Frame | None:
        """What an event tells; None where it is to be looked what stands."""
        if event.escrow:
            self._item, self._routed = Frame(Status.ESCROW, self._code(event)), None
            return self._item
        if event.credit:
            self._item = None
            return Frame(Status.VEND_VALID)
        if event == RETURNED or event.b in REJECTED:
            self._item = None
            return _sent_back(event.b)
        self._note(event.b)
        return None

    def _note(self, code: int) -> None:
        """Take an event of a part."""
        self._rested |= code == Code.MASTER_INHIBIT_ACTIVE
        if code in FAULT_EVENTS:
            self._faults.append(code)
        if FAULT_EVENTS.get(code) == Status.CHEATED:
            self._item = None
        self._faults = [fault for fault in self._faults if fault != ENDED.get(Code(code))]

    def _code(self, event: Event) -> bytes:
        if event != BARCODE:
            return bytes((CODE_OF_TYPE_0 + event.a,))
        return bytes((EscrowCode.BARCODE,)) + self._data(cctalk.Command.READ_BARCODE)

    # -- what stands

    def _present(self) -> Frame | None:
        if self._item and not self._faults:
            return self._item
        answer = self._ask(cctalk.Command.SELF_CHECK)
        if answer is None:
            return None
        fault = answer.data[0] if answer.header == Reply.DATA and answer.data else Fault.NONE
        if fault and (self._faults or self._late):
            return self._error(fault)
        self._faults, self._late = [], False
        if self._item:
            return self._item
        return Frame(Status.INITIALISE) if answer.header == Reply.BUSY else self._at_rest()

    def _error(self, fault: int) -> Frame:
        """The most severe fault, as the self-check tells it; which jam it is, its event."""
        jams = [status for code in self._faults if (status := FAULT_EVENTS[code]) in _JAMS]
        if fault == Fault.BILL_JAMMED:
            return Frame(jams[-1] if jams else Status.JAM_IN_ACCEPTOR)
        status = STANDING.get(fault, Status.FAILURE)
        if status != Status.FAILURE:
            return Frame(status)
        code = FAILURES.get(fault)
        return Frame(status, bytes((code,)) if code else UnsaidData("ccTalk's code of this fault is no code of ID-003"))

    def _at_rest(self) -> Frame | None:
        answer = self._ask(cctalk.Command.REQUEST_MASTER_INHIBIT)
        if answer is None or not answer.data:
            return None
        is_open = bool(answer.data[0] & 1)
        self._rested |= is_open
        resting = Status.IDLE if is_open else Status.DISABLED
        return Frame(resting if self._rested else Status.INITIALISE)

    # -- commands

    def _reset(self) -> Frame | None:
        """A power-up's credit is settled before, by a poll."""
        if self._told == Status.POWER_UP_BILL_IN_STACKER:
            self.ack()
        answer = self._ask(cctalk.Command.RESET_DEVICE)
        if answer is not None and _is_ack(answer):
            self._settings, self._was_reset = dict(SHUT), True
        return _obeyed_or_not(answer)

    def _route(self, command: int) -> Frame | None:
        route = ROUTES[Command(command)]
        answer = self._ask(cctalk.Command.ROUTE_BILL, bytes((route,)))
        if answer is None or not _is_ack(answer):
            return _obeyed_or_not(answer)
        if route == self._routed != Route.EXTEND:
            return Frame(UnsaidReply("ccTalk acknowledges a route that is under way whenever it is said again"))
        self._routed = route
        if self._item and route != Route.RETURN:
            self._item = Frame(Status.STACKING if route == Route.STACK else Status.HOLDING, self._item.data)
        return Frame(Said.ACK)

    def _set(self, command: int, data: bytes) -> Frame | None:
        native = _only(self.native(command, data))
        assert native is not None
        frame = _obeyed_or_not(self._ask(native.header, native.data))
        if frame is None or frame.cmd != Said.ACK:
            return frame
        self._settings[Command(command)] = data
        return Frame(command, data)

    def _read(self, command: Command) -> Frame | None:
        answer = self._ask(NATIVE[command])
        if answer is None:
            return None
        if answer.header == Reply.BUSY and command == Command.PROGRAM_SIGNATURE:
            return Frame(Said.SIGNATURE_BUSY)
        if answer.header != Reply.DATA or not answer.data:
            return Frame(Said.INVALID_COMMAND)
        return _reading(command, answer.data)

    def _without_word(self, command: Command, data: bytes) -> Frame:
        if command not in speech.USUAL:
            self.unsayable(command_text(command))
        return self.usual(command, data)

    def _unknown(self, command: int, data: bytes) -> Frame:
        """A header that no bill validator has."""
        with self.bench.impatient(UNKNOWN_S):
            answer = self._ask(command, data)
        silence = Frame(UnsaidReply("ccTalk is silent about a command that isn't known"))
        return _obeyed_or_not(answer) or silence


_JAMS = (Status.JAM_IN_ACCEPTOR, Status.JAM_IN_STACKER)
_DEEDS = (
    cctalk.Command.ROUTE_BILL,
    cctalk.Command.MODIFY_INHIBITS,
    cctalk.Command.MODIFY_MASTER_INHIBIT,
    cctalk.Command.MODIFY_OPERATING_MODE,
)


def _mask(settings: dict[Command, bytes]) -> bytes:
    """The bill types that these settings let in."""
    bills = ~int.from_bytes(settings[Command.SET_ENABLE], "little") & BILLS
    barcodes = ~settings[Command.SET_BARCODE_INHIBIT][0] & 3
    return (bills | barcodes << BARCODES_FROM).to_bytes(2, "little")


def _reading(command: Command, data: bytes) -> Frame:
    """The answer to a read, in ID-003's bits, which say what is refused."""
    if command == Command.PROGRAM_SIGNATURE:
        return Frame(Said.SIGNATURE_END, data[:2])
    if command == Command.GET_INHIBIT:
        return Frame(command, bytes((not data[0] & 1,)))
    refused = ~int.from_bytes(data, "little")
    if command == Command.GET_ENABLE:
        return Frame(command, (refused & BILLS).to_bytes(2, "little"))
    if command == Command.GET_BARCODE_INHIBIT:
        return Frame(command, bytes((refused >> BARCODES_FROM & 3,)))
    return Frame(command, data)


def _is_rom(frame: Frame | None) -> bool:
    return frame is not None and not isinstance(frame.data, Unsaid) and frame.data == bytes((FailureCode.BOOT_ROM,))


def _sent_back(code: int) -> Frame:
    if code == Code.BILL_RETURNED:
        return Frame(Status.RETURNING)
    if code == Code.BILL_INHIBITED:
        return Frame(Status.REJECTING, bytes((RejectReason.INHIBITED,)))
    return Frame(Status.REJECTING, UnsaidData("ccTalk tells no nearer reason of a rejection"))


def _is_events(frame: cctalk.Frame) -> bool:
    return frame.header == Reply.DATA and len(frame.data) == EVENTS_SIZE


def _is_ack(frame: cctalk.Frame) -> bool:
    return frame.header == Reply.DATA and not frame.data


def _obeyed_or_not(answer: cctalk.Frame | None) -> Frame | None:
    return None if answer is None else Frame(Said.ACK if _is_ack(answer) else Said.INVALID_COMMAND)


def _only(wire: bytes) -> cctalk.Frame | None:
    """The frame that these bytes are, None if they are anything else."""
    frames = Decoder().feed(wire)
    return frames[0] if len(frames) == 1 else None


def _summed(body: bytes) -> bytes:
    return body + bytes((-sum(body) & 0xFF,))


def _half_right(frame: bytes) -> list[bytes]:
    """The frame of the other mode with one byte of its CRC wrong."""
    right = encode(frame[3], frame[4:-1], Checksum.CRC)
    low, high = bytes((right[2] ^ 0xFF,)), bytes((right[-1] ^ 0xFF,))
    return [right[:2] + low + right[3:], right[:-1] + high]

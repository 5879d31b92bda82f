"""SSP tells what happened and what stands, in one answer: each is told as the ID-003 status that comes first in it.

A poll takes what is in escrow, so after an offer the speech looks by hold (18). Elsewhere it polls with ack (56), which
says a credit again until event ack (57); and plainly (07) while a fraud stands, for 56 would say nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pitbench.protocols.id003 import Command, Denomination, EscrowCode, FailureCode, Frame, Reply, Status
from pitbench.protocols.id003 import RejectReason as Reason
from pitbench.protocols.ssp import (
    ADDRESS,
    SEQ_BIT,
    STEX,
    STX,
    Channel,
    Decoder,
    Event,
    Happened,
    RejectCode,
    crc,
    encode,
    parse_events,
    parse_setup,
    parse_ticket,
)
from pitbench.protocols.ssp import Command as Native
from pitbench.protocols.ssp import Frame as Told
from pitbench.protocols.ssp import Reply as Answer

from pitbench_hil import speech
from pitbench_hil.board_bench import Unreached
from pitbench_hil.speech import UnsaidData, UnsaidReply, Words

# A command of SSP itself, where ID-003 has none that means it: OWN + its code.
OWN = 0x100
# Without the serial number, which is another one for each board.
READS = (
    Native.SETUP_REQUEST, Native.UNIT_DATA, Native.CHANNEL_VALUES, Native.CHANNEL_SECURITY,
    Native.LAST_REJECT, Native.FIRMWARE_VERSION, Native.DATASET_VERSION, Native.GET_BARCODE_CONFIGURATION,
    Native.GET_BARCODE_INHIBIT, Native.BARCODE_DATA, Native.BUILD_REVISION,
)  # fmt: skip
SAID = {
    Command.RESET: Native.RESET,
    Command.RETURN: Native.REJECT,
    Command.HOLD: Native.HOLD,
    Command.ACK: Native.EVENT_ACK,
    Command.VERSION: Native.FIRMWARE_VERSION,
    Command.CURRENCY_TABLE: Native.SETUP_REQUEST,
}
# By ID-003's data: which of the two kinds of barcode are refused. SSP has one kind.
TICKET_INHIBITS = {b"\0": b"\xfc", b"\3": b"\xfe"}
ONE_READER = b"\1"
INTERLEAVED = 1
DIGITS = range(6, 25)
USD = 1

ERRORS = {
    Event.FRAUD_ATTEMPT: Frame(Status.CHEATED),
    Event.SAFE_JAM: Frame(Status.JAM_IN_STACKER),
    Event.UNSAFE_JAM: Frame(Status.JAM_IN_ACCEPTOR),
    Event.PATH_OPEN: Frame(Status.FAILURE, bytes((FailureCode.HEAD_REMOVED,))),
    Event.CASHBOX_REMOVED: Frame(Status.STACKER_OPEN),
    Event.STACKER_FULL: Frame(Status.STACKER_FULL),
}
MOVING = {
    Event.STACKING: Status.STACKING,
    Event.STACKED: Status.STACKED,
    Event.INITIALISING: Status.INITIALISE,
}
CREDITS = (Event.CREDIT, Event.TICKET_STACKED)
AT_POWER_UP = {
    Event.CLEARED_TO_CASHBOX: Status.POWER_UP_BILL_IN_STACKER,
    Event.CLEARED_FROM_FRONT: Status.POWER_UP_BILL_IN_ACCEPTOR,
}
OFFERS = (Event.READ, Event.TICKET_IN_ESCROW)
# Said once: what a poll that was to stack has heard of it is told with the next one.
ONCE = (Event.RESET, Event.CLEARED_FROM_FRONT, Event.STACKED, Event.REJECTED)
# The other reasons of SSP's are none of ID-003's, or several of them.
REASONS = {RejectCode.LENGTH: Reason.LENGTH, RejectCode.INHIBITED_BY_HOST: Reason.INHIBITED}
# It left escrow without a word of the host, for its time was over or it couldn't be stacked: ID-003's return.
GIVEN_BACK = (RejectCode.BY_HOST, RejectCode.ESCROW_TIMEOUT, RejectCode.UNABLE_TO_STACK)
NO_REASON = "SSP tells reasons of a rejection of its own"
NO_CAUSE = "SSP tells no cause of a failure"
NOT_SAID_AGAIN = "SSP tells once what is in escrow"
NO_WAIT = "SSP has no wait"
STACKS_BY_POLL = "SSP stacks by the poll after an offer, which refuses nothing"

# Data that go with each command: none, settings', a reader's, numbers of a key.
DATA = (b"", b"\0", b"\0\0", b"\xff\xff", b"\0\0\0", b"\xff" * 8)
# What an inoperable device may do for a host: agree on sequence numbers, stay disabled, say who it is.
HARMLESS = (Native.SYNC, Native.DISABLE, Native.SERIAL_NUMBER, Native.FIRMWARE_VERSION)
POLLS = (Native.POLL, Native.POLL_WITH_ACK)
KNOWN = frozenset({*Native, STEX})


class Speech(speech.Speech):
    """Without encryption: whose key it is decides nothing about what is said."""

    wire = "ssp"
    # A hold that is obeyed tells that there is something to hold.
    words = Words(
        alike=(frozenset({Status.ESCROW, Status.HOLDING}),),
        untold=frozenset({Status.COMMUNICATION_ERROR, Status.PAUSE}),
    )
    # A device that nobody set takes nothing: it has all its settings.
    unset = (Status.INITIALISE, Status.DISABLED)
    starts_once = True
    resets_by_any = True
    looks_by_holding = True
    # By silence, then.
    overdue = Status.RETURNING
    one_host = True
    papers_apart = any_length = False
    unknown = tuple(code for code in speech.Speech.unknown if code not in KNOWN)
    reads = tuple((OWN + code, b"", (OWN + code,)) for code in READS)
    unsaid = frozenset(
        {
            Command.STACK_2, Command.WAIT, Command.SET_SECURITY, Command.SET_COMMUNICATION_MODE, Command.SET_DIRECTION,
            Command.SET_OPTIONS,
        }
    )  # fmt: skip

    def __init__(self, bench: object) -> None:
        super().__init__(bench)
        self.forget()

    def forget(self) -> None:
        """Its host begins with a sync."""
        self._open = False
        self._seq = False
        # Whether the sequence bit that the device had last is known: not after silence, nor after bytes of others.
        self._sure = False
        self._sent = b""
        # The bit of a frame that a test sends by itself stays free for it: with the last one's it would be none but a
        # repetition.
        self._spare: bool | None = None
        self._new_session()

    def _new_session(self) -> None:
        self._offered = False
        self._escrow: bytes = UnsaidData(NOT_SAID_AGAIN)
        self._left: Frame | None = None
        self._is_reset = False
        self._fraud = False
        self._news: list[Happened] = []

    # -- frames

    def _ask(self, data: bytes) -> bytes | None:
        """The answer to a new command; None for silence, after which the bit that the device had last isn't known."""
        self._seq = not self._seq
        return self._answer(data)

    def _answer(self, data: bytes) -> bytes | None:
        self._sent = encode(data, self._seq)
        while self.bench.receive(0) is not None:
            pass
        self.bench.send(self._sent)
        frame = self.bench.receive()
        while frame is not None and (frame.seq, frame.address) != (self._seq, ADDRESS):
            frame = self.bench.receive()
        self._sure &= frame is not None
        self.line_bytes += len(self._sent) + (len(encode(frame.data)) if frame else 0)
        return frame.data if frame else None

    def _ready(self) -> bool:
        """Have the device's sequence bit known. False if it is silent."""
        if not self._open:
            self._sure = self._seq = True
            self._open = self._answer(bytes((Native.SYNC,))) is not None
        elif not self._sure or self.bench.sent != self._sent:
            # Of these two one at least is new to the device, and then the other one's bit is the last.
            self._sure = self._seq = True
            for _ in range(2):
                self._ask(bytes((Native.SERIAL_NUMBER,)))
            # A poll among what was sent may have been told of an offer.
            self._offered = True
        return self._sure

    def _leave_spare(self) -> None:
        if self._spare == self._seq and self._sure:
            self._ask(bytes((Native.SERIAL_NUMBER,)))

    # -- what is said

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Say it; of a status request, what the device tells."""
        self.line_bytes = 0
        if not self._ready():
            return None
        told = self._exchange(command, data)
        self._leave_spare()
        return told

    def _exchange(self, command: int, data: bytes) -> Frame | None:
        if command == Command.STATUS_REQUEST:
            return self._look()
        if command in (Command.STACK_1, Command.STACK_2):
            return self._stack()
        if command == Command.WAIT:
            return Frame(UnsaidReply(NO_WAIT))
        said = self._said(command, data)
        if said is None:
            return self.usual(command, data)
        answer = self._ask(said)
        if answer is None:
            return None
        if answer[0] != Answer.OK:
            return Frame(Reply.INVALID_COMMAND)
        return self._obeyed(command, data, answer[1:])

    def _obeyed(self, command: int, data: bytes, told: bytes) -> Frame:
        if command == Command.RESET:
            self._new_session()
            self._is_reset = True
        elif command == Command.RETURN:
            self._offered = False
        elif command >= OWN or command == Command.VERSION or command == Command.CURRENCY_TABLE:
            return Frame(command, told)
        return Frame(command, data) if command in Command._value2member_map_ and data else Frame(Reply.ACK)

    def _said(self, command: int, data: bytes) -> bytes | None:
        """Its data on the wire, None for a setting that SSP has no word for. Skips what it can't say."""
        if command >= OWN:
            return bytes((command - OWN,)) + data
        if command in SAID:
            return bytes((SAID[Command(command)],))
        if command in self.unknown:
            return bytes((command,))
        if command == Command.SET_ENABLE:
            return bytes((Native.SET_INHIBITS,)) + bytes(byte ^ 0xFF for byte in data)
        if command == Command.SET_INHIBIT:
            return bytes((Native.DISABLE if data[0] & 1 else Native.ENABLE,))
        if command == Command.SET_BARCODE_INHIBIT and data in TICKET_INHIBITS:
            return bytes((Native.SET_BARCODE_INHIBIT,)) + TICKET_INHIBITS[data]
        if command == Command.SET_BARCODE and data[0] == INTERLEAVED and data[1] in DIGITS:
            return bytes((Native.SET_BARCODE_CONFIGURATION,)) + ONE_READER + data
        return None

    def native(self, command: int, data: bytes = b"") -> bytes:
        """One frame; of a status request and of a stack a poll."""
        if self._open:
            self._ready()
        polls = command in (Command.STATUS_REQUEST, Command.STACK_1, Command.STACK_2)
        said = bytes((Native.POLL_WITH_ACK,)) if polls else self._said(command, data)
        if said is None:
            return super().native(command, data)
        self._spare = not self._seq
        return encode(said, self._spare)

    def ack(self) -> None:
        """Event ack."""
        if self._ready():
            self._ask(bytes((Native.EVENT_ACK,)))
            self._leave_spare()

    # -- what is told

    def _look(self) -> Frame | None:
        if self._offered:
            answer = self._ask(bytes((Native.HOLD,)))
            if answer is None or answer[0] == Answer.OK:
                return None if answer is None else Frame(Status.ESCROW, self._escrow)
            self._offered = False
        return self._poll()

    def _stack(self) -> Frame | None:
        """What is in escrow is taken by a poll: its answer tells whether it was."""
        offered, self._offered = self._offered, False
        answer = self._ask(bytes((Native.POLL_WITH_ACK,)))
        if answer is None:
            return None
        events = _events(answer)
        self._news += [event for event in events if event.code in ONCE]
        codes = {event.code for event in events}
        if not offered:
            self._offered = any(_offers(event) for event in events)
            return Frame(UnsaidReply(STACKS_BY_POLL))
        return Frame(Reply.ACK if codes & {Event.STACKING, *CREDITS} else Reply.INVALID_COMMAND)

    def _poll(self) -> Frame | None:
        answer = self._ask(bytes((Native.POLL if self._fraud else Native.POLL_WITH_ACK,)))
        if answer is None or answer[0] == Answer.SOFTWARE_ERROR:
            return None if answer is None else Frame(Status.FAILURE, UnsaidData(NO_CAUSE))
        if answer[0] != Answer.OK:
            return Frame(Reply.INVALID_COMMAND)
        events, self._news = [*self._news, *_events(answer)], []
        unknown = parse_events(answer[1:])[1]
        codes = {event.code for event in events}
        self._fraud = Event.FRAUD_ATTEMPT in codes
        leaving = self._leaving(codes)
        return Frame(unknown[0]) if unknown else self._told(events, leaving)

    def _told(self, events: Sequence[Happened], leaving: Frame | None) -> Frame:
        codes = [event.code for event in events]
        money = [self._money(event) for event in events]
        errors = [frame for code, frame in ERRORS.items() if code in codes]
        started = [self._started()] if Event.RESET in codes else []
        moving = [self._movement(event) for event in events]
        standing = Frame(Status.DISABLED if Event.DISABLED in codes else Status.IDLE)
        told = [*money, *errors, *started, leaving, *moving, standing]
        return next(frame for frame in told if frame is not None)

    def _started(self) -> Frame:
        """A start, or the reset that was asked for: the same word."""
        by_host, self._is_reset = self._is_reset, False
        return Frame(Status.INITIALISE if by_host else Status.POWER_UP)

    def _money(self, event: Happened) -> Frame | None:
        if event.code in AT_POWER_UP:
            return Frame(AT_POWER_UP[event.code], _code(event.channel))
        if event.code == Event.CREDIT:
            return Frame(Status.VEND_VALID, _code(event.channel))
        if event.code == Event.TICKET_STACKED:
            return Frame(Status.VEND_VALID, bytes((EscrowCode.BARCODE,)))
        return None

    def _movement(self, event: Happened) -> Frame | None:
        if _offers(event):
            self._offered = True
            self._escrow = self._offer(event)
            return Frame(Status.ESCROW, self._escrow)
        if event.code == Event.READ:
            return Frame(Status.ACCEPTING)
        return Frame(MOVING[event.code]) if event.code in MOVING else None

    def _offer(self, event: Happened) -> bytes:
        if event.code == Event.READ:
            return _code(event.channel)
        answer = self._ask(bytes((Native.BARCODE_DATA,)))
        if answer is None or answer[0] != Answer.OK:
            raise Unreached("the digits of a ticket in escrow were not told")
        return bytes((EscrowCode.BARCODE,)) + parse_ticket(answer[1:]).number.encode()

    def _leaving(self, codes: set[Event]) -> Frame | None:
        """An item on its way out, by its reason; EC tells of one too that was out before it could be told."""
        known, out = self._left is not None, Event.REJECTED in codes
        if Event.REJECTING not in codes and (known or not out):
            self._left = None
            return None
        left = self._left or self._why_left()
        self._left = left if Event.REJECTING in codes else None
        return left

    def _why_left(self) -> Frame:
        answer = self._ask(bytes((Native.LAST_REJECT,)))
        if answer is None or answer[0] != Answer.OK:
            return Frame(Status.REJECTING, UnsaidData(NO_REASON))
        if answer[1] in GIVEN_BACK:
            return Frame(Status.RETURNING)
        reason = REASONS.get(RejectCode(answer[1])) if answer[1] in RejectCode._value2member_map_ else None
        return Frame(Status.REJECTING, bytes((reason,)) if reason else UnsaidData(NO_REASON))

    # -- what frames mean

    def misshapen(self, frame: bytes) -> list[bytes]:
        """Lengths that it hasn't got, the CRC right for the bytes that are there; CRCs half right, or of others; for
        another address; a byte 7F that isn't doubled."""
        body = frame[1:].replace(b"\x7f\x7f", b"\x7f")[:-2]
        lengths = [_framed(bytes((body[0], length)) + body[2:]) for length in (0, 2, 64, 255)]
        others = [_framed(bytes((body[0] & SEQ_BIT | address,)) + body[1:]) for address in (1, 0x10, 0x7D)]
        right = crc(body)
        sums = (
            right ^ 0xFF,
            right ^ 0xFF00,
            right ^ 0xFFFF,
            right >> 8 | right << 8 & 0xFF00,
            right ^ 1,
            right ^ 0x8000,
        )
        wrong = [_framed(body, number) for number in (*sums, 0, 0xFFFF) if number != right]
        bare = bytes((STX, body[0], 2, body[2], 0x7F))
        bare += crc(bare[1:]).to_bytes(2, "little").replace(b"\x7f", b"\x7f\x7f")
        return [*lengths, *others, *wrong, bare]

    def begun(self) -> bytes:
        """A length of 128."""
        return bytes((STX, SEQ_BIT, 0x80))

    def every(self) -> Iterator[bytes]:
        """All 256 codes but polls."""
        for code in range(256):
            for data in () if code in POLLS else DATA:
                self._ready()
                yield encode(bytes((code,)) + data, not self._seq)

    def obeyed(self, answer: object) -> bool:
        """OK, to anything but what an inoperable device may do too."""
        asked = Decoder().feed(self.bench.sent)
        is_harmless = len(asked) == 1 and asked[0].data[0] in HARMLESS
        return isinstance(answer, Told) and answer.data[0] == Answer.OK and not is_harmless

    def version(self) -> str:
        """Firmware version; it ends with the CRC that the image has of itself."""
        frame = self.exchange(Command.VERSION)
        return frame.data.decode("ascii", "replace") if frame and frame.cmd == Command.VERSION else ""

    def table(self) -> dict[int, Denomination]:
        """Setup request."""
        frame = self.exchange(Command.CURRENCY_TABLE)
        if frame is None or frame.cmd != Command.CURRENCY_TABLE:
            raise Unreached("the channels were not told")
        return {_code(channel.number)[0]: _denomination(channel) for channel in parse_setup(frame.data).channels}

    def owed(self, frame: bytes) -> bool:
        """To each good frame."""
        frames = Decoder().feed(frame)
        return len(frames) == 1 and frames[0].address == ADDRESS


def _events(answer: bytes) -> list[Happened]:
    return parse_events(answer[1:])[0] if answer[0] == Answer.OK else []


def _offers(event: Happened) -> bool:
    return event.code in OFFERS and event.channel != 0


def _code(channel: int | None) -> bytes:
    return bytes((0x60 + channel,)) if channel else b""


def _denomination(channel: Channel) -> Denomination:
    return Denomination(_code(channel.number)[0], int(channel.country == "USD"), channel.cents // 100, 0)


def _framed(body: bytes, number: int | None = None) -> bytes:
    check = (crc(body) if number is None else number).to_bytes(2, "little")
    return bytes((STX,)) + (body + check).replace(b"\x7f", b"\x7f\x7f")

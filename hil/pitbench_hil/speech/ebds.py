"""EBDS says everything in one poll: settings, decision, and by its bit that the last answer arrived.

The bench stays in charge of what is acknowledged. A credit is asked for with the same bit until `ack`, and nothing new
can be said meanwhile; a power-up until something else is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import xor

from pitbench.protocols import ebds
from pitbench.protocols.ebds import (
    ETX,
    LONGEST,
    STX,
    Condition,
    Decoder,
    Exceptional,
    Kind,
    Misc,
    Mode,
    Option,
    Query,
    Report,
    State,
    Subtype,
)
from pitbench.protocols.id003 import (
    POWER_UPS,
    Command,
    Denomination,
    EscrowCode,
    FailureCode,
    Frame,
    Reply,
    Status,
    command_text,
)

from pitbench_hil import speech
from pitbench_hil.board_bench import Unreached
from pitbench_hil.speech import UnsaidData, UnsaidReply, Words

# What was sent before the last answer of the link is here by then.
LATE_S = 0.0005
USD = 1
# A device that starts, and one that is reset, takes nothing.
SHUT = {
    Command.SET_ENABLE: b"\0\0",
    Command.SET_DIRECTION: b"\0",
    Command.SET_BARCODE_INHIBIT: b"\0",
    Command.SET_INHIBIT: b"\x01",
}
ALL_NOTES = 0x7F
# Orientations that are refused, and how a poll says it.
WAYS = {b"\x0e": Mode(0), b"\x0c": Mode.TWO_WAY, b"\0": Mode.FOUR_WAY}
NO_DECISION = Mode(0)
DECISIONS = {Command.STACK_1: Mode.STACK, Command.STACK_2: Mode.STACK, Command.RETURN: Mode.RETURN}
# What tells that a decision about a note that was told in escrow is carried out.
CARRIED_OUT = {Mode.STACK: (Status.STACKING, Status.VEND_VALID), Mode.RETURN: (Status.RETURNING,)}
QUERIES = {
    Command.VERSION: Query.APPLICATION_PART_NUMBER,
    Command.BOOT_VERSION: Query.BOOT_PART_NUMBER,
    Command.PROGRAM_SIGNATURE: Query.SOFTWARE_CRC,
}
CREDITS = (Status.VEND_VALID, Status.POWER_UP_BILL_IN_STACKER)
# Auxiliary commands that EBDS hasn't got.
UNKNOWN = (0x20, 0x2F, 0x31, 0x46, 0x4F, 0x51, 0x5E, 0x7E)
# Of these every poll has what ID-003's usual value means.
ALWAYS_USUAL = (
    Command.SET_SECURITY, Command.SET_COMMUNICATION_MODE, Command.SET_OPTIONS, Command.SET_BARCODE,
)  # fmt: skip
# Data of every kind of message: settings that switch on and off, decisions, a query, a note, what has no meaning.
DATA = (
    b"\x7f\x1c\x02", b"\0\x10\0", b"\x7f\x3c\x22", b"\x7f\x5c\x02", b"\x7f\x7c\x02", b"\0\0\0", b"\x7f\x7f\x7f",
    b"\x02\x7f\x1c\x12\x01", b"\x03\x7f\x1c\x12\x7f\0\0\0\0\0\0\0", b"\x7f" * 12,
)  # fmt: skip
SEVEN_BITS = range(0x80)


class Speech(speech.Speech):
    """Notes are told by their place among seven; the kiosk's host has them told whole."""

    wire = "ebds"
    words = Words(
        alike=(
            frozenset({Status.ESCROW, Status.HOLDING}),
            frozenset({Status.JAM_IN_ACCEPTOR, Status.JAM_IN_STACKER}),
        ),
        untold=frozenset({Status.STACKED, Status.COMMUNICATION_ERROR}),
    )
    # A note is stacked in one way: it is told once it is stored.
    unsaid = frozenset({Command.STACK_1, Command.HOLD, Command.WAIT, *ALWAYS_USUAL})
    unknown = UNKNOWN
    # Refused together: none, face down, all but one.
    directions = (0b0000, 0b1100, 0b1110)
    # A query is answered at once or not at all.
    signs_anew = False
    resets_by_any = True
    # Every poll of a kiosk says all settings, and moves the bit on.
    one_host = True
    # Every poll says them: that nothing is taken.
    unset = (Status.INITIALISE, Status.DISABLED)
    reads = (
        (Command.VERSION, b"", (Command.VERSION,)),
        (Command.BOOT_VERSION, b"", (Command.BOOT_VERSION,)),
        (Command.PROGRAM_SIGNATURE, b"", (Reply.SIGNATURE_END,)),
        (UNKNOWN[0], b"", (Reply.INVALID_COMMAND,)),
    )

    def __init__(self, bench: object) -> None:
        super().__init__(bench)
        self._bit = 0
        self._sent = b""
        self._others_spoke = False
        self.forget()

    def forget(self) -> None:
        """It takes nothing, and has told nothing."""
        self._settings = dict(SHUT)
        self._told: Status | None = None
        self._answered = True
        self._was_reset = False

    # -- what is said

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Say it with the next bit, as far as the last answer may be acknowledged."""
        if command == Command.STATUS_REQUEST:
            return self._status()
        if command == Command.RESET:
            return self._reset()
        if command in DECISIONS:
            return self._decide(DECISIONS[Command(command)])
        if command in SHUT:
            return self._set(command, data)
        if command in QUERIES:
            return self._read(Command(command))
        if command in Command._value2member_map_:
            return self._without_word(Command(command), data)
        return self._refused_or(self._ask(Kind.AUXILIARY, bytes((0, 0, command))), "whether it knows a command")

    def native(self, command: int, data: bytes = b"") -> bytes:
        """One frame."""
        bit = self._bit ^ self._may_move(command)
        if command == Command.RESET:
            return ebds.query(bit, Query.SOFT_RESET)
        if command in QUERIES:
            return ebds.query(bit, QUERIES[Command(command)])
        if command in SHUT:
            return ebds.poll(bit, self._poll(settings={**self._settings, Command(command): data}))
        if command in DECISIONS:
            return ebds.poll(bit, self._poll(DECISIONS[Command(command)]))
        if command == Command.STATUS_REQUEST:
            return ebds.poll(bit, self._poll())
        return super().native(command, data)

    def say(self, command: int, data: bytes = b"") -> None:
        """And take a setting for set."""
        super().say(command, data)
        if command in SHUT:
            self._settings[Command(command)] = data

    def ack(self) -> None:
        """A poll whose bit moves on; without a credit to acknowledge it is like any other."""
        if self._told == Status.VEND_VALID:
            self._told = None
        self._look()

    def misshapen(self, frame: bytes) -> list[bytes]:
        """Lengths that it hasn't got, the XOR right for the bytes that are there; the XOR over other bytes, or none;
        over-long ones; an eighth bit, or none of the end."""
        lengths = [_sealed(bytes((length,)) + frame[2:-2]) for length in (0, 1, 4, 7, 9, LONGEST)]
        long = [_sealed(bytes((length, frame[2])) + b"\x01" * (length - 5)) for length in (33, 64, LONGEST)]
        over = [frame[:-1] + bytes((check,)) for check in (0, frame[-1] ^ STX, frame[-1] ^ ETX, frame[-1] ^ 0x7F)]
        eighth = [_sealed(frame[1:at] + bytes((frame[at] | 0x80,)) + frame[at + 1 : -2]) for at in range(2, 6)]
        end, check = frame[-2:-1], frame[-1:]
        wrong = [*lengths, *long, *over, *eighth, frame[:-2] + b"\0" + check, frame[:-2] + check + end]
        return [made for made in wrong if made != frame]

    def begun(self) -> bytes:
        """A length of 32: the longest that a host's frame has."""
        return bytes((STX, 0x20))

    def every(self) -> Iterator[bytes]:
        """All eight kinds, both bits by turns, and every auxiliary command and extended subtype."""
        for kind in range(8):
            for data in DATA:
                yield self._next(kind, data)
        for code in SEVEN_BITS:
            yield self._next(Kind.AUXILIARY, bytes((0, 0, code)))
            yield self._next(Kind.EXTENDED, bytes((code,)) + self._poll())
            yield self._next(Kind.EXTENDED, bytes((code,)) + self._poll() + b"\x01")

    # -- what is heard

    def obeyed(self, answer: ebds.Frame | None) -> bool:
        """A report of a device in service that doesn't call the command invalid."""
        if answer is None or answer.kind == Kind.AUXILIARY:
            return False
        report, _ = ebds.parse_reply(answer)
        return not report.exceptional & (Exceptional.INVALID_COMMAND | Exceptional.FAILURE)

    def version(self) -> str:
        """Part number, with the version at its end; the software CRC of a device that has none."""
        frame = self.exchange(Command.VERSION)
        if frame is not None and frame.cmd == Command.VERSION:
            return frame.data.decode("ascii", "replace")
        crc = self.signature()
        return "" if crc is None else f"software CRC {crc:04x}"

    def signature(self) -> int | None:
        """The software CRC; None where it isn't told."""
        frame = self.exchange(Command.PROGRAM_SIGNATURE)
        return int.from_bytes(frame.data, "little") if frame and frame.cmd == Reply.SIGNATURE_END else None

    def table(self) -> dict[int, Denomination]:
        """Entries of the note table, one question each."""
        notes: list[ebds.Note] = []
        while (note := self._entry(len(notes) + 1)) is not None:
            notes.append(note)
        codes = enumerate(notes, EscrowCode.SLOT_1)
        return {code: Denomination(code, USD * (note.currency == "USD"), note.base, note.power) for code, note in codes}

    def owed(self, frame: bytes) -> bool:
        """Every frame but a damaged one."""
        return _only(frame) is not None

    # -- one exchange

    def _may_move(self, command: int) -> bool:
        """Whether the next frame may acknowledge the last answer."""
        if self._told == Status.POWER_UP_BILL_IN_STACKER:
            return command == Command.RESET
        if self._told in POWER_UPS or not self._answered:
            return command != Command.STATUS_REQUEST
        return self._told != Status.VEND_VALID

    def _ask(self, kind: int, data: bytes, command: int = UNKNOWN[0]) -> ebds.Frame | None:
        """Send a frame; the answer with its bit, what is late left out."""
        while self.bench.receive(LATE_S) is not None:
            pass
        self._bit ^= self._may_move(command)
        self._sent = ebds.encode(kind, self._bit, data)
        self.bench.send(self._sent)
        answer: ebds.Frame | None = self.bench.receive()
        while answer is not None and answer.bit != self._bit:
            answer = self.bench.receive()
        self._answered = answer is not None
        self.line_bytes = len(self._sent) + (len(answer.data) + ebds.SHORTEST if answer else 0)
        return answer

    def overhear(self, data: bytes) -> None:
        """A kiosk's, or a test's: they move the bit on, and every poll says all settings."""
        if data == self._sent:
            return
        self._others_spoke = True
        for frame in Decoder().feed(data):
            self._bit, self._told, self._answered = frame.bit, None, False
            if frame.kind == Kind.COMMAND and len(frame.data) == ebds.POLL_BYTES:
                self._settings = _settings(*frame.data)

    def _next(self, kind: int, data: bytes) -> bytes:
        self._bit ^= 1
        return ebds.encode(kind, self._bit, data)

    def _status(self) -> Frame | None:
        """Poll; once more after bytes that the speech didn't send: the first answer may be an old one."""
        others, self._others_spoke = self._others_spoke, False
        frame = self._look()
        return self._look() if frame is not None and others and self._told not in CREDITS else frame

    def _look(self) -> Frame | None:
        return self._told_in(self._ask(Kind.COMMAND, self._poll(), Command.STATUS_REQUEST))

    def _told_in(self, answer: ebds.Frame | None) -> Frame | None:
        """The status that an answer tells."""
        if answer is None or answer.kind == Kind.AUXILIARY:
            return None
        report, rest = ebds.parse_reply(answer)
        is_power_up = Exceptional.POWER_UP in report.exceptional
        status = _status(report, is_power_up and not self._was_reset)
        self._was_reset = self._was_reset and is_power_up
        self._told = status
        return Frame(status, _data(status, report, answer.subtype, rest))

    def _poll(self, decision: Mode = NO_DECISION, settings: dict[Command, bytes] | None = None) -> bytes:
        said = settings or self._settings
        ways, shut = said[Command.SET_DIRECTION], said[Command.SET_INHIBIT] != b"\0"
        if ways not in WAYS:
            self.unsayable(f"refused orientations {ways.hex()}")
        papers = 0 if shut else ~said[Command.SET_BARCODE_INHIBIT][0]
        notes = 0 if shut else ~said[Command.SET_ENABLE][0] & ALL_NOTES
        option = Option.POWER_UP_B | (Option.BARCODE * (papers & 1)) | (Option.EXTENDED_COUPON * (papers >> 1 & 1))
        return bytes((notes, WAYS[ways] | Mode.ESCROW | decision, option))

    def _set(self, command: int, data: bytes) -> Frame | None:
        settings = {**self._settings, Command(command): data}
        poll = self._poll(settings=settings)
        self._settings = settings
        return self._refused_or(self._ask(Kind.COMMAND, poll, command), "whether it obeys a setting")

    def _decide(self, decision: Mode) -> Frame | None:
        offered = self._told == Status.ESCROW
        answer = self._ask(Kind.COMMAND, self._poll(decision), Command.STACK_2)
        frame = self._refused_or(answer, "whether it obeys a decision")
        if answer is None or not offered:
            return frame
        return Frame(Reply.ACK if self._told in CARRIED_OUT[decision] else Reply.INVALID_COMMAND)

    def _reset(self) -> Frame | None:
        """What follows tells whether it was obeyed, by the bit of a power-up."""
        query = Query.SOFT_RESET
        answer = self._ask(Kind.AUXILIARY, bytes((query, query, query)), Command.RESET)
        self.forget()
        self._was_reset = True
        if answer is None or answer.kind == Kind.AUXILIARY:
            return None
        report, _ = ebds.parse_reply(answer)
        return Frame(Reply.ACK if Exceptional.POWER_UP in report.exceptional else Reply.INVALID_COMMAND)

    def _read(self, command: Command) -> Frame | None:
        answer = self._ask(Kind.AUXILIARY, bytes((0, 0, QUERIES[command])), command)
        if answer is None or answer.kind != Kind.AUXILIARY:
            return self._refused_or(answer, "anything else before its credit is acknowledged")
        if command == Command.PROGRAM_SIGNATURE:
            return Frame(Reply.SIGNATURE_END, ebds.parse_crc(answer.data).to_bytes(2, "little"))
        return Frame(command, answer.data.rstrip(b"\0"))

    def _entry(self, index: int) -> ebds.Note | None:
        answer = self._ask(Kind.EXTENDED, bytes((Subtype.NOTE,)) + self._poll() + bytes((index,)))
        if answer is None or answer.subtype != Subtype.NOTE:
            raise Unreached(f"entry {index} of the note table was not told")
        return ebds.parse_note(ebds.parse_reply(answer)[1])

    def _without_word(self, command: Command, data: bytes) -> Frame | None:
        if command in (Command.HOLD, Command.WAIT):
            # A note stays in escrow as long as it may without one.
            return self._look() and Frame(UnsaidReply(f"EBDS has no {command_text(command)}"))
        if command not in ALWAYS_USUAL:
            self.unsayable(command_text(command))
        return self.usual(command, data)

    def _refused_or(self, answer: ebds.Frame | None, what: str) -> Frame | None:
        """What an answer says of the command: that it is invalid, or nothing."""
        if self._told_in(answer) is None:
            return None
        assert answer is not None
        report, _ = ebds.parse_reply(answer)
        is_refused = Exceptional.INVALID_COMMAND in report.exceptional
        return Frame(Reply.INVALID_COMMAND if is_refused else UnsaidReply(f"EBDS doesn't tell {what}"))


def _sealed(body: bytes) -> bytes:
    """`body` between STX and ETX, and its XOR."""
    return bytes((STX, *body, ETX, reduce(xor, body)))


def _settings(notes: int, mode: int, option: int) -> dict[Command, bytes]:
    """What a poll says of them."""
    ways = {said: refused for refused, said in WAYS.items()}
    papers = (not option & Option.BARCODE) | (not option & Option.EXTENDED_COUPON) << 1
    return {
        Command.SET_ENABLE: bytes((~notes & ALL_NOTES, 0)),
        Command.SET_DIRECTION: ways.get(Mode(mode & Mode.FOUR_WAY), b"\0"),
        Command.SET_BARCODE_INHIBIT: bytes((papers,)),
        Command.SET_INHIBIT: b"\0" if notes or option & Option.BARCODE else b"\x01",
    }


def _only(wire: bytes) -> ebds.Frame | None:
    """The frame that these bytes are, None if they are anything else."""
    frames = Decoder().feed(wire)
    return frames[0] if len(frames) == 1 else None


def _status(report: Report, is_power_up: bool) -> Status:
    """What a report tells in ID-003's words: an event, an item under way, what stands, the state."""
    if State.STACKED in report.state:
        told = Exceptional.POWER_UP in report.exceptional
        return Status.POWER_UP_BILL_IN_STACKER if told else Status.VEND_VALID
    if is_power_up and report.state:
        return Status.POWER_UP_BILL_IN_ACCEPTOR if State.RETURNING in report.state else Status.POWER_UP
    found = _under_way(report) or _standing(report)
    if found is not None:
        return found
    if State.IDLE not in report.state:
        return Status.INITIALISE
    return Status.DISABLED if report.misc & Misc.DISABLED else Status.IDLE


def _under_way(report: Report) -> Status | None:
    is_rejected = Condition.REJECTED in report.condition
    leaving = Status.REJECTING if is_rejected else Status.RETURNING
    rows = {
        State.RETURNED: leaving,
        State.RETURNING: leaving,
        State.ESCROWED: Status.ESCROW,
        State.STACKING: Status.STACKING,
        State.ACCEPTING: Status.ACCEPTING,
    }
    return next((status for state, status in rows.items() if state in report.state), None)


def _standing(report: Report) -> Status | None:
    """The most severe of what stands; EBDS tells all of it."""
    rows = {
        Status.FAILURE: bool(report.exceptional & (Exceptional.FAILURE | Exceptional.TRANSPORT_OPEN)),
        Status.STACKER_OPEN: Condition.CASSETTE_PRESENT not in report.condition,
        Status.JAM_IN_ACCEPTOR: Condition.JAM in report.condition,
        Status.CHEATED: Condition.CHEATED in report.condition,
        Status.STACKER_FULL: Condition.STACKER_FULL in report.condition,
        Status.PAUSE: Condition.PAUSED in report.condition,
    }
    return next((status for status, stands in rows.items() if stands), None)


def _data(status: Status, report: Report, subtype: int | None, rest: bytes) -> bytes:
    if status == Status.ESCROW:
        return _item(report, subtype, rest)
    if status == Status.REJECTING:
        return UnsaidData("EBDS tells no reason of a rejection")
    if status == Status.FAILURE:
        is_open = Exceptional.FAILURE not in report.exceptional
        return bytes((FailureCode.HEAD_REMOVED,)) if is_open else UnsaidData("EBDS doesn't tell which part fails")
    return b""


def _item(report: Report, subtype: int | None, rest: bytes) -> bytes:
    if subtype == Subtype.BARCODE:
        return bytes((EscrowCode.BARCODE,)) + ebds.parse_barcode(rest).encode("ascii", "replace")
    return bytes((EscrowCode.SLOT_1 + report.value - 1,)) if report.value else UnsaidData("the device tells no value")

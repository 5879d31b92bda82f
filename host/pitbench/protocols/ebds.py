"""EBDS (MEI/CPI) seen from the host: frames, codes and the words for them.

`02 LEN CTL data 03 XOR`, LEN counts the whole frame, XOR over LEN to the last data byte; 9600 7E1. CTL holds the kind
of message in its high nibble and the acknowledge bit in its lowest. Kinds 6 and 7 go both ways, so what a frame means
depends on who sent it. docs/ebds.md draws the frames.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import reduce
from operator import xor

from pitbench.framing import Framing
from pitbench.masking import mask_number
from pitbench.protocols.stream_decoder import StreamDecoder

TITLE = "EBDS"
FRAMING = Framing(9600, 7, "E", 1)
HINT = "Point a kiosk at the wire, or try: pitbench kiosk --protocol ebds --wire {wire}"

STX, ETX = 0x02, 0x03
SHORTEST = 5
# A byte has seven bits on the line, LEN too.
LONGEST = 0x7F
GREATEST_BYTE = 0x7F
REPORT_BYTES = 6
POLL_BYTES = 3
NOTE_BYTES = 10
# What ends a barcode that is shorter than its field: NUL by one open driver, "(" and a blank from memory.
BARCODE_FILL = "\0( "


class Kind(IntEnum):
    """High nibble of CTL. COMMAND comes from the host, REPLY from the device, AUXILIARY and EXTENDED from both."""

    COMMAND = 1
    REPLY = 2
    AUXILIARY = 6
    EXTENDED = 7


class Mode(IntFlag):
    """Second byte of a poll: how notes are taken, and what becomes of the one in escrow."""

    TWO_WAY = 0x04
    FOUR_WAY = 0x0C
    ESCROW = 0x10
    STACK = 0x20
    RETURN = 0x40


class Option(IntFlag):
    """Third byte of a poll. Without a power-up bit a note that was past escrow is stacked without telling its value."""

    BARCODE = 0x02
    POWER_UP_B = 0x04
    POWER_UP_C = 0x08
    EXTENDED_NOTE = 0x10
    EXTENDED_COUPON = 0x20


class State(IntFlag):
    """First byte of a report; STACKED and RETURNED are events, told until they are acknowledged."""

    IDLE = 0x01
    ACCEPTING = 0x02
    ESCROWED = 0x04
    STACKING = 0x08
    STACKED = 0x10
    RETURNING = 0x20
    RETURNED = 0x40


class Condition(IntFlag):
    """Second byte of a report. REJECTED and CHEATED may stand for several replies."""

    CHEATED = 0x01
    REJECTED = 0x02
    JAM = 0x04
    STACKER_FULL = 0x08
    CASSETTE_PRESENT = 0x10
    PAUSED = 0x20
    CALIBRATING = 0x40


class Exceptional(IntFlag):
    """Third byte of a report, beside the three bits of the note's value."""

    POWER_UP = 0x01
    INVALID_COMMAND = 0x02
    FAILURE = 0x04
    TRANSPORT_OPEN = 0x40


class Misc(IntFlag):
    """Fourth byte of a report; bits that are no state of the device have no name here."""

    STALLED = 0x01
    DISABLED = 0x20


class Query(IntEnum):
    """Last data byte of an auxiliary command; its answer doesn't tell which query it answers."""

    SOFTWARE_CRC = 0x00
    BOOT_PART_NUMBER = 0x06
    APPLICATION_PART_NUMBER = 0x07
    VARIANT_NAME = 0x08
    VARIANT_PART_NUMBER = 0x09
    CAPABILITIES = 0x0D
    APPLICATION_ID = 0x0E
    VARIANT_ID = 0x0F
    SOFT_RESET = 0x7F


class Subtype(IntEnum):
    """First data byte of an extended message."""

    BARCODE = 0x01
    NOTE = 0x02
    NOTE_ENABLES = 0x03
    ESCROW_TIME = 0x04
    VALUE_TABLE = 0x06


@dataclass(frozen=True)
class Frame:
    """A frame that passed its XOR. Its repr never shows a barcode whole, so that it may be logged."""

    ctl: int
    data: bytes = b""

    def __repr__(self) -> str:
        shown = "…" if self.subtype == Subtype.BARCODE else self.data.hex(" ")
        return f"Frame({self.ctl:02x} {shown})".replace(" )", ")")

    @property
    def kind(self) -> int:
        """Which kind of message it is, 0 to 7."""
        return self.ctl >> 4

    @property
    def bit(self) -> int:
        """The acknowledge bit, 0 or 1."""
        return self.ctl & 1

    @property
    def subtype(self) -> int | None:
        """The subtype of an extended message, None for another kind."""
        return self.data[0] if self.kind == Kind.EXTENDED and self.data else None


def _check(body: bytes) -> int:
    return reduce(xor, body, 0)


def encode(kind: int, bit: int, data: bytes = b"") -> bytes:
    """Return the bytes of a frame.

    Args:
        kind: 0 to 7.
        bit: the acknowledge bit.
        data: at most LONGEST - 5 bytes of seven bits.

    Raises ValueError if the data does not fit.
    """
    length = SHORTEST + len(data)
    if length > LONGEST:
        raise ValueError(f"{len(data)} data bytes do not fit into an EBDS frame; at most {LONGEST - SHORTEST} do")
    if any(byte > GREATEST_BYTE for byte in data):
        raise ValueError("a data byte of an EBDS frame has seven bits")
    body = bytes((length, kind << 4 | bit)) + data
    return bytes([STX]) + body + bytes([ETX, _check(body)])


def poll(bit: int, settings: bytes) -> bytes:
    """Return an omnibus command; `settings` are its three bytes: notes enabled, Mode, Option."""
    return encode(Kind.COMMAND, bit, settings)


def query(bit: int, which: Query) -> bytes:
    """Return an auxiliary command; the reset says its code three times."""
    fill = which if which == Query.SOFT_RESET else 0
    return encode(Kind.AUXILIARY, bit, bytes((fill, fill, which)))


def note_query(bit: int, settings: bytes, index: int) -> bytes:
    """Return the question for one entry of the note table, `index` from 1."""
    return encode(Kind.EXTENDED, bit, bytes([Subtype.NOTE]) + settings + bytes([index]))


def note_enables(bit: int, settings: bytes, enables: bytes) -> bytes:
    """Return the switches of the note table's entries: entry 1 is bit 0 of the first byte, seven a byte, 1 is on."""
    return encode(Kind.EXTENDED, bit, bytes([Subtype.NOTE_ENABLES]) + settings + enables)


class Decoder(StreamDecoder[Frame]):
    """Finds frames in a stream of bytes, however it is cut, joined, damaged or padded.

    Counters: `good` frames, `damaged` ones (impossible length, wrong XOR or end, cut off), `skipped` bytes outside of
    frames.
    """

    def _seek(self) -> bool:
        """Bring the next STX to the front; true if a whole frame may stand there."""
        self._skip_to(self._held.find(STX))
        return len(self._held) >= 2 and (len(self._held) >= self._held[1] or not self._length_possible())

    def _length_possible(self) -> bool:
        return SHORTEST <= self._held[1] <= LONGEST

    def _take(self) -> Frame | None:
        length = self._held[1]
        if not self._length_possible() or not _sound(bytes(self._held[:length])):
            self._drop_head()
            return None
        frame = Frame(self._held[2], bytes(self._held[3 : length - 2]))
        self._took(length)
        return frame


def _sound(wire: bytes) -> bool:
    return wire[-2] == ETX and _check(wire[1:-2]) == wire[-1] and max(wire) <= GREATEST_BYTE


# What devices tell


@dataclass(frozen=True)
class Report:
    """The six bytes of every reply; `value` is the place of a note among seven (1 to 7), 0 where none is told."""

    state: State
    condition: Condition
    exceptional: Exceptional
    misc: int
    model: int
    revision: int
    value: int

    @property
    def words(self) -> str:
        """What it says, in words."""
        value = f" {self.value}" if self.value else ""
        states = [_words(state.name) for state in State if state in self.state] or ["out of service"]
        cassette = "" if Condition.CASSETTE_PRESENT in self.condition else "cassette removed"
        conditions = [_words(flag.name) for flag in Condition if flag in self.condition]
        others = [_words(flag.name) for flag in Exceptional if flag in self.exceptional]
        misc = [_words(flag.name) for flag in Misc if flag & self.misc]
        return ", ".join(word for word in [" and ".join(states) + value, *others, *conditions, cassette, *misc] if word)


@dataclass(frozen=True)
class Note:
    """An entry of the note table, or the note at hand: value is base × 10^power in units of `currency` (ISO 4217)."""

    index: int
    currency: str
    base: int
    power: int

    @property
    def units(self) -> int | None:
        """Value in whole units of its currency, None if it is a fraction."""
        whole, rest = divmod(self.base * 10 ** max(self.power, 0), 10 ** max(-self.power, 0))
        return None if rest else whole

    @property
    def words(self) -> str:
        """Currency and value, in words."""
        value = self.units
        return f"{self.currency} {value}" if value is not None else f"{self.currency} {self.base}e{self.power}"


def parse_report(data: bytes) -> Report:
    """Return what the six bytes say. Raises ValueError if there are fewer or more."""
    if len(data) != REPORT_BYTES:
        raise ValueError(f"{len(data)} bytes of report where {REPORT_BYTES} belong")
    state, condition, exceptional, misc, model, revision = data
    named = exceptional & ~0x38
    return Report(State(state), Condition(condition), Exceptional(named), misc, model, revision, exceptional >> 3 & 7)


def parse_reply(frame: Frame) -> tuple[Report, bytes]:
    """Return the report of a reply or extended reply, and the bytes that follow it.

    Raises ValueError if it carries none.
    """
    if frame.kind not in (Kind.REPLY, Kind.EXTENDED):
        raise ValueError(f"a message of kind {frame.kind} carries no report")
    data = frame.data[1:] if frame.kind == Kind.EXTENDED else frame.data
    return parse_report(data[:REPORT_BYTES]), data[REPORT_BYTES:]


def parse_note(data: bytes) -> Note | None:
    """Return the note of an extended reply (subtype 02), None for an empty entry: there the table ends.

    Raises ValueError if its fields aren't index, ISO code, three digits, sign and two digits.
    """
    if len(data) < NOTE_BYTES:
        raise ValueError(f"{len(data)} bytes of note where at least {NOTE_BYTES} belong")
    index, currency, base, exponent = data[0], data[1:4], data[4:7], data[7:NOTE_BYTES]
    if not any(data[1:NOTE_BYTES]):
        return None
    if not (currency.isalpha() and base.isdigit() and exponent[1:].isdigit()):
        raise ValueError("a note without ISO code, three digits of base and two of exponent")
    if exponent[:1] not in (b"+", b"-"):
        raise ValueError("a note's exponent without a sign")
    return Note(index, currency.decode(), int(base), int(exponent)) if int(base) else None


def parse_barcode(data: bytes) -> str:
    """Return the characters of an extended reply with a barcode (subtype 01), without what fills the field."""
    text = data.decode("ascii", "replace")
    ends = [text.find(fill) for fill in BARCODE_FILL if fill in text]
    return text[: min(ends, default=len(text))]


def parse_crc(data: bytes) -> int:
    """Return the software CRC: four nibbles, highest first. Raises ValueError if these are none."""
    nibbles = data[:4]
    if len(data) != REPORT_BYTES or max(nibbles) > 0x0F or any(data[4:]):
        raise ValueError("an answer that isn't four nibbles and two zeros")
    return reduce(lambda crc, nibble: crc << 4 | nibble, nibbles, 0)


def revision_text(revision: int) -> str:
    """Return a code revision in words; it counts tenths."""
    return f"{revision // 10}.{revision % 10}"


# The words for frames


def _words(name: str | None) -> str:
    return (name or "").lower().replace("_", " ")


def frame_text(frame: Frame, to_board: bool) -> str:
    """Return the words for a frame of one direction, barcodes masked; one of another layout is named by its CTL."""
    words = _TO_BOARD if to_board else _FROM_BOARD
    try:
        return words[frame.kind](frame)
    except (KeyError, ValueError, IndexError):
        return f"{frame.ctl:02x}"


def _poll_said(frame: Frame) -> str:
    notes, mode, option = _settings(frame.data)
    act = "stack" if Mode.STACK in mode else "return" if Mode.RETURN in mode else "poll"
    ways = "four-way" if Mode.FOUR_WAY in mode else "two-way" if Mode.TWO_WAY in mode else "one-way"
    escrow = "escrow" if Mode.ESCROW in mode else "no escrow"
    return ", ".join([act, f"notes {notes:02x}", ways, escrow, *(_words(o.name) for o in Option if o in option)])


def _settings(data: bytes) -> tuple[int, Mode, Option]:
    notes, mode, option = data
    return notes, Mode(mode), Option(option)


def _query_said(frame: Frame) -> str:
    if len(frame.data) != POLL_BYTES:
        raise ValueError("an auxiliary command has three bytes")
    which = Query(frame.data[2])
    return "soft reset" if which == Query.SOFT_RESET else f"{_words(which.name)}?".replace(" crc", " CRC")


def _extended_asked(frame: Frame) -> str:
    subtype, rest = Subtype(frame.data[0]), frame.data[1 + POLL_BYTES :]
    if subtype == Subtype.NOTE:
        return f"note table entry {rest[0]}?"
    # What stands in a barcode's message may be its digits.
    shown = "" if subtype == Subtype.BARCODE else rest.hex(" ")
    return f"{_words(subtype.name)} {shown}".rstrip()


def _report_said(frame: Frame) -> str:
    return parse_report(frame.data).words


def _answer_said(frame: Frame) -> str:
    try:
        return f"software CRC {parse_crc(frame.data):04x}"
    except ValueError:
        text = frame.data.rstrip(b"\0").decode("ascii")
        return text if text.isprintable() and text else f"{frame.ctl:02x}"


def _extended_said(frame: Frame) -> str:
    subtype, (report, rest) = Subtype(frame.data[0]), parse_reply(frame)
    if subtype == Subtype.BARCODE:
        return f"barcode {mask_number(parse_barcode(rest))}, {report.words}"
    if subtype == Subtype.NOTE:
        note = parse_note(rest)
        return f"{note.words if note else 'empty entry'} (index {rest[0]}), {report.words}"
    return f"{_words(subtype.name)}, {report.words}"


_TO_BOARD: dict[int, Callable[[Frame], str]] = {
    Kind.COMMAND: _poll_said,
    Kind.AUXILIARY: _query_said,
    Kind.EXTENDED: _extended_asked,
}
_FROM_BOARD: dict[int, Callable[[Frame], str]] = {
    Kind.REPLY: _report_said,
    Kind.AUXILIARY: _answer_said,
    Kind.EXTENDED: _extended_said,
}

# What the bench asks of every protocol

# A device repeats its last answer to a bit that it had last.
BEFORE_WHO, WHO = query(1, Query.SOFTWARE_CRC), query(0, Query.SOFTWARE_CRC)
TELLS_SIGNATURE = True


def who_text(frame: Frame) -> str | None:
    """Return what the answer to a software CRC query says; None for another frame."""
    if frame.kind != Kind.AUXILIARY:
        return None
    text = _answer_said(frame)
    return text if text.startswith("software CRC") else None


def frame_names(data: bytes, to_board: bool) -> list[str]:
    """Return the words for each frame in these bytes, which are all of one direction."""
    return [frame_text(frame, to_board) for frame in Decoder().feed(data)]

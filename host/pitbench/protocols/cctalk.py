"""ccTalk bill validator seen from the host: frames, codes and the words for them.

Checksum mode `to LEN from header data sum`, all bytes together are 0 modulo 256; CRC mode `to LEN CRClo header data
CRChi`, CRC-16/XMODEM over to, LEN, header and data. LEN counts the data alone; 9600 8N1. No byte marks a start: a frame
is found by its address, LEN and checksum, and both modes have frames of one length. A reply has header 0 and doesn't
name its command. Facts are of the ccTalk Generic Specification 4.7, parts 1 to 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

import crcmod.predefined  # type: ignore[import-untyped]

from pitbench.framing import Framing
from pitbench.masking import mask_number
from pitbench.protocols.id003 import Denomination
from pitbench.protocols.stream_decoder import StreamDecoder

TITLE = "ccTalk"
FRAMING = Framing(9600, 8, "N", 1)
HINT = "Point a kiosk or another ccTalk host at the wire, or try: pitbench kiosk --protocol cctalk --wire {wire}"

HOST = 1
VALIDATOR = 40
SHORTEST = 5
# LEN is a byte. Nothing that a host of ours asks for is longer, and a damaged LEN must not swallow a second of traffic.
LONGEST_DATA = 64
KEPT_EVENTS = 5
EVENTS_SIZE = 1 + 2 * KEPT_EVENTS
LAST_COUNT = 255
# ID-003's number of a country, which a table of denominations carries; it names few.
COUNTRIES = {"US": 1}

_crc = crcmod.predefined.mkCrcFun("xmodem")


class Checksum(Enum):
    """How a frame is protected: a mode of the whole wire, which no frame names."""

    SUM = "sum"
    CRC = "crc"


class Command(IntEnum):
    """Header of what the host sends."""

    RESET_DEVICE = 1
    REQUEST_COMMS_REVISION = 4
    READ_BARCODE = 129
    REQUEST_CURRENCY_REVISION = 145
    REQUEST_OPERATING_MODE = 152
    MODIFY_OPERATING_MODE = 153
    ROUTE_BILL = 154
    REQUEST_BILL_POSITION = 155
    REQUEST_SCALING = 156
    REQUEST_BILL_ID = 157
    READ_EVENTS = 159
    REQUEST_BUILD_CODE = 192
    CALCULATE_ROM_CHECKSUM = 197
    REQUEST_OPTION_FLAGS = 213
    REQUEST_MASTER_INHIBIT = 227
    MODIFY_MASTER_INHIBIT = 228
    REQUEST_INHIBITS = 230
    MODIFY_INHIBITS = 231
    SELF_CHECK = 232
    REQUEST_SOFTWARE_REVISION = 241
    REQUEST_SERIAL_NUMBER = 242
    REQUEST_PRODUCT_CODE = 244
    REQUEST_CATEGORY = 245
    REQUEST_MANUFACTURER = 246
    REQUEST_POLLING_PRIORITY = 249
    SIMPLE_POLL = 254


class Reply(IntEnum):
    """Header of what the device sends; DATA without any data is an ACK."""

    DATA = 0
    NAK = 5
    BUSY = 6


class Route(IntEnum):
    """Data byte of ROUTE_BILL."""

    RETURN = 0
    STACK = 1
    EXTEND = 255


class RouteError(IntEnum):
    """Data byte of a reply to ROUTE_BILL that is no ACK."""

    ESCROW_EMPTY = 254
    FAILED = 255


class Code(IntEnum):
    """Result B of an event whose result A is 0."""

    MASTER_INHIBIT_ACTIVE = 0
    BILL_RETURNED = 1
    INVALID_BILL = 2
    INVALID_BILL_TRANSPORT = 3
    BILL_INHIBITED = 4
    BILL_INHIBITED_BY_SWITCH = 5
    BILL_JAMMED_UNSAFE = 6
    BILL_JAMMED_IN_STACKER = 7
    BILL_PULLED_BACK = 8
    BILL_TAMPER = 9
    STACKER_OK = 10
    STACKER_REMOVED = 11
    STACKER_INSERTED = 12
    STACKER_FAULTY = 13
    STACKER_FULL = 14
    STACKER_JAMMED = 15
    BILL_JAMMED_SAFE = 16
    OPTO_FRAUD = 17
    STRING_FRAUD = 18
    ANTI_STRING_FAULTY = 19
    BARCODE_DETECTED = 20
    UNKNOWN_BILL_STACKED = 21


class Fault(IntEnum):
    """First data byte of a reply to SELF_CHECK, as far as a bill validator has them."""

    NONE = 0
    DATA_CHECKSUM = 1
    ROM_CHECKSUM = 30
    VALIDATION_SENSOR = 36
    TRANSPORT_MOTOR = 37
    STACKER = 38
    BILL_JAMMED = 39
    RAM = 40
    STRING_SENSOR = 41
    STACKER_MISSING = 44
    STACKER_FULL = 45
    DOOR_OPEN = 51
    UNSPECIFIED = 255


@dataclass(frozen=True)
class Frame:
    """A frame that passed its checksum. Its repr never shows a barcode whole, so that it may be logged.

    Args:
        to: address of the receiver.
        header: command, or 0, 5 or 6 of a reply.
        data: what follows the header.
    """

    to: int
    header: int
    data: bytes = b""

    def __repr__(self) -> str:
        return f"Frame(to {self.to}: {self.header} {data_text(self.data)})".replace(" )", ")")


def encode(
    header: int, data: bytes = b"", checksum: Checksum = Checksum.SUM, to: int = VALIDATOR, source: int = HOST
) -> bytes:
    """Return the bytes of a frame.

    Args:
        header: 0 to 255.
        data: at most LONGEST_DATA bytes.
        checksum: the mode of the wire.
        to, source: addresses; CRC mode doesn't send the second one.

    Raises ValueError if the data does not fit.
    """
    if len(data) > LONGEST_DATA:
        raise ValueError(f"{len(data)} data bytes do not fit into a ccTalk frame of ours; at most {LONGEST_DATA} do")
    if checksum is Checksum.SUM:
        body = bytes((to, len(data), source, header)) + data
        return body + bytes([-sum(body) % 256])
    low, high = _crc(bytes((to, len(data), header)) + data).to_bytes(2, "little")
    return bytes((to, len(data), low, header)) + data + bytes([high])


class Decoder(StreamDecoder[Frame]):
    """Finds frames of both directions in a stream of bytes, however it is cut, joined, damaged or padded.

    Both directions, because one wire carries both: what the host sent comes back to it as an echo, and is told apart by
    its address. Counters: `good` frames, `damaged` ones (impossible length, wrong checksum, cut off), `skipped` bytes
    that begin no frame.

    Args:
        checksum: the mode of the wire; None takes frames of either, for who listens to a wire that he doesn't know.
        host, validator: the two addresses.
    """

    def __init__(self, checksum: Checksum | None = None, host: int = HOST, validator: int = VALIDATOR) -> None:
        super().__init__()
        self._from = {host: validator, validator: host}
        # The stronger test first: one frame in 256 of the CRC mode has the sum of the other.
        self._sound = {None: (self._crc_right, self._sum_right), Checksum.CRC: (self._crc_right,)}.get(
            checksum, (self._sum_right,)
        )

    def _seek(self) -> bool:
        """Bring the next possible start to the front; true if a whole frame may stand there."""
        starts = (at for at, byte in enumerate(self._held) if byte in self._from)
        self._skip_to(next(starts, -1))
        return len(self._held) >= 2 and (len(self._held) >= self._length() or not self._length_possible())

    def _length(self) -> int:
        return SHORTEST + self._held[1]

    def _length_possible(self) -> bool:
        return self._held[1] <= LONGEST_DATA

    def _take(self) -> Frame | None:
        whole = bytes(self._held[: self._length()])
        if not self._length_possible() or not any(right(whole) for right in self._sound):
            self._drop_head()
            return None
        self._took(len(whole))
        return Frame(whole[0], whole[3], whole[4:-1])

    def _sum_right(self, whole: bytes) -> bool:
        return sum(whole) % 256 == 0 and whole[2] == self._from[whole[0]]

    def _crc_right(self, whole: bytes) -> bool:
        return bytes((whole[2], whole[-1])) == _crc(whole[:2] + whole[3:-1]).to_bytes(2, "little")


# What replies carry


class Event(NamedTuple):
    """One event: `a` a bill type (then `b` 0 credited, 1 in escrow), or 0 (then `b` is a Code)."""

    a: int
    b: int

    @property
    def credit(self) -> bool:
        """Whether a bill is in the stacker, known or not."""
        return (self.a > 0 and self.b == 0) or self == UNKNOWN_STACKED

    @property
    def escrow(self) -> bool:
        """Whether a bill or a barcode is held."""
        return (self.a > 0 and self.b == 1) or self == BARCODE


BARCODE = Event(0, Code.BARCODE_DETECTED)
UNKNOWN_STACKED = Event(0, Code.UNKNOWN_BILL_STACKED)
RETURNED = Event(0, Code.BILL_RETURNED)


@dataclass(frozen=True)
class Events:
    """Answer to READ_EVENTS: counter (0 only after a reset, 255 is followed by 1), last events, newest first."""

    counter: int
    events: tuple[Event, ...]

    @property
    def data(self) -> bytes:
        """The data bytes that say this."""
        return bytes((self.counter, *(byte for event in self.events for byte in event)))


def parse_events(data: bytes) -> Events:
    """Raises ValueError if these aren't a counter and five events."""
    if len(data) != EVENTS_SIZE:
        raise ValueError(f"{len(data)} data bytes where a counter and {KEPT_EVENTS} events belong")
    return Events(data[0], tuple(Event(data[at], data[at + 1]) for at in range(1, len(data), 2)))


def counted(last: int, now: int) -> int:
    """Return how many events came while the counter went from `last` to `now`; `now` 0 is a reset, which is none."""
    if now == 0 or last == 0:
        return now
    return (now - last) % LAST_COUNT


@dataclass(frozen=True)
class BillId:
    """What a bill type is: country in two letters, value before scaling, letter of the series."""

    country: str
    value: int
    series: str


def parse_bill_id(data: bytes) -> BillId | None:
    """Return what `CCVVVVI` says, None for any other text: an empty place, which devices fill in many ways."""
    match = re.fullmatch(r"([A-Z]{2})(\d{4})(\S)", data.decode("ascii", "replace"), re.ASCII)
    return BillId(match[1], int(match[2]), match[3]) if match and int(match[2]) else None


@dataclass(frozen=True)
class Scaling:
    """A bill's value in whole units is value × factor / 10^decimals; factor 0: the country isn't known."""

    factor: int
    decimals: int


def parse_scaling(data: bytes) -> Scaling:
    """Raises ValueError if these aren't three bytes."""
    if len(data) != 3:
        raise ValueError(f"a country's scaling has 3 bytes, and {len(data)} came")
    return Scaling(int.from_bytes(data[:2], "little"), data[2])


def denomination(code: int, bill: BillId, scaling: Scaling) -> Denomination:
    """Return a bill type in the neutral table's terms.

    Raises ValueError if its value isn't a number of whole units, or its country has no scaling.
    """
    units, rest = divmod(bill.value * scaling.factor, 10**scaling.decimals)
    if rest or not units:
        raise ValueError(f"{bill.country} {bill.value} × {scaling.factor} / 10^{scaling.decimals} isn't whole units")
    return Denomination(code, COUNTRIES.get(bill.country, 0), units, 0)


# Words


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def _named(number: int, names: type[IntEnum], other: str) -> str:
    return _words(names(number).name) if number in names._value2member_map_ else f"{other} {number}"


def event_text(event: Event) -> str:
    """Return the words for one event."""
    if event.a == 0:
        return _named(event.b, Code, "event 0")
    where = {0: "credited", 1: "in escrow"}.get(event.b, f"result {event.b}")
    return f"type {event.a} {where}"


def events_text(told: Events) -> str:
    """Return the words for the answer to READ_EVENTS, the newest event first, unused places left out."""
    shown = ", ".join(event_text(event) for event in told.events[: told.counter])
    return f"events, counter {told.counter}: {shown or 'none since the reset'}"


def data_text(data: bytes) -> str:
    """Return a frame's data: as text if it is printable, what may be a barcode masked, else in hex."""
    text = printable(data)
    return data.hex(" ") if text is None else _BARCODE_LIKE.sub(lambda number: mask_number(number[0]), text)


# A reply doesn't say what it answers: eight letters and digits in a row, six of them digits, may be a barcode.
_BARCODE_LIKE = re.compile(r"\b(?=(?:[A-Za-z]*\d){6})[A-Za-z0-9]{8,}")


def printable(data: bytes) -> str | None:
    """Return data as text if it is two or more printable ASCII characters; None if it isn't."""
    text = data.decode("ascii", "replace")
    return text if len(text) > 1 and text.isascii() and text.isprintable() else None


def command_text(header: int) -> str:
    """Return the words for a command."""
    return _named(header, Command, "command")


def frame_text(frame: Frame) -> str:
    """Return the words for a sound frame of either direction."""
    if frame.to != HOST:
        return _asked_text(frame)
    if frame.header != Reply.DATA:
        return _named(frame.header, Reply, "reply")
    if not frame.data:
        return "ack"
    if len(frame.data) == EVENTS_SIZE and printable(frame.data) is None:
        return events_text(parse_events(frame.data))
    return f"reply {data_text(frame.data)}"


def _asked_text(frame: Frame) -> str:
    name = command_text(frame.header)
    if not frame.data:
        return name
    words = _ARGUMENTS.get(frame.header, data_text)
    return f"{name}: {words(frame.data)}"


_ARGUMENTS: dict[int, Callable[[bytes], str]] = {
    Command.ROUTE_BILL: lambda data: _named(data[0], Route, "route"),
    Command.MODIFY_MASTER_INHIBIT: lambda data: "accept" if data[0] & 1 else "refuse all",
    Command.REQUEST_BILL_ID: lambda data: f"type {data[0]}",
    Command.MODIFY_INHIBITS: lambda data: f"types {bits_text(data)} on",
}


def bits_text(mask: bytes) -> str:
    """Return the bill types of an inhibit mask (bit 0 of the first byte is type 1), "none" if there are none."""
    types = [str(8 * at + bit + 1) for at, byte in enumerate(mask) for bit in range(8) if byte >> bit & 1]
    return " ".join(types) or "none"


# What the bench asks of every protocol

WHO = encode(Command.REQUEST_SOFTWARE_REVISION)
# Our device writes it behind its revision.
TELLS_SIGNATURE = True


def who_text(frame: Frame) -> str | None:
    """Return the software revision that a frame carries; None for another frame."""
    return printable(frame.data) if frame.to == HOST and frame.header == Reply.DATA else None


def frame_names(data: bytes, to_board: bool) -> list[str]:
    """Return the words for each frame in these bytes, which are all of one direction, in whichever mode they are."""
    decoder = Decoder()
    return [frame_text(frame) for frame in decoder.feed(data) + decoder.gap() if (frame.to != HOST) == to_board]

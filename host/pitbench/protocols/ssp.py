"""SSP (ITL) seen from the host: frames, codes and the words for them; docs/ssp.md draws the frames.

`7F SEQ|ADDRESS LEN data CRClo CRChi`, LEN counts the data alone; every 7F behind the first byte is sent twice. The
CRC (8005, seed FFFF, not reflected) covers SEQ to the last data byte, before the doubling; 9600 8N2. A reply repeats
SEQ and address of its request. Its first data byte tells how it went, and behind the OK of a poll stand events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import crcmod  # type: ignore[import-untyped]

from pitbench.framing import Framing
from pitbench.masking import mask_number
from pitbench.protocols.stream_decoder import StreamDecoder

TITLE = "SSP"
FRAMING = Framing(9600, 8, "N", 2)
HINT = "Point a host of ITL's note validators at the wire, or try: pitbench kiosk --protocol ssp --wire {wire}"

STX = 0x7F
# First data byte of a packet that is encrypted (eSSP).
STEX = 0x7E
SEQ_BIT = 0x80
LONGEST_DATA = 255
HIGHEST_ADDRESS = 0x7D
# A note validator's by default.
ADDRESS = 0

crc: Callable[[bytes], int] = crcmod.mkCrcFun(0x18005, 0xFFFF, False, 0)


class Command(IntEnum):
    """First data byte of what the host sends."""

    RESET = 0x01
    SET_INHIBITS = 0x02
    DISPLAY_ON = 0x03
    DISPLAY_OFF = 0x04
    SETUP_REQUEST = 0x05
    HOST_PROTOCOL = 0x06
    POLL = 0x07
    REJECT = 0x08
    DISABLE = 0x09
    ENABLE = 0x0A
    SERIAL_NUMBER = 0x0C
    UNIT_DATA = 0x0D
    CHANNEL_VALUES = 0x0E
    CHANNEL_SECURITY = 0x0F
    CHANNEL_RETEACH = 0x10
    SYNC = 0x11
    LAST_REJECT = 0x17
    HOLD = 0x18
    FIRMWARE_VERSION = 0x20
    DATASET_VERSION = 0x21
    GET_BARCODE_CONFIGURATION = 0x23
    SET_BARCODE_CONFIGURATION = 0x24
    GET_BARCODE_INHIBIT = 0x25
    SET_BARCODE_INHIBIT = 0x26
    BARCODE_DATA = 0x27
    SET_GENERATOR = 0x4A
    SET_MODULUS = 0x4B
    KEY_EXCHANGE = 0x4C
    BUILD_REVISION = 0x4F
    POLL_WITH_ACK = 0x56
    EVENT_ACK = 0x57
    COUNTERS = 0x58
    RESET_COUNTERS = 0x59


class Reply(IntEnum):
    """First data byte of a reply."""

    OK = 0xF0
    UNKNOWN_COMMAND = 0xF2
    WRONG_PARAMETERS = 0xF3
    OUT_OF_RANGE = 0xF4
    CANNOT_BE_PROCESSED = 0xF5
    SOFTWARE_ERROR = 0xF6
    FAIL = 0xF8
    KEY_NOT_SET = 0xFA


class Event(IntEnum):
    """What stands behind the OK of a poll; those of WITH_CHANNEL carry a channel from 1, 0 where it is unknown."""

    CHANNELS_DISABLED = 0xB5
    INITIALISING = 0xB6
    STACKING = 0xCC
    TICKET_STACKED = 0xD1
    STORED_IN_PAYOUT = 0xDB
    PATH_OPEN = 0xE0
    CLEARED_FROM_FRONT = 0xE1
    CLEARED_TO_CASHBOX = 0xE2
    CASHBOX_REMOVED = 0xE3
    CASHBOX_REPLACED = 0xE4
    TICKET_IN_ESCROW = 0xE5
    FRAUD_ATTEMPT = 0xE6
    STACKER_FULL = 0xE7
    DISABLED = 0xE8
    UNSAFE_JAM = 0xE9
    SAFE_JAM = 0xEA
    STACKED = 0xEB
    REJECTED = 0xEC
    REJECTING = 0xED
    CREDIT = 0xEE
    READ = 0xEF
    RESET = 0xF1


WITH_CHANNEL = frozenset(
    {Event.READ, Event.CREDIT, Event.FRAUD_ATTEMPT, Event.CLEARED_FROM_FRONT, Event.CLEARED_TO_CASHBOX}
)


class RejectCode(IntEnum):
    """Data byte of the reply to LAST_REJECT."""

    ACCEPTED = 0x00
    LENGTH = 0x01
    AVERAGE = 0x02
    COASTLINE = 0x03
    GRAPH = 0x04
    BURIED = 0x05
    INHIBITED_BY_DATASET = 0x06
    SECOND_NOTE = 0x07
    BY_HOST = 0x08
    SEVERAL_CHANNELS = 0x09
    REAR_SENSOR = 0x0A
    TOO_LONG = 0x0B
    INHIBITED_BY_HOST = 0x0C
    SLOW_MECHANISM = 0x0D
    STRIMMING = 0x0E
    FRAUD_CHANNEL = 0x0F
    NO_NOTE = 0x10
    PEAK = 0x11
    TWISTED = 0x12
    ESCROW_TIMEOUT = 0x13
    BARCODE_SCAN = 0x14
    NOT_REACHED = 0x15
    SLOT_1 = 0x16
    SLOT_2 = 0x17
    OVERSAMPLED = 0x18
    WIDTH = 0x19
    TOO_SHORT = 0x1A
    PAID_OUT = 0x1B
    DOUBLE_NOTE = 0x1C
    UNABLE_TO_STACK = 0x1D


class TicketState(IntEnum):
    """First byte behind the OK of BARCODE_DATA."""

    NONE = 0
    IN_ESCROW = 1
    STACKED = 2
    REJECTED = 3


@dataclass(frozen=True)
class Frame:
    """A frame that passed its CRC. Its repr never shows a ticket's number whole, so that it may be logged."""

    data: bytes
    seq: bool = False
    address: int = ADDRESS

    def __repr__(self) -> str:
        return f"Frame({self.address:02x}, SEQ {self.seq:d}, {masked_data(self.data)})"


def encode(data: bytes, seq: bool = False, address: int = ADDRESS) -> bytes:
    """Return the bytes of a frame.

    Args:
        data: 1 to 255 bytes, a command or reply code first.
        seq: the sequence flag.
        address: of the slave, 0 to HIGHEST_ADDRESS.

    Raises ValueError if the data does not fit, or no slave can have the address.
    """
    if not 1 <= len(data) <= LONGEST_DATA:
        raise ValueError(f"{len(data)} data bytes do not fit into an SSP frame; 1 to {LONGEST_DATA} do")
    if not 0 <= address <= HIGHEST_ADDRESS:
        raise ValueError(f"{address} is no slave's address; they are 0 to {HIGHEST_ADDRESS}")
    body = bytes((address | SEQ_BIT * seq, len(data))) + data
    body += crc(body).to_bytes(2, "little")
    return bytes((STX,)) + body.replace(b"\x7f", b"\x7f\x7f")


class _Unfinished(Exception):
    """The frame may be whole once more bytes have come."""


class _Broken(Exception):
    """No frame begins here."""


class Decoder(StreamDecoder[Frame]):
    """Finds frames in a stream of bytes, however it is cut, joined, damaged or padded.

    Counters: `good` frames, `damaged` ones (wrong CRC, cut off by another frame), `skipped` bytes outside of frames.
    """

    def feed(self, data: bytes) -> list[Frame]:
        """Take received bytes; return the frames that they complete."""
        self.received += len(data)
        self._held += data
        frames = []
        while self._seek():
            try:
                frames.append(self._take())
            except _Broken:
                self._drop_head()
            except _Unfinished:
                break
        return frames

    def _seek(self) -> bool:
        """Bring the next STX to the front; true if a frame may begin there. One followed by another is no start."""
        start = self._held.find(STX)
        while 0 <= start < len(self._held) - 1 and self._held[start + 1] == STX:
            start += 1
        self._skip_to(start)
        return len(self._held) >= 2

    def _take(self) -> Frame:
        body, length = self._undoubled()
        if crc(body[:-2]).to_bytes(2, "little") != body[-2:]:
            raise _Broken
        self._took(length)
        return Frame(body[2:-2], bool(body[0] & SEQ_BIT), body[0] & ~SEQ_BIT)

    def _undoubled(self) -> tuple[bytes, int]:
        """The frame's bytes behind its STX, each 7F once, and how many bytes it takes in the stream."""
        body = bytearray()
        at = 1
        while len(body) < 2 or len(body) < body[1] + 4:
            pair = self._held[at : at + 2]
            if pair[:1] == b"\x7f":
                if len(pair) < 2:
                    raise _Unfinished
                if pair[1] != STX:
                    # A lone STX is another frame's start.
                    raise _Broken
                at += 1
            elif not pair:
                raise _Unfinished
            body.append(pair[0])
            at += 1
            if len(body) == 2 and body[1] == 0:
                raise _Broken
        return bytes(body), at


# What replies carry


@dataclass(frozen=True)
class Happened:
    """One event of a poll; `channel` is None where the event has none."""

    code: Event
    channel: int | None = None

    @property
    def text(self) -> str:
        """Words for it."""
        if self.code == Event.READ:
            return f"channel {self.channel} in escrow" if self.channel else "reading"
        channel = f", channel {self.channel}" if self.channel else ""
        return _words(self.code.name) + channel


def parse_events(data: bytes) -> tuple[list[Happened], bytes]:
    """Return the events that stand behind a poll's OK, and what follows the first one that is unknown or cut off.

    How many bytes belong to an unknown event can't be known, so nothing behind it is taken for an event.
    """
    events: list[Happened] = []
    while data:
        length = 1 + (data[0] in WITH_CHANNEL)
        if data[0] not in Event._value2member_map_ or len(data) < length:
            break
        events.append(Happened(Event(data[0]), data[1] if length == 2 else None))
        data = data[length:]
    return events, data


@dataclass(frozen=True)
class Channel:
    """One kind of note: its number from 1, its currency by ISO code, and its value in hundredths of that."""

    number: int
    country: str
    cents: int


@dataclass(frozen=True)
class Setup:
    """What a note validator says of itself: unit type (0), firmware, channels in use, protocol version."""

    unit_type: int
    firmware: str
    country: str
    channels: tuple[Channel, ...]
    protocol: int


def parse_setup(data: bytes) -> Setup:
    """Return what stands behind the OK of SETUP_REQUEST.

    From protocol version 6 on each channel has a currency and a value of its own. Raises ValueError if it is cut short.
    """
    count = data[11] if len(data) > 11 else 0
    if len(data) < 16 + 2 * count:
        raise ValueError(f"{len(data)} bytes are too few for a setup of {count} channels")
    country, protocol = _text(data[5:8]), data[15 + 2 * count]
    values = [value * int.from_bytes(data[8:11], "big") for value in data[12 : 12 + count]]
    countries = [country] * count
    if protocol >= 6:
        values, countries = _expanded(data[16 + 2 * count :], count)
    # Hundredths in a unit; three bytes of an older version's reteach count stand here, which are 0.
    unit = int.from_bytes(data[12 + 2 * count : 15 + 2 * count], "big") or 100
    channels = (Channel(at + 1, countries[at], values[at] * unit) for at in range(count) if values[at])
    return Setup(data[0], _text(data[1:5]), country, tuple(channels), protocol)


def _expanded(data: bytes, count: int) -> tuple[list[int], list[str]]:
    if len(data) < 7 * count:
        raise ValueError(f"{len(data)} bytes are too few for currency and value of {count} channels")
    codes, values = data[: 3 * count], data[3 * count : 7 * count]
    return (
        [int.from_bytes(values[4 * at : 4 * at + 4], "little") for at in range(count)],
        [_text(codes[3 * at : 3 * at + 3]) for at in range(count)],
    )


def _text(data: bytes) -> str:
    return data.decode("ascii", "replace").strip("\0 ")


@dataclass(frozen=True)
class Ticket:
    """A barcode ticket: where it is, and its digits."""

    state: int
    number: str

    def __repr__(self) -> str:
        return f"Ticket({self.state}, {mask_number(self.number)})"


def parse_ticket(data: bytes) -> Ticket:
    """Return what stands behind the OK of BARCODE_DATA. Raises ValueError if it isn't state, length and digits."""
    if len(data) < 2 or len(data) != 2 + data[1]:
        raise ValueError(f"{len(data)} bytes are no ticket's state, length and digits")
    return Ticket(data[0], data[2:].decode("ascii", "replace"))


# Words


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def code_name(number: int, names: type[IntEnum]) -> str:
    """Return a code's name among those of its kind; an unknown one is named by its value."""
    return _words(names(number).name) if number in names._value2member_map_ else f"{number:02x}"


def reject_text(code: int) -> str:
    """Return the words for a reject code."""
    return code_name(code, RejectCode)


def masked_data(data: bytes) -> str:
    """Return data bytes in hex, digits of a ticket masked."""
    ticket = _ticket_in(data)
    return data.hex(" ") if ticket is None else f"{data[:3].hex(' ')} {mask_number(ticket.number)}"


def _ticket_in(data: bytes) -> Ticket | None:
    """The ticket of a reply that looks like one: nothing in a reply tells which command it answers."""
    if data[:1] != bytes((Reply.OK,)) or len(data) < 4:
        return None
    try:
        ticket = parse_ticket(data[1:])
    except ValueError:
        return None
    return ticket if ticket.state in TicketState._value2member_map_ and ticket.number.isascii() else None


def frame_text(frame: Frame) -> str:
    """Return the words for a frame of either direction, tickets' numbers masked."""
    code = frame.data[0]
    if code == STEX:
        return f"encrypted, {len(frame.data) - 1} bytes"
    return _reply_text(frame.data) if code in Reply._value2member_map_ else _command_text(frame.data)


def _command_text(data: bytes) -> str:
    name, arguments = code_name(data[0], Command), data[1:]
    return f"{name} {arguments.hex(' ')}" if arguments else name


def _reply_text(data: bytes) -> str:
    name = code_name(data[0], Reply)
    if len(data) == 1:
        return name
    events, rest = parse_events(data[1:])
    ticket = _ticket_in(data)
    if data[0] == Reply.OK and not rest:
        return f"{name}: {', '.join(event.text for event in events)}"
    if ticket:
        return f"{name}: ticket {code_name(ticket.state, TicketState)} {mask_number(ticket.number)}"
    return f"{name}, {len(data) - 1} bytes"


# What the bench asks of every protocol

# Sync is the one command that a device carries out whatever SEQ its last one had.
WHO = encode(bytes((Command.SYNC,)), seq=True)
TELLS_SIGNATURE = False


def who_text(frame: Frame) -> str | None:
    """Return that a slave answers, for the bare OK with the SEQ of WHO; None for another frame."""
    return f"SSP slave {frame.address} answers" if frame.seq and frame.data == bytes((Reply.OK,)) else None


def frame_names(data: bytes, to_board: bool) -> list[str]:
    """Return the words for each frame in these bytes, which are all of one direction."""
    decoder = Decoder()
    return [frame_text(frame) for frame in decoder.feed(data) + decoder.gap()]

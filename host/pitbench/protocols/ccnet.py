"""CCNET (CashCode) seen from the host: frames, codes and the words for them.

`02 03 LEN payload CRClo CRChi`, LEN counts the whole frame, CRC-16/KERMIT over 02 to the last byte of the payload; 9600
8N1. A command's payload is its code and data. A reply has no code of its command: ACK, NAK and illegal command are one
byte, a poll is answered with a state and its data, and every other read with bare data, which its length tells apart.
docs/ccnet.md draws the frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import crcmod.predefined  # type: ignore[import-untyped]

from pitbench.framing import Framing
from pitbench.masking import mask_number
from pitbench.protocols.stream_decoder import StreamDecoder

TITLE = "CCNET"
FRAMING = Framing(9600, 8, "N", 1)
HINT = "Point a kiosk or payment terminal at the wire."

SYNC = 0x02
# Peripheral address of a bill validator; others on a shared bus aren't spoken to.
ADDRESS = 0x03
HEADER = bytes((SYNC, ADDRESS))
SHORTEST = 6
# A LEN of 0 (a longer frame, for loading firmware) isn't taken: one that a fault made would swallow a minute of frames.
LONGEST = 250

BILL_TYPES = 24
# The bill type that stands for a barcode, in masks and behind ESCROW (one source).
BARCODE_TYPE = 23
MASK_SIZE = 3
STATUS_SIZE = 2 * MASK_SIZE
TABLE_ROW = 5
TABLE_SIZE = BILL_TYPES * TABLE_ROW
PART_SIZE, SERIAL_SIZE, ASSET_SIZE = 15, 12, 7
IDENTIFICATION_SIZE = PART_SIZE + SERIAL_SIZE + ASSET_SIZE
# A state and its data; every other answer is longer, or made of digits.
LONGEST_STATE = 3
# Bit 7 of a bill type's last byte: its low bits count decimals, not zeros (one source).
DECIMALS = 0x80

GREATEST_POWER = 9

_crc = crcmod.predefined.mkCrcFun("kermit")
# What may be a voucher's number, wherever it stands.
_NUMBER = re.compile(rb"([0-9]{6,})")


class Command(IntEnum):
    """First byte of what the host sends."""

    ACK = 0x00
    RESET = 0x30
    GET_STATUS = 0x31
    SET_SECURITY = 0x32
    POLL = 0x33
    ENABLE_BILL_TYPES = 0x34
    STACK = 0x35
    RETURN = 0x36
    IDENTIFICATION = 0x37
    HOLD = 0x38
    SET_BARCODE_PARAMETERS = 0x39
    EXTRACT_BARCODE_DATA = 0x3A
    GET_BILL_TABLE = 0x41
    DOWNLOAD = 0x50
    GET_CRC32_OF_THE_CODE = 0x51
    REQUEST_STATISTICS = 0x60
    NAK = 0xFF


class Reply(IntEnum):
    """Answers of one byte that aren't states."""

    ACK = 0x00
    ILLEGAL_COMMAND = 0x30
    NAK = 0xFF


class State(IntEnum):
    """First byte of the answer to a poll."""

    POWER_UP = 0x10
    POWER_UP_WITH_BILL_IN_VALIDATOR = 0x11
    POWER_UP_WITH_BILL_IN_STACKER = 0x12
    INITIALISE = 0x13
    IDLING = 0x14
    ACCEPTING = 0x15
    STACKING = 0x17
    RETURNING = 0x18
    UNIT_DISABLED = 0x19
    HOLDING = 0x1A
    DEVICE_BUSY = 0x1B
    REJECTING = 0x1C
    DROP_CASSETTE_FULL = 0x41
    DROP_CASSETTE_OUT_OF_POSITION = 0x42
    VALIDATOR_JAMMED = 0x43
    DROP_CASSETTE_JAMMED = 0x44
    CHEATED = 0x45
    PAUSE = 0x46
    FAILURE = 0x47
    ESCROW_POSITION = 0x80
    BILL_STACKED = 0x81
    BILL_RETURNED = 0x82


class RejectReason(IntEnum):
    """Byte behind REJECTING."""

    INSERTION = 0x60
    MAGNETIC = 0x61
    BILL_IN_HEAD = 0x62
    MULTIPLYING = 0x63
    CONVEYING = 0x64
    IDENTIFICATION = 0x65
    VERIFICATION = 0x66
    OPTIC = 0x67
    INHIBITED = 0x68
    CAPACITY = 0x69
    OPERATION = 0x6A
    LENGTH = 0x6C
    UV = 0x6D
    BARCODE = 0x92


class FailureCode(IntEnum):
    """Byte behind FAILURE."""

    STACK_MOTOR = 0x50
    TRANSPORT_MOTOR_SPEED = 0x51
    TRANSPORT_MOTOR = 0x52
    ALIGNING_MOTOR = 0x53
    INITIAL_CASSETTE_STATUS = 0x54
    OPTIC_CANAL = 0x55
    MAGNETIC_CANAL = 0x56
    CAPACITANCE_CANAL = 0x5F


WITH_BILL_TYPE = frozenset({State.ESCROW_POSITION, State.BILL_STACKED, State.BILL_RETURNED})


@dataclass(frozen=True)
class Frame:
    """A frame that passed its CRC. Its repr never shows a barcode whole, so that it may be logged.

    Args:
        payload: at least one byte; code and data of a command, the whole answer of a reply.
    """

    payload: bytes

    def __repr__(self) -> str:
        return f"Frame({_hex(self.payload)})"

    @property
    def code(self) -> int:
        """The first byte."""
        return self.payload[0]

    @property
    def data(self) -> bytes:
        """What stands behind the first byte."""
        return self.payload[1:]

    @property
    def is_state(self) -> bool:
        """Whether a device answers a poll with it."""
        return len(self.payload) <= LONGEST_STATE and self.code in State._value2member_map_


def encode(code: int, data: bytes = b"") -> bytes:
    """Return the bytes of a frame.

    Args:
        code: first byte of the payload, 0 to 255.
        data: the rest of it, at most LONGEST - 6 bytes.

    Raises ValueError if the data does not fit.
    """
    length = SHORTEST + len(data)
    if length > LONGEST:
        raise ValueError(f"{len(data)} data bytes do not fit into a CCNET frame; at most {LONGEST - SHORTEST} do")
    body = HEADER + bytes((length, code)) + data
    return body + _crc(body).to_bytes(2, "little")


class Decoder(StreamDecoder[Frame]):
    """Finds frames in a stream of bytes, however it is cut, joined, damaged or padded.

    Counters: `good` frames, `damaged` ones (impossible length, wrong CRC, cut off), `skipped` bytes outside of frames.
    """

    def _seek(self) -> bool:
        """Bring the next header to the front; true if a whole frame may stand there."""
        start = self._held.find(HEADER)
        if start < 0:
            # Half a header may stand at the end.
            start = len(self._held) - (self._held[-1:] == HEADER[:1])
        self._skip(start)
        return len(self._held) > 2 and (len(self._held) >= self._held[2] or not self._length_possible())

    def _length_possible(self) -> bool:
        return SHORTEST <= self._held[2] <= LONGEST

    def _take(self) -> Frame | None:
        length = self._held[2]
        if not self._length_possible() or _crc(bytes(self._held[:length])) != 0:
            self._drop_head()
            return None
        frame = Frame(bytes(self._held[3 : length - 2]))
        self._took(length)
        return frame


# What commands carry


def mask(bill_types: frozenset[int]) -> bytes:
    """Return the three bytes that name these bill types (0 to 23): the last byte's lowest bit is type 0.

    Raises ValueError for another number.
    """
    beyond = [number for number in bill_types if not 0 <= number < BILL_TYPES]
    if beyond:
        raise ValueError(f"{min(beyond)} is no bill type; there are 0 to {BILL_TYPES - 1}")
    return sum(1 << number for number in bill_types).to_bytes(MASK_SIZE, "big")


def masked_types(data: bytes) -> frozenset[int]:
    """Return the bill types that a mask names."""
    bits = int.from_bytes(data, "big")
    return frozenset(number for number in range(BILL_TYPES) if bits >> number & 1)


# What replies carry


@dataclass(frozen=True)
class DeviceStatus:
    """Answer to GET_STATUS: bill types that are enabled, and those under high security."""

    enabled: frozenset[int]
    high_security: frozenset[int]


@dataclass(frozen=True)
class Identification:
    """Answer to IDENTIFICATION; texts without their padding, the asset number as it is."""

    part: str
    serial: str
    asset: bytes

    @property
    def text(self) -> str:
        """Words for a person."""
        return f"{self.part or 'no part number'}, serial {self.serial or 'unknown'}"


@dataclass(frozen=True)
class BillType:
    """One row of the bill table: a bill type's currency and value."""

    number: int
    currency: str
    digit: int
    zeros: int

    @property
    def cents(self) -> int | None:
        """Value in hundredths of the currency's unit; None if it has none in whole hundredths."""
        value = self.digit * 10 ** (self.zeros + 2)
        return int(value) if value == int(value) else None


def parse_status(data: bytes) -> DeviceStatus:
    """Raises ValueError if these aren't six bytes."""
    _check_size(data, STATUS_SIZE)
    return DeviceStatus(masked_types(data[:MASK_SIZE]), masked_types(data[MASK_SIZE:]))


def parse_identification(data: bytes) -> Identification:
    """Raises ValueError if these aren't 34 bytes."""
    _check_size(data, IDENTIFICATION_SIZE)
    asset = PART_SIZE + SERIAL_SIZE
    return Identification(_text(data[:PART_SIZE]), _text(data[PART_SIZE:asset]), data[asset:])


def parse_bill_table(data: bytes) -> dict[int, BillType]:
    """Return bill type → its row; rows with digit 0 are empty.

    Raises ValueError if these aren't 24 rows, or a value is beyond any bank note.
    """
    _check_size(data, TABLE_SIZE)
    rows = [_bill_type(number, data[number * TABLE_ROW :][:TABLE_ROW]) for number in range(BILL_TYPES)]
    rows = [row for row in rows if row.digit]
    if any(abs(row.zeros) > GREATEST_POWER for row in rows):
        raise ValueError(f"a bill table names a power of ten above {GREATEST_POWER}")
    return {row.number: row for row in rows}


def _bill_type(number: int, row: bytes) -> BillType:
    places = row[4] & ~DECIMALS
    return BillType(number, _text(row[1:4]), row[0], -places if row[4] & DECIMALS else places)


def _check_size(data: bytes, size: int) -> None:
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes where {size} belong")


def _text(data: bytes) -> str:
    return data.replace(b"\0", b" ").decode("ascii", "replace").strip()


def barcode_digits(payload: bytes) -> str | None:
    """Return the digits that a barcode's answer is made of, None for another payload."""
    # No state and no mask that means anything is made of two ASCII digits or more.
    digits = payload.rstrip(b"\0 ")
    return digits.decode("ascii") if len(digits) > 1 and digits.isdigit() else None


# Words


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def _hex(payload: bytes) -> str:
    """Bytes in hex, and what may be a voucher's number as masked digits."""
    parts = [part for part in _NUMBER.split(payload) if part]
    return " ".join(mask_number(p.decode("ascii")) if _NUMBER.fullmatch(p) else p.hex(" ") for p in parts)


def _named(number: int, names: type[IntEnum], otherwise: str) -> str:
    return _words(names(number).name) if number in names._value2member_map_ else f"{otherwise} {number:02x}"


def state_text(state: int, data: bytes = b"") -> str:
    """Return the words for a state and its data; an unknown byte is named by its value."""
    name = _named(state, State, "state")
    return f"{name} ({_detail(state, data)})" if data else name


def _detail(state: int, data: bytes) -> str:
    if state in WITH_BILL_TYPE:
        return type_text(data[0])
    if state == State.REJECTING:
        return reject_text(data[0])
    if state == State.FAILURE:
        return failure_text(data[0])
    return _hex(data)


def type_text(number: int) -> str:
    """Return the words for a bill type's number."""
    return "barcode" if number == BARCODE_TYPE else f"bill type {number}"


def reject_text(code: int) -> str:
    """Return the words for a reject reason."""
    return _named(code, RejectReason, "reason")


def failure_text(code: int) -> str:
    """Return the words for a failure code."""
    return _named(code, FailureCode, "failure")


def command_text(code: int) -> str:
    """Return the words for a command."""
    return _named(code, Command, "command")


def _types_text(bill_types: frozenset[int]) -> str:
    return "all" if len(bill_types) == BILL_TYPES else " ".join(map(str, sorted(bill_types))) or "none"


def frame_text(frame: Frame, to_board: bool) -> str:
    """Return the words for a frame of either direction; a barcode's digits are masked.

    Args:
        to_board: whether the host sent it.
    """
    return _command_words(frame) if to_board else _reply_words(frame)


def _command_words(frame: Frame) -> str:
    name, data = command_text(frame.code), frame.data
    if frame.code == Command.ENABLE_BILL_TYPES and len(data) == STATUS_SIZE:
        taken, held = masked_types(data[:MASK_SIZE]), masked_types(data[MASK_SIZE:])
        return f"{name}: {_types_text(taken)}; with escrow: {_types_text(held)}"
    if frame.code == Command.SET_SECURITY and len(data) == MASK_SIZE:
        return f"{name}: {_types_text(masked_types(data))}"
    return f"{name} ({_hex(data)})" if data else name


def _reply_words(frame: Frame) -> str:
    digits = barcode_digits(frame.payload)
    if digits is not None:
        return f"barcode {mask_number(digits)}"
    if frame.is_state:
        return state_text(frame.code, frame.data)
    if not frame.data:
        return _named(frame.code, Reply, "state")
    words = _ANSWERS.get(len(frame.payload))
    return words(frame.payload) if words else f"answer of {len(frame.payload)} bytes: {_hex(frame.payload)}"


def _status_words(payload: bytes) -> str:
    status = parse_status(payload)
    return f"enabled: {_types_text(status.enabled)}; high security: {_types_text(status.high_security)}"


def _table_words(payload: bytes) -> str:
    rows = parse_bill_table(payload).values()
    return "bill table: " + (", ".join(f"{row.number} {_value_text(row)}" for row in rows) or "empty")


def _value_text(row: BillType) -> str:
    return f"{row.digit * 10**row.zeros:g} {row.currency}".rstrip()


_ANSWERS: dict[int, Callable[[bytes], str]] = {
    STATUS_SIZE: _status_words,
    IDENTIFICATION_SIZE: lambda payload: parse_identification(payload).text,
    TABLE_SIZE: _table_words,
}

# What the bench asks of every protocol

WHO = encode(Command.IDENTIFICATION)
TELLS_SIGNATURE = True


def who_text(frame: Frame) -> str | None:
    """Return what an identification says, or that the device won't tell just now; None for another frame."""
    if frame.payload == bytes([Reply.ILLEGAL_COMMAND]):
        return f"{TITLE}, and no identification in its present state"
    is_answer = len(frame.payload) == IDENTIFICATION_SIZE
    return f"{TITLE} {parse_identification(frame.payload).text}" if is_answer else None


def frame_names(data: bytes, to_board: bool) -> list[str]:
    """Return the words for each frame in these bytes, which are all of one direction."""
    return [frame_text(frame, to_board) for frame in Decoder().feed(data)]

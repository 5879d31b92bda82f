"""ID-003 (JCM) seen from the host: frames, codes and the words for them.

`FC LEN CMD [data] CRClo CRChi`, LEN counts the whole frame, CRC-16/KERMIT over FC to the last data byte; 9600 8E1.
Commands and statuses share byte values, so which enumeration a byte belongs to depends on who sent it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import crcmod.predefined  # type: ignore[import-untyped]

from pitbench.framing import Framing
from pitbench.masking import mask_number
from pitbench.protocols.stream_decoder import StreamDecoder

TITLE = "ID-003"
FRAMING = Framing(9600, 8, "E", 1)
HINT = "Point a kiosk or slot machine at the wire."

SYNC = 0xFC
SHORTEST = 5
# LEN is a byte; nothing that is known of ID-003 is longer, and a damaged LEN must not swallow a second of traffic.
LONGEST = 128
GREATEST_POWER = 9

_crc = crcmod.predefined.mkCrcFun("kermit")


class Status(IntEnum):
    """First byte of a reply to a status request (device to host)."""

    IDLE = 0x11
    ACCEPTING = 0x12
    ESCROW = 0x13
    STACKING = 0x14
    VEND_VALID = 0x15
    STACKED = 0x16
    REJECTING = 0x17
    RETURNING = 0x18
    HOLDING = 0x19
    DISABLED = 0x1A
    INITIALISE = 0x1B
    POWER_UP = 0x40
    POWER_UP_BILL_IN_ACCEPTOR = 0x41
    POWER_UP_BILL_IN_STACKER = 0x42
    STACKER_FULL = 0x43
    STACKER_OPEN = 0x44
    JAM_IN_ACCEPTOR = 0x45
    JAM_IN_STACKER = 0x46
    PAUSE = 0x47
    CHEATED = 0x48
    FAILURE = 0x49
    COMMUNICATION_ERROR = 0x4A


class Reply(IntEnum):
    """Device to host, and not a status; ACK goes the other way too, to release a vend valid."""

    ENQ = 0x05
    INVALID_COMMAND = 0x4B
    ACK = 0x50
    SIGNATURE_BUSY = 0xDE
    SIGNATURE_END = 0xDF


class Command(IntEnum):
    """First byte of what the host sends."""

    STATUS_REQUEST = 0x11
    RESET = 0x40
    STACK_1 = 0x41
    STACK_2 = 0x42
    RETURN = 0x43
    HOLD = 0x44
    WAIT = 0x45
    ACK = 0x50
    GET_ENABLE = 0x80
    GET_SECURITY = 0x81
    GET_COMMUNICATION_MODE = 0x82
    GET_INHIBIT = 0x83
    GET_DIRECTION = 0x84
    GET_OPTIONS = 0x85
    GET_BARCODE = 0x86
    GET_BARCODE_INHIBIT = 0x87
    VERSION = 0x88
    BOOT_VERSION = 0x89
    CURRENCY_TABLE = 0x8A
    SET_ENABLE = 0xC0
    SET_SECURITY = 0xC1
    SET_COMMUNICATION_MODE = 0xC2
    SET_INHIBIT = 0xC3
    SET_DIRECTION = 0xC4
    SET_OPTIONS = 0xC5
    SET_BARCODE = 0xC6
    SET_BARCODE_INHIBIT = 0xC7
    PROGRAM_SIGNATURE = 0xDC


class EscrowCode(IntEnum):
    """First data byte of ESCROW: a slot of the currency table, or a barcode whose digits follow."""

    SLOT_1 = 0x61
    SLOT_2 = 0x62
    SLOT_3 = 0x63
    SLOT_4 = 0x64
    SLOT_5 = 0x65
    SLOT_6 = 0x66
    SLOT_7 = 0x67
    SLOT_8 = 0x68
    BARCODE = 0x6F


class RejectReason(IntEnum):
    """Data byte of REJECTING."""

    INSERTION = 0x71
    MAGNETIC = 0x72
    BILL_IN_HEAD = 0x73
    COMPENSATION = 0x74
    CONVEYING = 0x75
    DENOMINATION = 0x76
    PHOTO_PATTERN_1 = 0x77
    PHOTO_LEVEL = 0x78
    INHIBITED = 0x79
    OPERATION = 0x7B
    BILL_IN_STACKER = 0x7C
    LENGTH = 0x7D
    PHOTO_PATTERN_2 = 0x7E
    BARCODE_DOUBLE = 0x98
    BARCODE_UPSIDE_DOWN = 0x9B


class FailureCode(IntEnum):
    """Data byte of FAILURE."""

    STACK_MOTOR = 0xA2
    TRANSPORT_SPEED = 0xA5
    TRANSPORT_MOTOR = 0xA6
    ALIGNING_MOTOR = 0xA7
    CASH_BOX_NOT_READY = 0xAB
    HEAD_REMOVED = 0xAF
    BOOT_ROM = 0xB0
    EXTERNAL_ROM = 0xB1
    ROM = 0xB2
    EXTERNAL_ROM_WRITE = 0xB3


ACTIONS = frozenset({Command.RESET, Command.STACK_1, Command.STACK_2, Command.RETURN, Command.HOLD, Command.WAIT})
POWER_UPS = frozenset({Status.POWER_UP, Status.POWER_UP_BILL_IN_ACCEPTOR, Status.POWER_UP_BILL_IN_STACKER})
ERRORS = frozenset(Status(code) for code in range(Status.STACKER_FULL, Status.COMMUNICATION_ERROR + 1))


@dataclass(frozen=True)
class Frame:
    """A frame that passed its CRC. Its repr never shows a barcode whole, so that it may be logged."""

    cmd: int
    data: bytes = b""

    def __repr__(self) -> str:
        return f"Frame({self.cmd:02x} {masked_data(self.cmd, self.data)})".replace(" )", ")")

    @property
    def barcode(self) -> str | None:
        """The digits of an escrowed barcode, None for anything else."""
        is_barcode = self.cmd == Status.ESCROW and self.data[:1] == bytes([EscrowCode.BARCODE])
        return self.data[1:].decode("ascii", "replace") if is_barcode else None


def masked_data(cmd: int, data: bytes) -> str:
    """Return the data bytes in hex, a barcode as masked digits."""
    barcode = Frame(cmd, data).barcode
    return data.hex(" ") if barcode is None else f"6f {mask_number(barcode)}"


def encode(cmd: int, data: bytes = b"") -> bytes:
    """Return the bytes of a frame.

    Args:
        cmd: command or status, 0 to 255.
        data: at most LONGEST - 5 bytes.

    Raises ValueError if the data does not fit.
    """
    length = SHORTEST + len(data)
    if length > LONGEST:
        raise ValueError(f"{len(data)} data bytes do not fit into an ID-003 frame; at most {LONGEST - SHORTEST} do")
    body = bytes((SYNC, length, cmd)) + data
    return body + _crc(body).to_bytes(2, "little")


class Decoder(StreamDecoder[Frame]):
    """Finds frames in a stream of bytes, however it is cut, joined, damaged or padded.

    Counters: `good` frames, `damaged` ones (impossible length, wrong CRC, cut off), `skipped` bytes outside of frames.
    """

    def _seek(self) -> bool:
        """Bring the next SYNC to the front; true if a whole frame may stand there."""
        self._skip_to(self._held.find(SYNC))
        return len(self._held) >= 2 and (len(self._held) >= self._held[1] or not self._length_possible())

    def _length_possible(self) -> bool:
        return SHORTEST <= self._held[1] <= LONGEST

    def _take(self) -> Frame | None:
        length = self._held[1]
        if not self._length_possible() or _crc(bytes(self._held[:length])) != 0:
            self._drop_head()
            return None
        frame = Frame(self._held[2], bytes(self._held[3 : length - 2]))
        self._took(length)
        return frame


@dataclass(frozen=True)
class Denomination:
    """One slot of the currency table (command 8A): value is base × 10^power, country 1 is USD."""

    code: int
    country: int
    base: int
    power: int

    @property
    def cents(self) -> int:
        """Value in hundredths of the currency unit."""
        return self.base * 10**self.power * 100


def parse_currency_table(data: bytes) -> dict[int, Denomination]:
    """Return escrow code → denomination from the data of an 8A reply; slots with base 0 are empty.

    Raises ValueError if the data isn't whole blocks of four bytes, or a value is beyond any bank note.
    """
    if not data or len(data) % 4:
        raise ValueError(f"a currency table of {len(data)} bytes isn't made of 4-byte blocks")
    blocks = [Denomination(*data[at : at + 4]) for at in range(0, len(data), 4)]
    if any(block.power > GREATEST_POWER for block in blocks):
        raise ValueError(f"a currency table names a power of ten above {GREATEST_POWER}")
    return {block.code: block for block in blocks if block.base}


def _words(name: str) -> str:
    return name.lower().replace("_", " ")


def status_text(cmd: int, data: bytes = b"") -> str:
    """Return the words for a status and its code, barcodes masked; an unknown byte is named by its value."""
    name = _words(Status(cmd).name) if cmd in Status._value2member_map_ else f"status {cmd:02x}"
    return f"{name} ({_detail(cmd, data)})" if data else name


def _detail(cmd: int, data: bytes) -> str:
    if cmd == Status.REJECTING:
        return reject_text(data[0])
    if cmd == Status.FAILURE:
        return failure_text(data[0])
    return masked_data(cmd, data)


def reject_text(code: int) -> str:
    """Return the words for a reject reason."""
    if code in RejectReason._value2member_map_:
        return _words(RejectReason(code).name)
    return f"barcode, reason {code:02x}" if 0x91 <= code <= 0x9D else f"reason {code:02x}"


def failure_text(code: int) -> str:
    """Return the words for a failure code."""
    known = code in FailureCode._value2member_map_
    return _words(FailureCode(code).name) if known else f"failure {code:02x}"


def command_text(cmd: int) -> str:
    """Return the words for a command."""
    return _words(Command(cmd).name) if cmd in Command._value2member_map_ else f"command {cmd:02x}"


# What the bench asks of every protocol

WHO = encode(Command.VERSION)
TELLS_SIGNATURE = True


def who_text(frame: Frame) -> str | None:
    """Return the version text that a frame carries; None for another frame."""
    return frame.data.decode("ascii", "replace") if frame.cmd == Command.VERSION else None


def frame_names(data: bytes, to_board: bool) -> list[str]:
    """Return the name of each frame in these bytes, which are all of one direction."""
    names: type[IntEnum] = Command if to_board else Status
    return [code_name(frame.cmd, names) for frame in Decoder().feed(data)]


def code_name(number: int, names: type[IntEnum]) -> str:
    """Return a code's name among those of its direction; answers to commands carry the command's own number."""
    for known in (names, Reply, Command, Status):
        if number in known._value2member_map_:
            return _words(known(number).name)
    return f"{number:02x}"

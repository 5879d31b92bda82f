"""GAT (Game Authentication Terminal, GSA 3.50) seen from the host: frames, codes and the words for them.

`CMD LEN data CRChi CRClo`, LEN counts the whole frame, the CRC covers all that stands before it; 9600 8N1. A reply has
the command of its request with bit 7 set. No byte marks a start, so a frame is found by its command, LEN and CRC.
Numbers of more than one byte are sent high byte first, as the CRC is. docs/gat.md draws the frames.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

import crcmod  # type: ignore[import-untyped]

from pitbench.errors import PitbenchError, UnknownName
from pitbench.framing import Framing
from pitbench.protocols.stream_decoder import StreamDecoder

TITLE = "GAT"
FRAMING = Framing(9600, 8, "N", 1)
HINT = "Point a validation terminal at the wire, or try: pitbench gat status --wire {wire}"

SHORTEST = 4
LONGEST = 255
REPLY_BIT = 0x80
# A result is sent in pieces of at most this many bytes: status and a frame number of two bytes then fill LEN exactly.
PIECE = 248
LAST_NUMBER = 0xFFFF
# What a start frame holds beside its level.
LONGEST_PARAMETER = LONGEST - SHORTEST - 1
AGE_UNKNOWN = 0xFFFFFFFF
REPORT_LEVEL = 0x01
SPECIAL_LEVEL = 0xBA


class GatError(PitbenchError):
    """Base of what goes wrong between a GAT host and its device."""


@dataclass(frozen=True)
class Crc:
    """How a frame's CRC-16 is computed; neither polynomial nor seed is public in what was read.

    Args:
        polynomial: without its highest term.
        seed: what the register holds at first.
        reflected: whether bits go in lowest first.
        final: what the register is XORed with at last.
    """

    polynomial: int = 0x1021
    seed: int = 0
    reflected: bool = True
    final: int = 0

    def of(self, data: bytes) -> int:
        """Return the CRC of `data`, 0 to 65535."""
        return int(_crc_function(self)(data))


@functools.lru_cache(maxsize=16)
def _crc_function(crc: Crc) -> Callable[[bytes], int]:
    # crcmod wants the register's first value XORed with the last one.
    function: Callable[[bytes], int] = crcmod.mkCrcFun(
        0x10000 | crc.polynomial, crc.seed ^ crc.final, crc.reflected, crc.final
    )
    return function


CRCS = {
    "kermit": Crc(),
    "xmodem": Crc(reflected=False),
    "ccitt-false": Crc(seed=0xFFFF, reflected=False),
    "x-25": Crc(seed=0xFFFF, final=0xFFFF),
    "arc": Crc(polynomial=0x8005),
    "modbus": Crc(polynomial=0x8005, seed=0xFFFF),
}
KERMIT = CRCS["kermit"]


def crc_named(text: str) -> Crc:
    """Return the CRC that a person names: `kermit`, or with another seed in hex `kermit:1d0f`.

    Raises UnknownName, GatError.
    """
    name, colon, seed = text.partition(":")
    if name not in CRCS:
        raise UnknownName("CRC", name, list(CRCS))
    if not colon:
        return CRCS[name]
    if not re.fullmatch("[0-9A-Fa-f]{1,4}", seed):
        raise GatError(f"'{seed}' is no seed of a CRC.", "Write up to four hex digits, as in kermit:ffff.")
    return replace(CRCS[name], seed=int(seed, 16))


class Command(IntEnum):
    """First byte of what the host sends; the reply's is the same with bit 7 set."""

    STATUS = 0x01
    LAST = 0x02
    RESULTS = 0x03
    START = 0x04


REQUESTS = frozenset(int(command) for command in Command)
REPLIES = frozenset(command | REPLY_BIT for command in REQUESTS)


class State(IntEnum):
    """Status byte of a status reply."""

    REQUESTED = 0x01
    IDLE = 0x04
    DONE = 0x06
    CALCULATING = 0x09
    ERROR = 0x0C


class Format(IntEnum):
    """How a result is written."""

    TEXT = 1
    XML = 2


# Bits of a start reply; LEVEL_ERROR outweighs the others.
ACKNOWLEDGED, STARTED, LEVEL_ERROR = 0x01, 0x02, 0x04
# Bits of a results reply. A frame that there isn't, or not in this format, is refused in two ways: 04 by our device,
# and 01 or 03 (error, last) by others.
PIECE_ERROR, LAST_PIECE, REFUSED = 0x01, 0x02, 0x04


@dataclass(frozen=True)
class Frame:
    """A frame that passed its CRC."""

    cmd: int
    data: bytes = b""


def encode(cmd: int, data: bytes = b"", crc: Crc = KERMIT) -> bytes:
    """Return the bytes of a frame.

    Args:
        cmd: 0 to 255.
        data: at most LONGEST - 4 bytes.

    Raises ValueError if the data does not fit.
    """
    length = SHORTEST + len(data)
    if length > LONGEST:
        raise ValueError(f"{len(data)} data bytes do not fit into a GAT frame; at most {LONGEST - SHORTEST} do")
    body = bytes((cmd, length)) + data
    return body + crc.of(body).to_bytes(2, "big")


class Decoder(StreamDecoder[Frame]):
    """Finds frames in a stream of bytes, however it is cut, joined, damaged or padded.

    Counters: `received` bytes, `good` frames, `damaged` ones (impossible length, wrong CRC, cut off), `skipped` bytes
    that begin no frame.

    Args:
        commands: first bytes that a frame may have, REPLIES on the host's side.
    """

    def __init__(self, commands: frozenset[int] = REPLIES, crc: Crc = KERMIT) -> None:
        super().__init__()
        self._commands = commands
        self._crc = crc

    def _seek(self) -> bool:
        """Bring the next possible start to the front; true if a whole frame may stand there."""
        starts = (at for at, byte in enumerate(self._held) if byte in self._commands)
        self._skip_to(next(starts, -1))
        return len(self._held) >= 2 and (len(self._held) >= self._held[1] or self._held[1] < SHORTEST)

    def _take(self) -> Frame | None:
        length = self._held[1]
        body, sent = bytes(self._held[: length - 2]), bytes(self._held[length - 2 : length])
        if length < SHORTEST or self._crc.of(body).to_bytes(2, "big") != sent:
            self._drop_head()
            return None
        self._took(length)
        return Frame(body[0], body[2:])


# What requests carry


def results_data(form: int, number: int) -> bytes:
    """Return the data of a results request: format, then frame number from 1 (two bytes)."""
    return struct.pack(">BH", form, number)


def special_parameter(*words: str) -> bytes:
    """Return the parameter of a special function (level BA): `00`, then name and arguments with TABs between.

    Raises GatError if a word isn't plain ASCII, holds a control character, or the whole doesn't fit into one frame.
    """
    for word in words:
        if not (word.isascii() and word.isprintable()):
            raise GatError(f"{word!r} can't be sent over GAT.", "Use plain ASCII without TABs or line ends.")
    parameter = b"\0" + "\t".join(words).encode("ascii")
    if len(parameter) > LONGEST_PARAMETER:
        raise GatError(
            f"The special function '{words[0]}' with its arguments has {len(parameter) - 1} bytes, and a frame holds "
            f"{LONGEST_PARAMETER - 1}.",
            "Take a shorter name or seed.",
        )
    return parameter


# What replies carry


@dataclass(frozen=True)
class GatStatus:
    """Data of an 81 reply: version in BCD (03 50 is 3.50), status byte, format of the result."""

    version: bytes
    state: int
    format: int

    @property
    def version_text(self) -> str:
        return f"{self.version[0]:x}.{self.version[1]:02x}"


@dataclass(frozen=True)
class LastCalculation:
    """Data of an 82 reply: level of the last calculation, and how many seconds ago it ended (None: unknown)."""

    level: int
    age_s: int | None

    @property
    def when(self) -> str:
        """Words for its age."""
        return "at an unknown time" if self.age_s is None else f"{self.age_s} s ago"


@dataclass(frozen=True)
class Piece:
    """Data of an 83 reply: status bits, frame number from 1, the result's bytes."""

    status: int
    number: int
    data: bytes

    @property
    def last(self) -> bool:
        return bool(self.status & LAST_PIECE)

    @property
    def refused(self) -> bool:
        return bool(self.status & (REFUSED | PIECE_ERROR))


def parse_status(data: bytes) -> GatStatus:
    """Raises ValueError if these aren't four bytes."""
    return GatStatus(*struct.unpack(">2sBB", _sized(data, 4)))


def parse_last(data: bytes) -> LastCalculation:
    """Raises ValueError if these aren't five bytes."""
    level, age_s = struct.unpack(">BI", _sized(data, 5))
    return LastCalculation(level, None if age_s == AGE_UNKNOWN else age_s)


def parse_piece(data: bytes) -> Piece:
    """Raises ValueError if these are fewer than three bytes."""
    if len(data) < 3:
        raise ValueError(f"{len(data)} data bytes where at least 3 belong")
    status, number = struct.unpack(">BH", data[:3])
    return Piece(status, number, data[3:])


def parse_started(data: bytes) -> int:
    """Return the status bits of a start reply. Raises ValueError if these aren't one byte."""
    return _sized(data, 1)[0]


def _sized(data: bytes, size: int) -> bytes:
    if len(data) != size:
        raise ValueError(f"{len(data)} data bytes where {size} belong{'' if size > 1 else 's'}")
    return data


def state_text(state: int) -> str:
    """Return the words for a status byte; an unknown one is named by its value."""
    return State(state).name.lower() if state in State._value2member_map_ else f"status {state:02x}"


def format_text(form: int) -> str:
    """Return the words for a format; an unknown one is named by its value."""
    names = {Format.TEXT: "text", Format.XML: "XML"}
    return names[Format(form)] if form in Format._value2member_map_ else f"format {form:02x}"


def frame_text(frame: Frame) -> str:
    """Return the words for a sound frame of either direction; one of another layout is named by its command."""
    try:
        return _WORDS[frame.cmd](frame.data)
    except (KeyError, ValueError, IndexError, struct.error):
        return f"{frame.cmd:02x}"


def _results_asked(data: bytes) -> str:
    form, number = struct.unpack(">BH", data)
    return f"result frame {number} as {format_text(form)}?"


def _start_asked(data: bytes) -> str:
    level, parameter = data[0], data[1:]
    words = parameter[1:].decode("ascii", "replace").replace("\t", " ") if level == SPECIAL_LEVEL else parameter.hex()
    return f"start level {level:02x} {words}".rstrip()


def _status_said(data: bytes) -> str:
    status = parse_status(data)
    return f"{state_text(status.state)}, {format_text(status.format)}"


def _last_said(data: bytes) -> str:
    last = parse_last(data)
    return f"last level {last.level:02x}, {last.when}" if last.level else "last level none"


def _piece_said(data: bytes) -> str:
    piece = parse_piece(data)
    return f"result frame {piece.number}" + (", refused" if piece.refused else ", last" if piece.last else "")


def _started_said(data: bytes) -> str:
    bits = parse_started(data)
    if bits & LEVEL_ERROR:
        return "level error"
    return "started" if bits & STARTED else "acknowledged" if bits & ACKNOWLEDGED else "not started"


_WORDS: dict[int, Callable[[bytes], str]] = {
    Command.STATUS: lambda data: "status?",
    Command.LAST: lambda data: "last calculation?",
    Command.RESULTS: _results_asked,
    Command.START: _start_asked,
    Command.STATUS | REPLY_BIT: _status_said,
    Command.LAST | REPLY_BIT: _last_said,
    Command.RESULTS | REPLY_BIT: _piece_said,
    Command.START | REPLY_BIT: _started_said,
}

# What the bench asks of every protocol

WHO = encode(Command.STATUS)
TELLS_SIGNATURE = False


def who_text(frame: Frame) -> str | None:
    """Return what a status reply says; None for another frame."""
    return f"GAT {frame_text(frame)}" if frame.cmd == Command.STATUS | REPLY_BIT else None


def frame_names(data: bytes, to_board: bool) -> list[str]:
    """Return the words for each frame in these bytes, which are all of one direction."""
    return [frame_text(frame) for frame in Decoder(REQUESTS if to_board else REPLIES).feed(data)]

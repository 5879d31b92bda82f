"""What a bench says to a bill acceptor and hears from it, in ID-003's words, on whatever wire the acceptor has.

ID-003 has the richest vocabulary, so the suites use its words: a speech says them on its wire, NAME.py for the wire
NAME, and tells the answers in them. What the wire has no word for is never made up: a stimulus that can't be said skips
the test by that reason, and an observation that isn't told is noted instead of judged (`Unsaid`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NoReturn

import pytest
from pitbench.protocols import protocol_named
from pitbench.protocols.id003 import Command, Denomination, Frame, Status, command_text, status_text

# Answers follow each other within this time, in seconds.
LATE_S = 0.05
# What a wire without a word for a setting always has.
USUAL = {
    Command.SET_ENABLE: b"\0\0",
    Command.SET_SECURITY: b"\0\0",
    Command.SET_COMMUNICATION_MODE: b"\0",
    Command.SET_DIRECTION: b"\0",
    Command.SET_OPTIONS: b"\0\0",
    Command.SET_BARCODE: b"\x01\x12",
    Command.SET_BARCODE_INHIBIT: b"\0",
}


@dataclass(frozen=True)
class Words:
    """Which statuses a wire tells.

    Args:
        alike: sets of statuses that it doesn't tell apart.
        untold: statuses that it never tells.
    """

    alike: tuple[frozenset[Status], ...] = ()
    untold: frozenset[Status] = frozenset()

    def told(self, status: int) -> bool:
        """Whether the wire ever tells it, alone or as one of several."""
        return status not in self.untold

    def any_of(self, status: int) -> frozenset[int]:
        """Every status that the wire tells as it tells this one."""
        return next((one for one in self.alike if status in one), frozenset({status}))

    def as_told(self, status: int) -> int:
        """One status that stands for all that are told alike."""
        return min(self.any_of(status))


class Unsaid:
    """Stands where the wire tells nothing: noted by `check.expect`; whoever needs it for more is skipped.

    Args:
        why: "EBDS tells no reason of a rejection".
    """

    def __init__(self, why: str) -> None:
        self.why = why

    def _needed(self, *_: object) -> NoReturn:
        pytest.skip(f"needs more than this wire tells: {self.why}")

    __eq__ = __ne__ = __bool__ = __int__ = __index__ = __getitem__ = __iter__ = __hash__ = _needed  # type: ignore

    def __repr__(self) -> str:
        return self.why

    def __format__(self, _: str) -> str:
        return self.why


class UnsaidData(Unsaid, bytes):
    """The data of a status whose code or number the wire doesn't tell."""

    def __new__(cls, why: str) -> UnsaidData:
        return bytes.__new__(cls)


class UnsaidReply(Unsaid, int):
    """The answer to a command that the wire doesn't answer for itself."""

    def __new__(cls, why: str) -> UnsaidReply:
        return int.__new__(cls)


class Speech:
    """Base of every wire's speech.

    Args:
        bench: gives `send(bytes)`, `receive(seconds)`, which returns the wire's own frames, and counts `enqs`.
    """

    wire = ""
    words = Words()
    # What a host may ask in every state without moving anything: command, data, the answers that it may get.
    reads: tuple[tuple[int, bytes, tuple[int, ...]], ...] = ()
    # Commands that the wire has no word for.
    unsaid: frozenset[int] = frozenset()
    # What a device tells that was reset and has no settings: at first, and from its self-test on.
    unset: tuple[Status, ...] = (Status.INITIALISE,)
    # What a device tells of an item whose time in escrow ran out.
    overdue: Status = Status.REJECTING
    # Whether vouchers and coupons are switched off each by itself.
    papers_apart = True
    # Bits of the signature.
    signature_bits = 16
    # Whether the signature is computed when it is asked for; else it is the one of the start.
    signs_anew = True
    # Whether whatever is said to a device that told of its power-up is its reset.
    resets_by_any = False
    # Whether our host sets anew what somebody else set.
    host_restores = False
    # Codes that are no command, neither of ID-003 nor of the wire.
    unknown: tuple[int, ...] = (0x4F, 0x00, 0x10, 0x46, 0x51, 0x8F, 0xC8, 0xFF)
    # Whether barcodes of every length can be let in.
    any_length = True
    # Whether a power-up is told once, and with it ends.
    starts_once = False
    # Whether to look at what is in escrow is to hold it there.
    looks_by_holding = False
    # Whether sequence and key are one host's, so that nobody else can say a word in between.
    one_host = False
    # Whether a credit is told to whoever asks until somebody knows of it; else it is history to a host without memory.
    tells_anew = True
    # Whether the device can be told to announce news by itself.
    announces = False

    def __init__(self, bench: Any) -> None:
        self.bench = bench
        # Bytes that crossed the line in the last exchange, both ways.
        self.line_bytes = 0

    @property
    def title(self) -> str:
        """The protocol's name for people."""
        return protocol_named(self.wire).TITLE

    def exchange(self, command: int, data: bytes = b"") -> Frame | None:
        """Say a command and return what the device answers, in ID-003's words; None if it was silent."""
        raise NotImplementedError

    def say(self, command: int, data: bytes = b"") -> None:
        """Say a command and leave its answer on the line."""
        self.bench.send(self.native(command, data))

    def native(self, command: int, data: bytes = b"") -> bytes:
        """The bytes that say a command, as they would be sent next. Skips where the wire has none of its own."""
        self.unsayable(f"{command_text(command)} in one frame")

    def ack(self) -> None:
        """Acknowledge a credit; the device is told, or tells the next news when it is asked again."""
        raise NotImplementedError

    def announced(self) -> bool:
        """Whether the device announced news since the last exchange; only ID-003's interrupt mode does."""
        return False

    def forget(self) -> None:
        """The device started anew."""

    def overhear(self, data: bytes) -> None:
        """Bytes go to the wire, the speech's own and others'."""

    def quiet(self) -> bool:
        """Take in all late answers: what is asked next is answered next. False if nothing answers any more."""
        while self.bench.receive(LATE_S) is not None:
            pass
        return self.exchange(Command.STATUS_REQUEST) is not None

    def misshapen(self, frame: bytes) -> list[bytes]:
        """A frame made wrong in ways of the protocol's own: lengths that it hasn't got, checksums half right."""
        raise NotImplementedError

    def begun(self) -> bytes:
        """The first bytes of a frame that says it is longer than what will follow."""
        raise NotImplementedError

    def no_acknowledgements(self) -> list[list[bytes]]:
        """Frames, one after the other, that look like an acknowledgement of a credit and are none."""
        return []

    def every(self) -> Iterator[bytes]:
        """A frame of every command code, with several data each, but those that only ask for the status."""
        raise NotImplementedError

    def obeyed(self, answer: Any) -> bool:
        """Whether an answer says that a command was obeyed; False where the wire doesn't tell of a refusal."""
        return False

    def version(self) -> Any:
        """What the device says that it is, "" for nothing; Unsaid where the wire has no question for it."""
        return Unsaid(f"{self.title} tells no version")

    def signature(self) -> Any:
        """The image's CRC as the wire tells it, Unsaid where it doesn't. Raises Unreached."""
        return Unsaid(f"{self.title} tells no signature")

    def table(self) -> dict[int, Denomination]:
        """Escrow code → denomination, as the device tells it. Raises Unreached; skips where the wire has no table."""
        self.unsayable("the table of denominations")

    def owed(self, frame: bytes) -> bool:
        """Whether the device owes an answer to a host's frame; to a damaged one it doesn't."""
        raise NotImplementedError

    def answers(self, frame: bytes) -> bool:
        """Whether a device's frame answers a host's, and isn't news that it sent by itself."""
        return True

    def complains(self, frame: Any) -> bool:
        """Whether a device's frame says nothing but that it got a damaged one."""
        return False

    def usual(self, command: int, data: bytes) -> Frame:
        """A setting that the wire has no word for, as it always is there. Skips for any other value."""
        if command not in USUAL or USUAL[Command(command)] != data:
            self.unsayable(f"{command_text(command)} {data.hex()}".rstrip())
        return Frame(command, data)

    @property
    def directions(self) -> tuple[int, ...]:
        """Orientations to refuse in turn, a bit each, as far as the wire can say that."""
        return (0b0000, 0b0101, 0b1010) if self.sayable(Command.SET_DIRECTION) else (0b0000,)

    def sayable(self, *commands: int) -> list[int]:
        """Those of the commands that the wire has a word for."""
        return [command for command in commands if command not in self.unsaid]

    def unsayable(self, what: str) -> NoReturn:
        """Skip the running test: the wire has no way to say this."""
        pytest.skip(f"needs a wire that can say {what}: {self.title} can't")


def unless_unsaid(value: Any, look: Callable[[Any], Any]) -> Any:
    """What `look` makes of a value, or the value where the wire doesn't tell it."""
    return value if isinstance(value, Unsaid) else look(value)


@cache
def speech_class(wire: str) -> type[Speech]:
    """The speech of a wire, by the name that an identity gives it."""
    return import_module(f"{__name__}.{wire}").Speech  # type: ignore[no-any-return]


def words_of(wire: str) -> Words:
    """Which statuses a wire tells; all of them where it isn't an acceptor's."""
    try:
        return speech_class(wire).words
    except ModuleNotFoundError:
        return Words()


def unsaid_in(value: Any) -> Unsaid | None:
    """What a value, or a list of them, has that the wire doesn't tell."""
    if isinstance(value, Unsaid):
        return value
    if isinstance(value, list | tuple):
        return next((found for one in value if (found := unsaid_in(one)) is not None), None)
    return None


def as_told(value: Any, words: Words) -> Any:
    """A value with every status in it as the wire tells it; `value` holds codes of the wire."""
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(as_told(one, words) for one in value)
    is_status = isinstance(value, int) and not isinstance(value, bool) and value in Status._value2member_map_
    return Status(words.as_told(value)) if is_status and words.alike else value


def untold_in(value: Any, words: Words) -> str:
    """The name of a status in a value that the wire never tells, "" for none."""
    if isinstance(value, list | tuple | set | frozenset):
        return next((name for one in value if (name := untold_in(one, words))), "")
    return status_text(value) if isinstance(value, Status) and not words.told(value) else ""

"""What a kiosk asks of the host (master) of any bill acceptor's wire.

An acceptor is spoken of in ID-003's words, because ID-003 has the richest vocabulary: the host of another wire
translates from its own frames and into them. A host is sans-IO; it never sleeps, and knows no port.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

from pitbench.errors import UnknownName
from pitbench.protocols import names
from pitbench.protocols.id003 import Command, Denomination


@dataclass(frozen=True)
class StatusSeen:
    """The device said this; `status` is an int where it has no name (ID-003's byte), `data` as ID-003 has it."""

    status: int
    data: bytes = b""


@dataclass(frozen=True)
class TableRead:
    """The table of denominations arrived: escrow code → denomination."""

    table: dict[int, Denomination]


@dataclass(frozen=True)
class VersionRead:
    """The device told what it is."""

    text: str


@dataclass(frozen=True)
class Refused:
    """A read or a setting, in words, was refused or answered wrongly for good."""

    what: str
    why: str


HostEvent = StatusSeen | TableRead | VersionRead | Refused


class FrameDecoder(Protocol):
    """Finds the frames of a device in a stream of bytes, damaged or not."""

    def feed(self, data: bytes) -> Sequence[Any]:
        """Take received bytes; return the frames that they complete."""

    def gap(self) -> Sequence[Any]:
        """The line fell silent: return good frames that stood behind an unfinished one, which is dropped."""


class AcceptorHost(Protocol):
    """Master of one acceptor.

    Attributes: `status` (the last one heard, ID-003's byte), `table` (escrow code → denomination, None while it is
    unknown), `polls_only` (the kiosk can't make its decisions durable just now: nothing but polls may leave).
    """

    status: int | None
    table: dict[int, Denomination] | None
    polls_only: bool

    @property
    def decoder(self) -> FrameDecoder:
        """The decoder of what its device sends."""

    @property
    def ready(self) -> bool:
        """True once the table is known, and every setting confirmed or given up."""

    def command(self, command: Command) -> None:
        """Send STACK_1, STACK_2, RETURN, HOLD or WAIT next, as far as the wire has it; the next status withdraws it."""

    def acknowledge(self) -> None:
        """The credit that stands is durable: tell the device, where the wire has an acknowledgement."""

    def reset(self) -> None:
        """Reset the device once it reports an error, or rests; kept until it is done."""

    def inhibit(self, inhibited: bool) -> None:
        """Want acceptance off or on."""

    def take(self, codes: frozenset[int]) -> None:
        """Want exactly the notes of these escrow codes to be taken."""

    def silent(self, now_ms: int) -> bool:
        """Whether nothing was heard for the set time."""

    def next_frame(self, now_ms: int) -> bytes | None:
        """Return the bytes to send now, None for nothing. `now_ms` (ms) never goes backwards."""

    def received(self, frame: Any, now_ms: int) -> Sequence[HostEvent]:
        """Take one frame of the device; return what it means, in order."""


class MarkingHost(AcceptorHost, Protocol):
    """Master of an acceptor whose wire has no acknowledgement: what was told is known by a mark, which outlives it."""

    @property
    def mark(self) -> str | None:
        """What the next life must know of what was told so far; None before the device was heard."""

    def resume(self, mark: str) -> None:
        """Go on where an earlier life ended; before anything is received. Raises ValueError for what is no mark."""


def marking(host: AcceptorHost) -> MarkingHost | None:
    """The host as one that keeps a mark; None where its wire needs none."""
    return cast(MarkingHost, host) if hasattr(host, "mark") else None


class HostModule(Protocol):
    """What the module NAME_host.py of an acceptor's wire has."""

    @property
    def Settings(self) -> Callable[..., Any]:
        """How a host talks: `poll_ms`, `reply_ms`, `silent_ms` and what else its wire knows, each with a default."""

    @property
    def Host(self) -> Callable[..., AcceptorHost]:
        """A new host, of settings or of the usual ones: `Host()`, `Host(Settings(poll_ms=200))`."""


@cache
def host_names() -> tuple[str, ...]:
    """The wires on which a kiosk can be the host of an acceptor."""
    return tuple(name for name in names() if hasattr(_module(name), "Host"))


def host_module(name: str) -> HostModule:
    """Host and settings of an acceptor's wire. Raises UnknownName."""
    module = _module(name) if name in names() else None
    if not hasattr(module, "Host"):
        raise UnknownName("wire of a kiosk", name, list(host_names()))
    return cast(HostModule, module)


def _module(name: str) -> Any:
    full = f"pitbench.protocols.{name}_host"
    return import_module(full) if find_spec(full) else None

"""What runs on a board: pitbench's firmware, a MicroPython prompt, or something that answers neither.

Looking interrupts nothing: no Ctrl-C is sent, so a program of somebody else's goes on.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from pitbench.deadline import Deadline
from pitbench.link import DamagedLine, LineSplitter, decode_line, encode_line
from pitbench.transport import PortBusy, PortDenied, Transport, TransportError, open_transport

FIRMWARE = "pitbench"
PROMPT = "MicroPython prompt"
SILENT = "no answer"
BUSY = "busy"
DENIED = "no permission"
GONE = "gone"

HELLO_S = 0.8
PROMPT_S = 0.5
# The last time: a slow board takes the digest of its image before it answers.
LAST_S = 2.5
QUIET_S = 1.0
# Ctrl-B leaves a raw REPL that a dead program left behind; at a prompt it only prints the banner again.
TO_PROMPT = b"\r\x02\r\n"
PROMPT_MARK = b">>> "


@dataclass(frozen=True)
class Running:
    """What was found on a port.

    Args:
        kind: one of FIRMWARE, PROMPT, SILENT, BUSY, DENIED, GONE.
        identity: what firmware said of itself in hello, else empty.
        why: sentence for a person where the port could not be asked.
    """

    kind: str
    identity: dict[str, Any] = field(default_factory=dict)
    why: str = ""


def what_runs(port: str) -> Running:
    """Look what runs behind a port. Never raises: what is wrong with the port is in the answer."""
    try:
        with open_transport(port) as transport:
            return what_answers(transport)
    except PortBusy as error:
        return Running(BUSY, why=str(error))
    except PortDenied as error:
        return Running(DENIED, why=str(error))
    except TransportError as error:
        return Running(GONE, why=str(error))


def what_answers(transport: Transport) -> Running:
    """The same on a port that is open already. Raises TransportGone, TransportStuck."""
    transport.flush_input()
    transport.write(_hello())
    found = _listen(transport, Deadline(HELLO_S))
    for question, seconds in ((TO_PROMPT, PROMPT_S), (_hello(), LAST_S)):
        if found.kind == SILENT:
            transport.write(question)
            found = _listen(transport, Deadline(seconds))
            # What slow firmware thinks of the other questions is no answer to the next one.
            _drain(transport, found)
    return found


def _drain(transport: Transport, found: Running) -> None:
    while found.kind == FIRMWARE and transport.read(QUIET_S):
        pass


def _listen(transport: Transport, deadline: Deadline) -> Running:
    splitter, seen = LineSplitter(), b""
    while not deadline.passed:
        data = transport.read(deadline.remaining)
        seen += data
        for line in splitter.feed(data):
            if identity := _identity(line):
                return Running(FIRMWARE, identity)
        if PROMPT_MARK in seen:
            return Running(PROMPT)
    return Running(SILENT)


def _hello() -> bytes:
    return encode_line({"id": 0, "do": "hello", "session": secrets.randbits(32)})


def _identity(line: bytes) -> dict[str, Any]:
    # Any session's: a slow board answers the hello before this one.
    try:
        told = decode_line(line).get("ok", {})
    except DamagedLine:
        return {}
    return told if isinstance(told, dict) and "device" in told else {}

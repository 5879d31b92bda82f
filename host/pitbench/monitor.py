"""What a board does, as lines for a person: events and state over its link, or the text of a MicroPython prompt.

Nothing is changed on the board. It may restart under another port name: it is found again by its USB serial number.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from pitbench.errors import PitbenchError
from pitbench.event_watch import event_line
from pitbench.link import BoardRebooted, LinkClient, LinkError, LinkTimeout
from pitbench.probing import FIRMWARE, Running, what_answers
from pitbench.transport import PortAbsent, Transport, TransportError, TransportGone, open_transport
from pitbench.usb_ports import PortFinder

LOOK_EVERY_S = 0.5
READ_S = 0.5


def watch(find: PortFinder, stopped: threading.Event) -> Iterator[str]:
    """Yield lines about the board that `find` finds, until `stopped` is set.

    Raises TransportError when its port can't be opened the first time, PitbenchError when it isn't there.
    """
    port = find()
    if port is None:
        raise PitbenchError("The board is not plugged in.", "`pitbench boards` shows what is.")
    known, there = False, True
    while not stopped.is_set():
        try:
            for line in _while_there(port, stopped):
                known = there = True
                yield line
        except TransportError as error:
            if not known:
                raise
            if there and isinstance(error, TransportGone | PortAbsent):
                there = False
                yield f"{port} is gone; waiting for the board"
        port = _await(find, stopped) or port


def _while_there(port: str, stopped: threading.Event) -> Iterator[str]:
    with open_transport(port) as transport:
        found = what_answers(transport)
        yield f"{port}: {_described(found)}"
        lines = _link_lines if found.kind == FIRMWARE else _text_lines
        yield from lines(transport, stopped)


def _described(found: Running) -> str:
    if found.kind != FIRMWARE:
        return f"{found.kind}; what it writes follows"
    told = found.identity
    return f"pitbench {told.get('version')}, {told.get('device')}, boot {told.get('boot')} ({told.get('reset')})"


def _link_lines(transport: Transport, stopped: threading.Event) -> Iterator[str]:
    link, after, state = LinkClient(transport), 0, None
    yield from _refusal(link.hello())
    while not stopped.wait(LOOK_EVERY_S):
        try:
            page, status = link.do("events", after=after), link.do("status")
        except BoardRebooted as error:
            yield f"restarted ({error.reset}): boot {error.before} became {error.boot}"
            after = 0
            continue
        except (LinkError, LinkTimeout) as error:
            yield str(error)
            return
        yield from ["… some events were missed"] if page.get("gap") else []
        yield from (event_line(event) for event in page["events"])
        after = page["events"][-1][0] if page["events"] else after
        if (shown := _state(status)) != state:
            state = shown
            yield shown


def _refusal(identity: dict[str, Any]) -> list[str]:
    return [f"inoperable: {identity['inoperable']}"] if identity.get("inoperable") else []


def _state(status: dict[str, Any]) -> str:
    return f"state {status.get('state')}, light {status.get('light')}: {status.get('message')}"


def _text_lines(transport: Transport, stopped: threading.Event) -> Iterator[str]:
    rest = b""
    while not stopped.is_set():
        *lines, rest = (rest + transport.read(READ_S)).split(b"\n")
        yield from (line.decode("utf-8", "replace").rstrip("\r") for line in lines)


def _await(find: Callable[[], str | None], stopped: threading.Event) -> str | None:
    while not stopped.wait(LOOK_EVERY_S):
        if port := find():
            return port
    return None

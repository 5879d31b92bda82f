"""A board that comes back after a restart, under whatever name its port then has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.transport import Transport, TransportError, open_transport
from pitbench.usb_ports import PortFinder

LOOK_EVERY_S = 0.1

Answer = TypeVar("Answer")


class NotBack(PitbenchError):
    """A board that did not come back in time."""


def reopened(find: PortFinder, deadline: Deadline, ask: Callable[[Transport], Answer | None]) -> tuple[Answer, str]:
    """Open the board's port, wherever it is by now, until `ask` gets an answer from it; the answer and the port.

    Raises NotBack at the deadline, with the last reason.
    """
    never, why = threading.Event(), "its port is gone"
    while not deadline.passed:
        port = find()
        try:
            if port:
                with open_transport(port) as transport:
                    if (answer := ask(transport)) is not None:
                        return answer, port
                why = f"nothing answers on {port}"
        except TransportError as error:
            why = error.sentence.rstrip(".")
        # The system tells nobody in a portable way that a port is there again.
        never.wait(min(LOOK_EVERY_S, deadline.remaining))
    raise NotBack(f"The board did not come back in time: {why}.", "Unplug it, plug it in, and look at it again.")

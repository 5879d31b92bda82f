"""A port that is opened again, wherever it is by then, after a restart took it away."""

from __future__ import annotations

import threading

from pitbench.addresses import USB, port_of
from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.framing import Framing
from pitbench.returning import LOOK_EVERY_S, NotBack
from pitbench.transport import SerialTransport, TraceSink, TransportGone, open_transport
from pitbench.usb_ports import finder


class FoundPort:
    """A transport to one place; `open_again` finds it under a new name.

    Args:
        place: `usb:SERIAL`, path or URL; a path is followed by the USB serial number that it has now.
        name, framing, trace: as `open_transport` takes them.

    Raises: TransportError of many kinds, PitbenchError.
    """

    def __init__(self, place: str, name: str, framing: Framing, trace: TraceSink | None = None) -> None:
        self.name = name
        self._framing, self._trace = framing, trace
        self.url = port_of(place)
        self._find = (lambda: port_of(place)) if place.startswith(USB) else finder(self.url)
        self._port = self._open(self.url)

    def read(self, timeout: float) -> bytes:
        """As a transport's."""
        return self._port.read(timeout)

    def write(self, data: bytes) -> None:
        """As a transport's."""
        self._port.write(data)

    def flush_input(self) -> None:
        """As a transport's."""
        self._port.flush_input()

    def close(self) -> None:
        """As a transport's."""
        self._port.close()

    def open_again(self, deadline: Deadline) -> None:
        """Open it anew if it went away, as soon as it is there. Raises NotBack at the deadline, with the reason."""
        if not self._gone():
            return
        self._port.close()
        never, why = threading.Event(), "its port is gone"
        while not deadline.passed:
            try:
                if url := self._find():
                    self._port, self.url = self._open(url), url
                    return
            except PitbenchError as error:
                why = error.sentence.rstrip(".")
            # The system tells nobody in a portable way that a port is there again.
            never.wait(min(LOOK_EVERY_S, deadline.remaining))
        raise NotBack(f"The {self.name} port did not come back in time: {why}.", "Look at the cable and the board.")

    def __enter__(self) -> FoundPort:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self, url: str) -> SerialTransport:
        return open_transport(url, name=self.name, framing=self._framing, trace=self._trace)

    def _gone(self) -> bool:
        try:
            self._port.flush_input()
        except TransportGone:
            return True
        return False

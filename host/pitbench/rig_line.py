"""The lines between a real board and its rig: on a serial port, what a virtual board's supervisor does for that one.

The board asks `world?` when it starts, and is told the store fault that was ordered for that start, and where paper and
doors were left. It tells its world at every edge, and asks for its power to be cut. A release image drives its outputs,
and sound parts answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from pitbench.errors import PitbenchError
from pitbench.link import LineSplitter
from pitbench.transport import Transport
from pitbench.virtual.surroundings import Surroundings, adc

LOOK_S = 0.1
# The whole world of a plant as JSON, and room.
LINE_LIMIT = 4096


class RigLine:
    """A thread that listens on the rig's port until it is closed.

    Args:
        port: open, at the board's own speed; this object closes it.
        cut: called when the board asks for its power to be cut.

    `around` is what the board is told at its starts.
    """

    def __init__(self, port: Transport, cut: Callable[[], None]) -> None:
        self._port = port
        self._cut = cut
        self.around = Surroundings()
        self._stopping = threading.Event()
        self._broken: PitbenchError | None = None
        self._thread = threading.Thread(target=self._listen, name="rig-line", daemon=True)
        self._thread.start()

    def pins(self, name: str, level: int) -> None:
        """Set the level of a sensor that has no pin; it stays so. Raises PitbenchError when the line broke."""
        self._tell(self.around.pin(name, level))

    def adc(self, name: str, *values: int) -> None:
        """Set what a measuring sensor reads. Raises PitbenchError when the line broke."""
        self._tell(adc(name, *values))

    def close(self) -> None:
        """End the thread, and give the port back."""
        self._stopping.set()
        self._thread.join()
        self._port.close()

    def _listen(self) -> None:
        splitter = LineSplitter(LINE_LIMIT)
        try:
            while not self._stopping.is_set():
                for line in splitter.feed(self._port.read(LOOK_S)):
                    self._obey(line.decode("ascii", "replace"))
        except PitbenchError as error:
            self._broken = error

    # What a cable in the air makes of a line is no line of ours.
    def _obey(self, line: str) -> None:
        if line == "cut":
            self._cut()
        for answer in self.around.heard(line) or ():
            self._tell(answer)

    def _tell(self, line: str) -> None:
        if self._broken:
            raise self._broken
        self._port.write(f"{line}\n".encode("ascii"))

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
from pitbench.virtual.pins import PinResponder

NEW_WORLD = "world"
LOOK_S = 0.1
# The whole world of a plant as JSON, and room.
LINE_LIMIT = 4096


class RigLine:
    """A thread that listens on the rig's port until it is closed.

    Args:
        port: open, at the board's own speed; this object closes it.
        cut: called when the board asks for its power to be cut.
    """

    def __init__(self, port: Transport, cut: Callable[[], None]) -> None:
        self.responder = PinResponder()
        self._port = port
        self._cut = cut
        self._world = NEW_WORLD
        self._orders: list[str] = []
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._broken: PitbenchError | None = None
        self._thread = threading.Thread(target=self._listen, name="rig-line", daemon=True)
        self._thread.start()

    @property
    def world(self) -> str:
        """The line that tells a board that starts how the world stands."""
        return self._world

    def pins(self, name: str, level: int) -> None:
        """Set the level of a sensor that has no pin; it stays so. Raises PitbenchError when the line broke."""
        self.responder.held[name] = level
        self._tell(f"pin {name} {level}")

    def adc(self, name: str, *values: int) -> None:
        """Set what a measuring sensor reads. Raises PitbenchError when the line broke."""
        self._tell(" ".join(("adc", name, *map(str, values))))

    def fault_at_start(self, at: int, how: str) -> None:
        """Have the next start of a bench image fail at its `at`-th store write, as `store_fault` takes it."""
        with self._lock:
            self._orders.append(f"fault {at} {how}")

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
        if line == "world?":
            with self._lock:
                told, self._orders = [*self._orders, self._world], []
            self._port.write("".join(f"{answer}\n" for answer in told).encode("ascii"))
        elif line.startswith("world "):
            self._world = line
        elif line == "cut":
            self._cut()
        elif line.startswith("out "):
            self._drive(line.split(" ")[1:])

    def _drive(self, words: list[str]) -> None:
        if len(words) == 2 and words[1].lstrip("-").isdecimal():
            for pin, level in self.responder.react(words[0], int(words[1])):
                self._tell(f"pin {pin} {level}")

    def _tell(self, line: str) -> None:
        if self._broken:
            raise self._broken
        self._port.write(f"{line}\n".encode("ascii"))

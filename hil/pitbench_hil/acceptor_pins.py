"""A bill acceptor without a bench inside: a release image, worked by its wire and by the levels of its sensor pins.

Time is real there: nothing lets it pass. A wait ends as soon as the wire shows what was waited for.
"""

from __future__ import annotations

import time
from typing import Any

from pitbench.errors import NotBuilt
from pitbench.items import Item
from pitbench.protocols.id003 import Command, Status
from pitbench.targets import Board
from pitbench.virtual import VirtualBoard

from pitbench_hil.acceptor import AcceptorBench

# How long a wait for something new on the wire lasts before it is polled again, in seconds.
LOOK_S = 0.003
READINGS = ("length", "thickness", "magnetic", "uv")


def bench_of(board: Board, kind: str) -> AcceptorBench:
    """The bench that fits a kind of image."""
    return AcceptorBench(board) if kind == "bench" else PinBench(board)


class PinBench(AcceptorBench):
    """Host and bench for a board whose image has no bench ops; its pins are set from outside."""

    @property
    def pins(self) -> VirtualBoard:
        """The supervisor of a virtual board. Raises NotBuilt on a real one."""
        if self.board.virtual is None:
            raise NotBuilt("Setting the sensor pins of a real board", "Run rules that need `pins` on a virtual board.")
        return self.board.virtual

    def advance(self, ms: int = 0) -> None:
        """Wait for something on the wire, but not long: real time passes by itself."""
        started = time.monotonic()
        if frame := self.receive(LOOK_S):
            self._frames.insert(0, frame)
        self.ms += max(1, round((time.monotonic() - started) * 1000))

    def insert(self, item: Item) -> None:
        """Push an item as far as the device draws it in by itself: into escrow, if it is good."""
        self.pins.pins("entry", 1)
        self.until(Status.ACCEPTING)
        for name in READINGS:
            self.pins.adc(name, getattr(item, name))
        self.pins.adc("optical", *item.optical)
        for pin, level in (("centre", 1), ("exit", 1), ("entry", 0), ("ready", 1)):
            self.pins.pins(pin, level)
        self.pins.pins("ready", 0)

    def let_out(self) -> None:
        """An item that is on its way back leaves at the front."""
        for pin, level in (("exit", 0), ("entry", 1), ("centre", 0), ("entry", 0)):
            self.pins.pins(pin, level)

    def let_through(self) -> None:
        """An item that is on its way to the stacker passes the lever."""
        for pin, level in (("lever", 1), ("centre", 0), ("exit", 0), ("chute", 1), ("lever", 0)):
            self.pins.pins(pin, level)

    def stack(self, item: Item, command: int = Command.STACK_1) -> None:
        """A whole insertion, acknowledged, back to idle."""
        self.escrow(item)
        self.command(command)
        self.until(Status.STACKING)
        self.let_through()
        self.until(Status.VEND_VALID)
        self.ack()
        self.until(Status.IDLE)

    def truth(self) -> dict[str, Any]:
        """There is no plant to ask. Raises NotBuilt."""
        raise NotBuilt("Asking a release image for the plant's counts", "Look at what its pins drive.")

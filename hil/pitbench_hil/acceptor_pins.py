"""A bill acceptor without a bench inside: a release image, worked by its wire and by the levels of its sensor pins.

Time is real there: nothing lets it pass. A wait ends as soon as the wire shows what was waited for.
"""

from __future__ import annotations

from typing import Any

from pitbench.errors import BeyondRig, NotBuilt
from pitbench.items import Item
from pitbench.protocols.id003 import Command, Status
from pitbench.real_rig import VIRTUAL_ONLY, RealRig
from pitbench.targets import Board
from pitbench.virtual import VirtualBoard

from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.board_bench import sensor_pins

# How long a wait for something new on the wire lasts before it is polled again, in seconds.
LOOK_S = 0.003
READINGS = ("length", "thickness", "magnetic", "uv")


# Requests that a device remembers.
KEPT = ("commission", "service", "clear_memory", "attempt_meters")


def bench_of(board: Board, kind: str) -> AcceptorBench:
    """The bench that fits a kind of image, and its board."""
    if kind == "bench":
        return AcceptorBench(board)
    return PinBench(board) if board.virtual else LookingBench(board)


class PinBench(AcceptorBench):
    """Host and bench for a board whose image has no bench ops; its pins are set from outside."""

    def __init__(self, board: Board) -> None:
        super().__init__(board)
        self.ms = round(board.clock() * 1000)

    @property
    def pins(self) -> VirtualBoard | RealRig:
        """What sets the sensors. Raises BeyondRig where the rig can't."""
        return sensor_pins(self.board)

    def advance(self, ms: int = 0) -> None:
        """Wait for something on the wire, but not long: real time passes by itself."""
        if frame := self.receive(LOOK_S):
            self.unreceive(frame)
        self.ms = max(self.ms + 1, round(self.board.clock() * 1000))

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

    def _is_clear(self) -> bool:
        # Items move when a pin is set, and only then.
        return True

    def truth(self) -> dict[str, Any]:
        """There is no plant to ask. Raises NotBuilt."""
        raise NotBuilt("Asking a release image for the plant's counts", "Look at what its pins drive.")


class LookingBench(PinBench):
    """A release image on a real board is looked at and not worked: nothing can make it forget the test before."""

    def send(self, data: bytes) -> None:
        """Raises BeyondRig."""
        raise BeyondRig("make a release image forget the test before this one", VIRTUAL_ONLY)

    def do(self, op: str, **args: Any) -> dict[str, Any]:
        """Ask over the link. Raises BeyondRig for what a device remembers, and as ever."""
        if op in KEPT:
            self.send(b"")
        return super().do(op, **args)

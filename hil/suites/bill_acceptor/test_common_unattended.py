"""13:69E-1.28(c): the device is the same whether a bench is attached to its link or not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pitbench import items
from pitbench.image import Image
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor import ENABLE_ALL, AcceptorBench
from pitbench_hil.acceptor_pins import PinBench
from pitbench_hil.check import Check
from pitbench_hil.marks import images, needs, rule
from pitbench_hil.run import Run
from pitbench_hil.unattended import Pair, unattended

OUT_OF_PLACE = (Command.STACK_1, Command.RETURN, Command.WAIT)


class RealTime(PinBench):
    """A board spoken to over its wire alone, in real time, whatever its image."""


@pytest.fixture
def pair(run: Run, bench: AcceptorBench, image: Image, tmp_path: Path) -> Iterator[Pair]:
    """The attended board, and one that nobody attends to."""
    with unattended(bench.board, image, tmp_path / "alone" / "board", run.trace) as alone:
        yield Pair(RealTime(bench.board), alone)


def opened(pair: Pair) -> None:
    """From power-up to idle, every answer kept."""
    pair.until(Status.POWER_UP)
    pair.send(Command.RESET)
    pair.until(pair.attended.speech.unset[-1])
    for command, data in ENABLE_ALL:
        pair.send(command, data)
    pair.until(Status.IDLE)


@rule("NJ-1.28(c)/same-unattended")
@images("bench", "release")
def test_same_on_the_wire(check: Check, pair: Pair) -> None:
    check.stimulus("start, reset, settings, every request, interrupt mode, inhibited and enabled, on both boards")
    opened(pair)
    for command, data, _ in pair.attended.speech.reads:
        pair.send(command, data)
    for command in pair.attended.speech.sayable(*OUT_OF_PLACE):
        pair.send(command)
    if pair.attended.speech.announces:
        pair.send(Command.SET_COMMUNICATION_MODE, b"\x01")
    for inhibit in (b"\x01", b"\0"):
        pair.send(Command.SET_INHIBIT, inhibit)
        if pair.attended.speech.announces:
            pair.enq()
    check.note("answers", count=len(pair.answers["alone"]), **pair.answers)
    check.measure("differences", pair.differences())


@rule("NJ-1.28(c)/same-unattended")
@images("release")
@needs("pins")
def test_same_with_notes_and_doors(check: Check, pair: Pair) -> None:
    check.stimulus("notes stacked, returned and rejected, a door opened, by the pins of both boards")
    opened(pair)
    for usd in (20, 100):
        pair.act(lambda bench, usd=usd: bench.insert(items.genuine(usd)))  # type: ignore[misc]
        pair.until(Status.ESCROW)
        pair.send(Command.STACK_1)
        pair.until(Status.STACKING)
        pair.act(lambda bench: bench.let_through())  # type: ignore[attr-defined]
        pair.until(Status.VEND_VALID)
        pair.act(lambda bench: bench.ack())
        pair.until(Status.IDLE)
    for item, then in ((items.genuine(5), Status.RETURNING), (items.photocopy(), Status.REJECTING)):
        pair.act(lambda bench, item=item: bench.insert(item))  # type: ignore[misc]
        if then == Status.RETURNING:
            pair.until(Status.ESCROW)
            pair.send(Command.RETURN)
        pair.until(then)
        pair.act(lambda bench: bench.let_out())  # type: ignore[attr-defined]
        pair.until(Status.IDLE)
    for level, then in ((1, Status.STACKER_OPEN), (0, Status.IDLE)):
        pair.act(lambda bench, level=level: bench.pins.pins("stacker_door", level))  # type: ignore[misc,attr-defined]
        pair.until(then)
    check.note("answers", count=len(pair.answers["alone"]), **pair.answers)
    check.measure("differences", pair.differences())

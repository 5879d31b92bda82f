"""Switch a board's power at its USB hub: off, on, or cycle, which says whether the board really lost it.

Many hubs take the request and go on feeding the port: a cut counts only when the board's boot counter moved.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable
from dataclasses import dataclass

from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.hub import HubPower
from pitbench.probing import FIRMWARE, what_answers, what_runs
from pitbench.returning import NotBack, reopened
from pitbench.usb_ports import PortFinder, finder, port_of_serial

OFF_S = 2.0
AWAY_S = 5.0
BACK_S = 30.0
LOOK_EVERY_S = 0.1


@dataclass(frozen=True)
class Cut:
    """One cycle of a board's power.

    Args:
        before, after: boot counts; None where no pitbench firmware told one.
        went: whether the board left the bus.
        reset: cause that the board gave for its start.
    """

    before: int | None
    after: int | None
    went: bool
    reset: str = ""

    @property
    def counts(self) -> bool:
        """Whether the board lost its power for certain."""
        return self.before is not None and self.after is not None and self.after != self.before


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("serial", metavar="USB-SERIAL", help="the board's, as `pitbench boards` shows it")
    parser.add_argument("what", choices=("off", "on", "cycle"))


def run(args: argparse.Namespace) -> int:
    serial = args.serial.removeprefix("usb:")
    power = HubPower(serial)
    if args.what == "cycle":
        cut = cycle(power, finder(port_of_serial(serial)))
        print(told(cut, power.place))
        return 0 if cut.counts else 1
    power.off() if args.what == "off" else power.on()
    print(f"{power.place} says: {'on' if power.is_on() else 'off'}")
    return 0


def cycle(power: HubPower, find: PortFinder, off_s: float = OFF_S, back_s: float = BACK_S) -> Cut:
    """Take a board's power away for `off_s` seconds, give it back, and see what the board says of it.

    The power is back on whatever happens. Raises PitbenchError.
    """
    before = _boot(find)
    power.off()
    try:
        went = _wait(lambda: not power.board_is_there(), AWAY_S)
        threading.Event().wait(off_s)
    finally:
        power.on()
    if before is None:
        return Cut(None, None, went)
    try:
        identity, _ = reopened(find, Deadline(back_s), lambda port: what_answers(port).identity or None)
    except NotBack as error:
        raise PitbenchError(f"{power.place} has power again: {error.sentence}", error.remedy) from error
    return Cut(before, identity.get("boot"), went, str(identity.get("reset") or ""))


def told(cut: Cut, place: str) -> str:
    """What a cycle showed, in one sentence."""
    bus = "left the bus" if cut.went else "stayed on the bus"
    if cut.counts:
        return f"{place} cut the power: the board {bus}, boot {cut.before} became {cut.after} ({cut.reset})."
    if cut.before is None:
        return f"{place} was switched, the board {bus}; without pitbench firmware on it nothing proves a cut."
    return f"{place} did not cut the power, whatever it says: the board {bus}, and its boot counter stayed {cut.after}."


def _boot(find: PortFinder) -> int | None:
    port = find()
    runs = what_runs(port) if port else None
    return runs.identity.get("boot") if runs and runs.kind == FIRMWARE else None


def _wait(happened: Callable[[], bool], seconds: float) -> bool:
    deadline, never = Deadline(seconds), threading.Event()
    while not deadline.passed:
        if happened():
            return True
        never.wait(LOOK_EVERY_S)
    return False

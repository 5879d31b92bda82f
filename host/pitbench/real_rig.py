"""What stands around a real board: the rig's lines, and the hub that feeds it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack

from pitbench.addresses import HUB, USB, Target, port_of
from pitbench.board_facts import board_facts
from pitbench.deadline import Deadline, DeadlinePassed
from pitbench.errors import BeyondRig, PitbenchError
from pitbench.framing import Framing
from pitbench.hub import HubPower
from pitbench.rig_line import RigLine
from pitbench.transport import open_transport
from pitbench.virtual.surroundings import Surroundings, ToldAtStart

VIRTUAL_ONLY = "Rules that need it run on a virtual board."
_OTHER_HUB = "Plug it into a hub that really cuts the power of its ports."
# A board without power leaves the bus within this time, or its hub goes on feeding it.
AWAY_S = 5.0
# What a capacitor on the board still feeds has to be gone before the power comes again.
OFF_S = 0.5
LOOK_EVERY_S = 0.05


class HubSupply:
    """A board's supply, switched at its hub.

    Args:
        power: of the port that the board hangs on.
    """

    def __init__(self, power: HubPower) -> None:
        self.place = f"hub {power.place}"
        self.is_on = True
        self._power = power
        self._lock = threading.Lock()

    def off(self) -> None:
        """Take the power away, and wait until the board left the bus. Raises PitbenchError when it stays there."""
        with self._lock:
            if not self.is_on:
                return
            # Said first: whoever loses a port meanwhile asks why.
            self.is_on = False
            self._power.off()
            if _wait(lambda: not self._power.board_is_there(), AWAY_S):
                return
            self._give()
        raise PitbenchError(f"The {self.place} was switched off, and the board stayed on the bus.", _OTHER_HUB)

    def on(self) -> None:
        """Give it back, not too soon. Raises HubError."""
        with self._lock:
            if not self.is_on:
                threading.Event().wait(OFF_S)
                self._give()

    def _give(self) -> None:
        self._power.on()
        self.is_on = True


class RealRig(ToldAtStart):
    """Acts as a virtual board's supervisor does, as far as the rig reaches.

    Args:
        supply: what cuts the board's power, or None.
        wired: names of the sensors that are pins on this board: no line moves them.
    """

    def __init__(self, supply: HubSupply | None, wired: frozenset[str] = frozenset()) -> None:
        self._line: RigLine | None = None
        self._supply = supply
        self._wired = wired
        self._failed: PitbenchError | None = None

    @property
    def alive(self) -> bool:
        """Whether the board has power, as far as this rig took it away."""
        return self._supply is None or self._supply.is_on

    @property
    def cut_kind(self) -> str:
        """Which kind of cut this is, for the report; "" where there is none."""
        return self._supply.place if self._supply else ""

    @property
    def caps(self) -> tuple[str, ...]:
        """What this rig can do, by the names of rules/needs.toml."""
        power = ("power",) if self._line and self._supply else ()
        return power + (("pins",) if self._line and not self._wired else ())

    def cut(self) -> None:
        """Take the board's power away. Raises BeyondRig without a hub, PitbenchError."""
        if self._supply is None:
            raise BeyondRig("cut the board's power", f"Name its hub in the target: power={HUB}.")
        self._raise_what_failed()
        self._supply.off()

    def power_on(self, cause: str = "power") -> None:
        """Give it back. Raises BeyondRig for another cause, PitbenchError."""
        if cause != "power":
            raise BeyondRig(f"start the board with the cause '{cause}'", VIRTUAL_ONLY)
        self._raise_what_failed()
        if self._supply:
            self._supply.on()

    def wait_off(self, deadline: Deadline) -> None:
        """Wait until the power is off by a cut that the board itself asked for. Raises DeadlinePassed."""
        if not _wait(lambda: not self.alive, deadline.remaining):
            self._raise_what_failed()
            raise DeadlinePassed("The board asked for no power cut in time.", "Look at the rig's line.")

    @property
    def around(self) -> Surroundings:
        """What stands around the board, by its lines. Raises BeyondRig without any."""
        return self._lines().around

    def pins(self, name: str, level: int) -> None:
        """Set the level of a sensor by a line. Raises BeyondRig where it can't."""
        self._lines().pins(name, level)

    def adc(self, name: str, *values: int) -> None:
        """Set what a measuring sensor reads. Raises BeyondRig without lines."""
        self._lines().adc(name, *values)

    def close(self) -> None:
        """End the lines; the power is back whatever happened."""
        if self._line:
            self._line.close()
        if self._supply:
            self._supply.on()

    def asked_to_cut(self) -> None:
        """The board asked for it over its line. What goes wrong is raised by the next that uses the rig."""
        try:
            self.cut()
        except PitbenchError as error:
            self._failed = error

    def attach(self, line: RigLine) -> None:
        """Take the lines that call `asked_to_cut`."""
        self._line = line

    def _lines(self) -> RigLine:
        if self._line is None:
            raise BeyondRig("tell the board anything", "Name the port of its lines in the target: rig=PORT.")
        return self._line

    def _raise_what_failed(self) -> None:
        failed, self._failed = self._failed, None
        if failed:
            raise failed


def open_rig(target: Target, board: str, held: ExitStack) -> RealRig:
    """Return what stands around a real board as its target says.

    Args:
        target: of a real board.
        board: its name (`boards/NAME.toml`), as the board itself says it.
        held: what closes it again.

    Raises: PitbenchError of many kinds.
    """
    facts = board_facts(board) if target.rig else {}
    supply = HubSupply(HubPower(target.link.removeprefix(USB).partition("#")[0])) if target.power else None
    rig = RealRig(supply, frozenset(facts.get("pins", {})))
    held.callback(rig.close)
    if target.rig:
        rig.attach(RigLine(open_transport(port_of(target.rig), name="rig", framing=_framing(facts)), rig.asked_to_cut))
    return rig


def _framing(facts: dict[str, object]) -> Framing:
    lines = facts.get("rig")
    if not isinstance(lines, dict):
        raise PitbenchError(f"The board {facts['name']} has no lines for a rig.", "Leave rig= out of the target.")
    return Framing(int(lines["baud"]))


def _wait(happened: Callable[[], bool], seconds: float) -> bool:
    deadline, never = Deadline(seconds), threading.Event()
    while not happened():
        if deadline.passed:
            return False
        # A bus tells nobody that a device left it.
        never.wait(min(LOOK_EVERY_S, deadline.remaining))
    return True

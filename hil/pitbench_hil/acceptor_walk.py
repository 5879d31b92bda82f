"""A random walk through everything that can happen to an acceptor, with a host that keeps its own count.

The host credits a vend valid, or a power-up with bill in stacker, once for each stack that it sent; what is reported
with no stack behind it counts as credited without cause. Every state polled is held against the reference chart.
"""

from __future__ import annotations

from dataclasses import replace

from pitbench import items
from pitbench.protocols.id003 import ERRORS, Command, Reply, Status

from pitbench_hil import walking
from pitbench_hil.acceptor import ENABLE_ALL, AcceptorBench
from pitbench_hil.charts.bill_acceptor import CHART
from pitbench_hil.record_file import forget_data
from pitbench_hil.walking import Stimulus, do, wait

WITHOUT_CAUSE_CENTS = 1_000_000
CHART_STATES = {
    Status.IDLE: "idle",
    Status.ACCEPTING: "accepting",
    Status.ESCROW: "escrow",
    Status.STACKING: "stacking",
    Status.VEND_VALID: "vend valid",
    Status.STACKED: "stacked",
    Status.REJECTING: "rejecting",
    Status.RETURNING: "returning",
    Status.HOLDING: "holding",
    Status.DISABLED: "disabled",
    Status.INITIALISE: "initialise",
    Status.POWER_UP: "power up",
    Status.POWER_UP_BILL_IN_ACCEPTOR: "power up, bill in acceptor",
    Status.POWER_UP_BILL_IN_STACKER: "power up, bill in stacker",
}
PAPER = {
    "twenty": items.genuine(20),
    "hundred": items.genuine(100, 2),
    "fake": items.counterfeit(),
    "strung": items.strung(50),
    "jams early": replace(items.genuine(5), sticks_at=120),
    "jams late": replace(items.genuine(10), sticks_at=320),
}
DOORS = ("acceptor", "stacker")


class Walk(walking.Walk[AcceptorBench]):
    """One walk."""

    # Between two polls each follows from the one before without waiting.
    unseen = 3

    def __init__(self, bench: AcceptorBench) -> None:
        super().__init__(bench, CHART, STIMULI)
        self.credited = 0
        self._offered = 0
        self._sent = 0
        self._status = 0
        self._counted = False

    def begin(self) -> None:
        """A board as new, in a world as new, brought to idle."""
        virtual = self.bench.board.supervisor
        virtual.cut()
        forget_data(virtual.flash)
        virtual.new_world()
        self._power_on()
        self.bench.advance(1000)
        self.reset()

    def end(self) -> None:
        """Clear everything, settle what is pending, come to rest."""
        for door in DOORS:
            self.bench.do("door", which=door, open=True)
        self.bench.do("clear_path")
        for door in DOORS:
            self.bench.do("door", which=door, open=False)
        self.bench.do("box", present=True)
        self.bench.do("lock", locked=True)
        for _ in range(40):
            self.bench.advance(200)
            self.look()
            if self._status in ERRORS or self._status >= Status.POWER_UP:
                self.reset()
            if self._status == Status.VEND_VALID:
                self.acknowledge()

    # -- what a host does -----------------------------------------------------------------------------------------

    def look(self) -> None:
        """Poll, count money, compare with the chart."""
        frame = self.bench.status()
        self._status = frame.cmd
        self._see(CHART_STATES.get(Status(frame.cmd), "error"))
        if frame.cmd == Status.ESCROW:
            slot = frame.data[0] - 0x61
            self._offered = items.DENOMINATIONS[slot] * 100
        if frame.cmd in (Status.VEND_VALID, Status.POWER_UP_BILL_IN_STACKER):
            self._credit()

    def _credit(self) -> None:
        if self._sent:
            self.credited += self._sent
            self._sent = 0
            self._counted = True
        elif not self._counted:
            self.credited += WITHOUT_CAUSE_CENTS

    def stack(self, command: int) -> None:
        """Send stack; what is on offer is then owed."""
        self.look()
        if self._status not in (Status.ESCROW, Status.HOLDING):
            self.bench.exchange(command)
            return
        offered = self._offered
        reply = self.bench.exchange(command)
        if reply and reply.cmd == Reply.ACK:
            self._sent, self._counted = offered, False

    def acknowledge(self) -> None:
        """ACK."""
        self.bench.ack()
        self.bench.advance(10)

    def acknowledge_unasked(self) -> None:
        """An ACK while the host still believes that it stacks, as the item may have passed the lever."""
        self.bench.advance(60)
        self.bench.ack()
        self.bench.advance(10)

    def reset_unseen(self) -> None:
        """A host that comes back after a while and resets before it polls: an item may have passed the lever."""
        self.bench.advance(700)
        self.restart_device()

    def reset(self) -> None:
        """Poll, reset, wait, settings."""
        self.look()
        self.restart_device()

    def restart_device(self) -> None:
        """Reset, wait, settings."""
        self.bench.exchange(Command.RESET)
        self._chart = CHART.follow(self._chart.state)
        for _ in range(12):
            self.bench.advance(100)
            self.look()
        self.bench.configure(ENABLE_ALL)
        self.look()

    # -- what happens to the board --------------------------------------------------------------------------------

    def cut(self) -> None:
        """Power gone and back."""
        self.bench.cut()
        self._power_on()

    def _power_on(self) -> None:
        self.bench.power_on()
        status = self.bench.status().cmd
        self._chart = CHART.follow(CHART_STATES.get(Status(status), "error"))
        if status == Status.POWER_UP_BILL_IN_STACKER:
            self._credit()

    def silence(self) -> None:
        """No poll for longer than a communication error takes."""
        self.bench.advance(3100)
        self._chart = CHART.follow(self._chart.state)
        self.look()
        self.bench.advance(5200)


def _insert(name: str) -> Stimulus:
    return lambda walk: walk.bench.insert(PAPER[name])


def _send(command: int, data: bytes = b"") -> Stimulus:
    def act(walk: Walk) -> None:
        walk.bench.exchange(command, data)

    return act


STIMULI: dict[str, Stimulus] = {
    **{name: _insert(name) for name in PAPER},
    **{f"wait {ms} ms": wait(ms) for ms in (20, 90, 210, 400)},
    "stack-1": lambda walk: walk.stack(Command.STACK_1),
    "stack-2": lambda walk: walk.stack(Command.STACK_2),
    "return": _send(Command.RETURN),
    "hold": _send(Command.HOLD),
    "acknowledge": Walk.acknowledge,
    "acknowledge unasked": Walk.acknowledge_unasked,
    "reset": Walk.reset,
    "reset unseen": Walk.reset_unseen,
    "inhibit": _send(Command.SET_INHIBIT, b"\x01"),
    "enable": _send(Command.SET_INHIBIT, b"\x00"),
    "power cut": Walk.cut,
    "silence": Walk.silence,
    "pull": do("pull"),
    "clear path": do("clear_path"),
    **{f"open {door} door": do("door", which=door, open=True) for door in DOORS},
    **{f"close {door} door": do("door", which=door, open=False) for door in DOORS},
    "stacker out": do("box", present=False),
    "stacker in": do("box", present=True),
}

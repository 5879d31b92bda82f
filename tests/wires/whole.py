"""Our host and the acceptor's firmware on one line, in simulated time: kiosk, faulty line, wire, device, plant.

    whole = Whole("ebds", tmp_path / "journal", Noise(seed=1, rate=0.02))
    whole.pay(20)                     # inserted, seen through
    whole.settle()
    whole.credited(), whole.stacked() # cents, by the kiosk's books and by the plant's count

Both sides are the ones that run: nothing here knows a protocol.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from acceptor_bench import Desk, note
from desk import Source
from fake_port import Port
from kermit import crc16
from kiosk_bench import Direction, clean
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.policy import Policy
from pitbench.protocols.acceptor_host import host_module

STEP_MS = 20
# Escrow, stacking, a late frame at each of its steps, and a host that asks again.
SEE_THROUGH_MS = 60_000
USD = (1, 2, 5, 10, 20, 50, 100)
NUMBER = "0123456789abcdef01234567"


class QuickJournal(Journal):
    """On the disk when the system likes: no test here takes its power away."""

    def _sync(self) -> None:
        pass


class Whole:
    """Kiosk and acceptor.

    Args:
        wire: the protocol.
        path: the kiosk's journal.
        fault: what befalls a frame, `Noise` for instance.
        settings: of the host, the usual ones unless given.
    """

    def __init__(self, wire: str, path: Path, fault: Any = clean, settings: Any = None) -> None:
        self.protocol, self.path, self.module, self.settings = wire, path, host_module(wire), settings
        self.to_device, self.to_host = Direction(fault), Direction(fault)
        self.now, self.capacity = 0, 200
        self.spent = 0
        self.power_on(None)
        self.kiosk = self._kiosk()

    # -- the device's life

    def power_on(self, record: dict[str, Any] | None, plant: Any = None) -> None:
        """A device with the record and the world that the last one left."""
        self.desk = Desk(record, plant, self.now)
        self.port = Port()
        port = SimpleNamespace(unique_id=lambda: NUMBER)
        boot = SimpleNamespace(image_crc=0xBEEF, checksum=self._checksum, port=port, identity=lambda: {"uid": NUMBER})
        module = import_module(f"wire.{self.protocol}")
        self.wire = module.Wire(self.desk.device, self.port, crc16, self._step, boot, self.now)
        self.wire.entropy = Source

    def _step(self, event: tuple[Any, ...]) -> None:
        self.desk.step(*event)

    def cut(self) -> None:
        """The power goes and comes again: what was committed is there, what was on the line is not."""
        self.to_device.flush()
        self.to_host.flush()
        plant = self.desk.plant
        for motor in ("transport", "stack"):
            plant.motor(motor, 0)
        self.power_on(self.desk.commits[-1] if self.desk.commits else None, plant)

    def _checksum(self, seed: int, width: int) -> Any:
        return SimpleNamespace(crc=0xBEEF, step=lambda: (True, ""))

    # -- the host's life

    def _kiosk(self) -> Kiosk:
        host = self.module.Host(self.settings or self.module.Settings())
        return Kiosk(QuickJournal(self.path, wall=lambda: 0.0), Policy(), host)

    def crash_host(self) -> None:
        """The host dies and starts on its journal."""
        self.kiosk.books.journal.close()
        self.to_device.flush()
        self.kiosk = self._kiosk()

    # -- time

    def step(self, ms: int = STEP_MS) -> None:
        """Let time pass and carry what is to be carried."""
        self.now += ms
        self.desk.run(ms)
        frame = self.kiosk.next_frame(self.now)
        if frame:
            self.to_device.put(frame, self.now)
        self.port.incoming += b"".join(self.to_device.take(self.now))
        self.wire.poll(self.now)
        self.wire.tick(self.now)
        sent, self.port.sent = self.port.sent, b""
        if sent:
            self.to_host.put(sent, self.now)
        for piece in self.to_host.take(self.now):
            self.kiosk.feed(piece, self.now)
        self.kiosk.tick(self.now)

    def until(self, reached: Any, within_ms: int = SEE_THROUGH_MS) -> None:
        """Step until `reached()`."""
        end = self.now + within_ms
        while not reached():
            assert self.now < end, f"never reached: {self.desk.device.state}, the host has {self.kiosk.host.status}"
            self.step()

    # -- money

    @property
    def resting(self) -> bool:
        """Nothing under way on either side."""
        truth = self.desk.plant.truth()
        at_rest = self.desk.device.state == "idle" and not truth["in_path"]
        return at_rest and self.kiosk.books.ledger.open is None and self.kiosk.host.ready

    def insert(self, usd: int) -> None:
        """A good note into the mouth of an idle device; a full box is emptied before."""
        if self.desk.plant.truth()["box"] >= self.capacity - 1:
            self.empty()
        self.until(lambda: self.resting)
        self.desk.do("insert", item=note(USD.index(usd)))

    def pay(self, usd: int) -> None:
        """A note seen through to its end."""
        self.insert(usd)
        self.step()
        self.until(lambda: self.resting)

    def empty(self) -> None:
        """The box is changed for an empty one."""
        self.desk.do("box", present=False)
        self.desk.do("box", count=0)
        self.desk.do("box", present=True)

    def settle(self) -> None:
        """A quiet line, and whatever is under way comes to its end."""
        self.to_device.fault = self.to_host.fault = clean
        for _ in range(100):
            self.step()
        self.until(lambda: self.resting)

    def credited(self) -> int:
        """Cents, by the kiosk's books."""
        return sum(credit.cents for credit in self.kiosk.credits)

    def stacked(self) -> int:
        """Cents past the lever, by the plant."""
        return sum(int(worth) * count for worth, count in self.desk.plant.truth()["values"].items())

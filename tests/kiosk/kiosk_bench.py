"""A kiosk, a model acceptor and a serial line between them, in simulated time.

The line is first in, first out, as a serial line is: frames are lost, doubled, damaged or late, and never overtake.
"""

import random
from pathlib import Path

from acceptor_model import Acceptor, Paper, Times
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.ledger import NoteState
from pitbench.kiosk.policy import Policy
from pitbench.protocols.id003_host import Id003Host

STEP_MS = 20
VALUES = {0x61: 100, 0x63: 500, 0x64: 1000, 0x65: 2000, 0x66: 5000, 0x67: 10000}


def clean(data: bytes) -> list:
    return [(0, data)]


class Noise:
    """Faults drawn from a seed: each rate is the share of frames that suffer it."""

    def __init__(self, seed: int, rate: float, latest_ms: int = 900):
        self._random = random.Random(seed)
        self._rate = rate
        self._latest_ms = latest_ms

    def __call__(self, data: bytes) -> list:
        if self._random.random() >= self._rate:
            return clean(data)
        kind = self._random.choice(("lost", "late", "double", "damaged", "cut", "padded"))
        return getattr(self, "_" + kind)(data)

    def _lost(self, data):
        return []

    def _late(self, data):
        return [(self._random.randint(20, self._latest_ms), data)]

    def _double(self, data):
        return [(0, data), (self._random.choice((0, 40, 400)), data)]

    def _damaged(self, data):
        at = self._random.randrange(len(data))
        return [(0, data[:at] + bytes([data[at] ^ 1 << self._random.randrange(8)]) + data[at + 1 :])]

    def _cut(self, data):
        return [(0, data[: self._random.randrange(len(data))])]

    def _padded(self, data):
        return [(0, self._random.randbytes(3) + data)]


class Direction:
    def __init__(self, fault=clean):
        self.fault = fault
        self._queue: list = []
        self._last = 0

    def put(self, data: bytes, now: int) -> None:
        for delay, piece in self.fault(data):
            self._last = max(self._last, now + delay)
            self._queue.append((self._last, piece))

    def take(self, now: int) -> list:
        due = [piece for at, piece in self._queue if at <= now]
        self._queue = [(at, piece) for at, piece in self._queue if at > now]
        return due

    def flush(self) -> None:
        self._queue.clear()


class Bench:
    def __init__(self, path: Path, policy=None, settings=None, acceptor=None, fault=clean, journal=Journal):
        self.path, self.policy, self.settings = path, policy or Policy(), settings
        self.journal = journal
        self.acceptor = acceptor or Acceptor(times=Times())
        self.to_device, self.to_host = Direction(fault), Direction(fault)
        self.now = 0
        self.events: list = []
        self.sent: list = []
        self.kiosk = self._new_kiosk()

    def _new_kiosk(self) -> Kiosk:
        return Kiosk(self.journal(self.path, wall=lambda: 0.0), self.policy, Id003Host(self.settings))

    def crash_host(self, flush: bool = False) -> None:
        """The host dies here and starts again on the same journal; what is on the line stays, or is lost."""
        self.kiosk.books.journal.close()
        if flush:
            self.to_host.flush()
        self.kiosk = self._new_kiosk()

    def cut(self) -> None:
        self.acceptor.cut()
        self.to_device.flush()
        self.to_host.flush()

    def quiet_line(self) -> None:
        self.to_device.fault = self.to_host.fault = clean

    def step(self, ms: int = STEP_MS) -> None:
        self.now += ms
        frame = self.kiosk.next_frame(self.now)
        if frame:
            self.sent.append(frame)
            self.to_device.put(frame, self.now)
        for piece in self.to_device.take(self.now):
            reply = self.acceptor.answer(piece, self.now)
            if reply:
                self.to_host.put(reply, self.now)
        enq = self.acceptor.step(self.now)
        if enq:
            self.to_host.put(enq, self.now)
        for piece in self.to_host.take(self.now):
            self.events += self.kiosk.feed(piece, self.now)
        self.events += self.kiosk.tick(self.now)

    def run(self, ms: int, ms_step: int = STEP_MS) -> None:
        for _ in range(ms // ms_step):
            self.step(ms_step)

    def run_until(self, reached, limit_ms: int = 30_000) -> None:
        until = self.now + limit_ms
        while not reached():
            assert self.now < until, f"never reached; the acceptor is {self.acceptor.state}"
            self.step()

    def ready(self) -> "Bench":
        self.run_until(lambda: self.acceptor.state == "idle")
        return self

    def insert(self, paper: Paper) -> None:
        self.run_until(lambda: self.acceptor.insert(paper))

    def pay(self, paper: Paper) -> None:
        """Insert one and see it through."""
        self.insert(paper)
        self.run_until(lambda: self.acceptor.state in ("idle", "disabled") and self.kiosk.books.ledger.open is None)

    def come_to_rest(self) -> None:
        """Line quiet, power on: let everything that is under way end."""
        self.quiet_line()
        if not self.acceptor.on:
            self.acceptor.power_on()
        resting = lambda: self.acceptor.state in ("idle", "disabled") and self.kiosk.books.ledger.open is None  # noqa: E731
        self.run(1000)
        self.run_until(resting)
        self.run(500)

    # The truth against the books

    def stacked_cents(self, vouchers=None) -> list:
        worth = {**VALUES}
        return sorted((vouchers or {}).get(p.digits, worth.get(p.code, 0)) for p in self.acceptor.stacked)

    def credited_cents(self) -> list:
        return sorted(credit.cents for credit in self.kiosk.credits)

    def unexplained(self) -> list:
        return [note for note in self.kiosk.disputes if note.state == NoteState.UNEXPLAINED]


def kinds(bench: Bench) -> list:
    return [event.kind for event in bench.events]


def texts(bench: Bench) -> str:
    return "\n".join(event.text for event in bench.events)

"""A kiosk with a journal on an acceptor under test, in device time, frame by frame.

    till = Till(bench, tmp_path / "journal")
    till.open()
    till.insert(till.note(20))
    till.to_host.count_anew(Fault("lost", 7))       # the seventh frame that the device sends is lost
    till.settle()
    till.difference()                               # credited - stacked, cents

Credited is what the kiosk credits, stacked is what the plant has past the lever. A voucher's worth is the voucher
system's knowledge, so its paper carries that worth as the plant's truth; the number on it says which one was stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pitbench import items
from pitbench.errors import PitbenchError
from pitbench.kiosk.events import KioskEvent
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.ledger import NoteState
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import Authorised, Refused, VoucherBook, VoucherKind, VoucherStatus
from pitbench.protocols.acceptor_host import AcceptorHost, HostEvent, StatusSeen, host_module
from pitbench.protocols.id003 import Command, Frame, Status, status_text

from pitbench_hil.acceptor import ANSWER_S, AcceptorBench
from pitbench_hil.acceptor_line import Lane
from pitbench_hil.board_bench import Unreached
from pitbench_hil.power_watch import PowerGone, watch_power

# Hosts poll every 100 to 200 ms; a sweep over all frames of an insertion costs their number squared.
STEP_MS = 200
SETTLE_MS = 20_000
AT_REST = (Status.IDLE, Status.DISABLED)


class SlowBook(VoucherBook):
    """A voucher system that leaves `unanswered` questions without an answer before it speaks."""

    unanswered = 0

    def validate(self, number: str, claim: str) -> Authorised | Refused | None:  # type: ignore[override]
        """As the book's, None while it keeps silent."""
        if self.unanswered:
            self.unanswered -= 1
            return None
        return super().validate(number, claim)


class Heard:
    """A host's ears: the statuses that it hears, in order, as frames of ID-003's words.

    Args:
        may_acknowledge: asked before it acknowledges a credit.
    """

    def __init__(self, host: AcceptorHost, heard: list[Frame], may_acknowledge: Callable[[], bool]) -> None:
        self._host, self._heard, self._may_acknowledge = host, heard, may_acknowledge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value) if name.startswith("_") else setattr(self._host, name, value)

    def acknowledge(self) -> None:
        """As the host does it, if it may; a credit that stands is told again."""
        if self._may_acknowledge():
            self._host.acknowledge()

    def received(self, frame: Any, now_ms: int) -> Sequence[HostEvent]:
        """As the host takes it."""
        events = self._host.received(frame, now_ms)
        self._heard += [Frame(event.status, event.data) for event in events if isinstance(event, StatusSeen)]
        return events


class Till:
    """Kiosk, line and acceptor.

    Args:
        bench: host and bench of a board whose wire nobody uses.
        journal: the kiosk's file.
        vouchers: the voucher system; a book of its own unless given.
        settings: how the kiosk talks, of the wire's own kind; the usual ones unless given.

    Attributes: `kiosk`, `vouchers`, `to_device` and `to_host` (the line), `heard` (statuses that reached the kiosk),
    `events` (what the kiosk told), `on` (whether the board has power, as far as it was noticed), `acknowledges` (False
    holds back what acknowledges a credit), `dies_at` (number of a frame to the device, and what happens at its turn).
    """

    def __init__(
        self,
        bench: AcceptorBench,
        journal: Path,
        *,
        vouchers: SlowBook | None = None,
        settings: Any = None,
    ) -> None:
        self.bench = bench
        self.journal = journal
        self.vouchers = vouchers or SlowBook()
        self.module = host_module(bench.wire)
        self.settings = settings or self.module.Settings(poll_ms=STEP_MS)
        self.policy = Policy(vouchers=self.vouchers)
        self.to_device, self.to_host = Lane(), Lane()
        self.heard: list[Frame] = []
        self.events: list[KioskEvent] = []
        self.on = True
        self.dies_at: tuple[int, Callable[[], None]] | None = None
        self.acknowledges = True
        self._last_words = b""
        self._dark_ms = 0
        self._serial = 0
        watch_power(bench.board)
        self.kiosk = self._kiosk()

    @property
    def now(self) -> int:
        """Milliseconds of the kiosk's clock: device time, and what passed without power."""
        return self.bench.ms + self._dark_ms

    @property
    def status(self) -> int | None:
        """The last status that the kiosk heard."""
        return self.kiosk.host.status

    # -- paper --------------------------------------------------------------------------------------------------

    def note(self, usd: int) -> items.Item:
        """A good note."""
        return items.genuine(usd)

    def coupon(self, cents: int = 0) -> items.Item:
        """A coupon that the voucher system knows; each has another number and, unless given, another value."""
        self._serial += 1
        worth = cents or 300 + self._serial
        number = f"31{self._serial:04d}{worth:06d}{self._serial * 7919 % 10**6:06d}"
        self.vouchers.issue(number, worth, VoucherKind.COUPON)
        return items.coupon(number, worth)

    def voucher(self, cents: int = 0) -> items.Item:
        """A voucher that the voucher system knows; each has another number and, unless given, another value."""
        self._serial += 1
        worth = cents or 1200 + self._serial
        number = f"{self._serial * 104729 + 70_000_000_000_000:016d}{self._serial % 100:02d}"
        self.vouchers.issue(number, worth)
        return items.voucher(number, worth)

    def paper(self, kind: str) -> items.Item:
        """One "note" (20), "coupon" or "voucher"."""
        return self.note(20) if kind == "note" else getattr(self, kind)()  # type: ignore[no-any-return]

    def insert(self, item: items.Item) -> None:
        """Push an item into the mouth."""
        self.bench.insert(item)

    # -- time ---------------------------------------------------------------------------------------------------

    def step(self, ms: int = STEP_MS) -> None:
        """Let device time pass, then carry what is to be carried."""
        try:
            self._pass(ms)
            self._carry()
        except PowerGone:
            self._power_went()

    def run(self, ms: int, step: int = STEP_MS) -> None:
        """Let that much time pass, or until the board cuts its own power."""
        end = self.now + ms
        while self.now < end and self.on:
            self.step(min(step, end - self.now))

    def until(self, *wanted: int, within: int = SETTLE_MS, step: int = STEP_MS) -> None:
        """Run until the kiosk hears one of the statuses. Raises Unreached."""
        start, begin, words = self.now, len(self.heard), self.bench.speech.words
        told = {status for one in wanted if words.told(one) for status in words.any_of(one)}
        if not told:
            self.bench.speech.unsayable(_names(wanted))
        while not any(frame.cmd in told for frame in self.heard[begin:]):
            if self.now - start >= within or not self.on:
                raise Unreached(f"{_names(wanted)} not reached in {within} ms: {self._said()} instead")
            self.step(step)

    def settle(self, within: int = SETTLE_MS) -> None:
        """Run until device and kiosk rest with nothing under way, or the board cuts its own power. Raises Unreached."""
        start = self.now
        self.step()
        while self.on and not self._at_rest():
            if self.now - start >= within:
                message = self.bench.state()["message"]
                raise Unreached(f"not at rest after {within} ms: {self._said()}, {message!r}")
            self.step()

    def open(self) -> None:
        """Bring a board that has just started to idle. Raises Unreached."""
        self.until(Status.IDLE)
        self.settle()

    def take(self, item: items.Item) -> None:
        """One whole insertion."""
        self.insert(item)
        self.settle()

    def attend(self) -> None:
        """An attendant opens, takes out what lies in path and chute, mends, closes, resets. Raises Unreached."""
        for which in ("acceptor", "stacker"):
            self.bench.do("door", which=which, open=True)
        self.bench.do("clear_path")
        self.mend("transport_motor")
        self.mend("stack_motor")
        for which in ("acceptor", "stacker"):
            self.bench.do("door", which=which, open=False)
        self.run(2 * STEP_MS)
        self.kiosk.reset()
        self.settle()

    def mend(self, part: str) -> None:
        """Make a broken part whole; a whole one stays so."""
        self.bench.do("mend", part=part)

    def _at_rest(self) -> bool:
        host = self.kiosk.host
        if self.status not in AT_REST or not host.ready or self.kiosk.books.ledger.open:
            return False
        return not self.bench.truth()["in_path"]

    def _said(self) -> str:
        return "no power" if not self.on else status_text(self.status or 0)

    def _pass(self, ms: int) -> None:
        if self.on:
            self.bench.advance(ms)
        else:
            self._dark_ms += ms

    # -- frames -------------------------------------------------------------------------------------------------

    def _carry(self) -> None:
        """Everything that is to cross the line at this moment."""
        if getattr(self.settings, "interrupt", False):
            self._take_news()
        moving = True
        while moving:
            frame = self._next_frame()
            if frame is not None:
                self.to_device.put(frame, self.now)
            moving = self._deliver() or frame is not None
        self.events += self.kiosk.tick(self.now)

    def _next_frame(self) -> bytes | None:
        frame = self.kiosk.next_frame(self.now)
        if frame is not None and self.dies_at and self.dies_at[0] == self.to_device.count:
            death, self.dies_at = self.dies_at[1], None
            self._last_words = frame
            death()
            return None
        return frame

    def _deliver(self) -> bool:
        sent = self.to_device.take(self.now)
        for data in sent:
            self._send(data)
        heard = self.to_host.take(self.now)
        for data in heard:
            self.events += self.kiosk.feed(data, self.now)
        return bool(sent or heard)

    def _send(self, data: bytes) -> None:
        """To the board; what it answers goes onto the line back. Raises Unreached when it owes an answer."""
        speech = self.bench.speech
        if not self.on:
            return
        self.bench.send(data)
        if speech.owed(data) and not self._take_news(ANSWER_S):
            raise Unreached(f"{data.hex(' ')} was not answered")

    def _take_news(self, seconds: float = 0.0005) -> bool:
        """What the device sends goes onto the line, until it is an answer; whether one came in time (real seconds)."""
        while self.on and (frame := self.bench.receive_bytes(seconds)):
            self.to_host.put(frame, self.now)
            if self.bench.speech.answers(frame):
                return True
        return False

    # -- the host's life ----------------------------------------------------------------------------------------

    def die(self, *, away_ms: int = 0, flush: bool = True, journal: Path | None = None) -> None:
        """The kiosk dies at this moment, and starts again on its journal.

        Args:
            away_ms: device time until it is back.
            flush: what is on the line is lost with it.
            journal: another file to start on.
        """
        self.kiosk.books.journal.close()
        self.to_device.clear()
        if flush:
            self.to_host.clear()
        self._pass(away_ms)
        self.journal = journal or self.journal
        self.kiosk = self._kiosk()

    def die_sending(self, away_ms: int = 0) -> None:
        """The same, just after the frame in hand went out: the device has it, and its answer finds nobody."""
        self._send(self._last_words)
        self.die(away_ms=away_ms)

    def reset_by_hand(self) -> None:
        """Two resets on the wire that the kiosk knows nothing of: some hosts begin with them, asking nothing."""
        for _ in range(2):
            self._send(self.bench.speech.native(Command.RESET))
        self.to_host.clear()

    def _kiosk(self) -> Kiosk:
        host: Any = Heard(self.module.Host(self.settings), self.heard, lambda: self.acknowledges)
        return Kiosk(Journal(self.journal), self.policy, host)

    def adopt(self, **changes: Any) -> None:
        """The kiosk starts again, with changes to its policy: `adopt(coupons=False)`."""
        self.policy = replace(self.policy, **changes)
        self.die()
        self.settle()

    # -- power --------------------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Take the power away; the kiosk lives on."""
        self.bench.cut()
        self._power_went()

    def power_on(self) -> bool:
        """Give it back. False if the board cut it again while it started. Raises Unreached when it doesn't come up."""
        self.on = True
        try:
            identity = self.bench.power_on()
        except PowerGone:
            self._power_went()
            return False
        except PitbenchError as error:
            if self._cut_itself():
                self._power_went()
                return False
            raise Unreached(f"the board doesn't come up: {error}") from error
        if identity.get("inoperable"):
            raise Unreached(f"the board is inoperable: {identity['inoperable']}")
        return True

    def _cut_itself(self) -> bool:
        board = self.bench.board
        return not board.has_power and not (board.virtual and board.virtual.gave_up)

    def _power_went(self) -> None:
        self.on = False
        self.to_device.clear()
        self.to_host.clear()

    # -- the truth against the books ----------------------------------------------------------------------------

    def credited(self) -> int:
        """What the kiosk credited, cents."""
        return sum(credit.cents for credit in self.kiosk.credits)

    def difference(self) -> int:
        """Credited less stacked, cents."""
        return self.credited() - self.bench.stacked_cents()

    def unexplained(self) -> int:
        """Items that the device called stacked, and that the kiosk can't tell from one that it has credited."""
        return sum(note.state == NoteState.UNEXPLAINED for note in self.kiosk.disputes)

    def redeemed(self, item: items.Item) -> bool:
        """Whether the voucher system has paid this number."""
        return self.vouchers.status(item.barcode or "") == VoucherStatus.REDEEMED

    def holds(self, item: items.Item) -> bool:
        """Whether the plant has this number past the lever (it remembers the last eight)."""
        return item.barcode in self.bench.truth()["barcodes"]


def _names(statuses: tuple[int, ...]) -> str:
    return " or ".join(status_text(status) for status in statuses)

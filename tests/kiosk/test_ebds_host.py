"""The EBDS master against an acceptor as the protocol describes it: acknowledge bit, start, each fault of a line."""

from collections import Counter
from dataclasses import dataclass, field

import pytest
from acceptor_model import Paper
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kiosk_bench import Bench, Noise, clean
from pitbench.kiosk.events import EventKind
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import VoucherBook, VoucherStatus
from pitbench.protocols.acceptor_host import Refused, StatusSeen, TableRead, VersionRead, host_module
from pitbench.protocols.ebds import Decoder, Frame, Option
from pitbench.protocols.ebds_host import EbdsHost, EbdsSettings
from pitbench.protocols.id003 import Command, Denomination, Status

UNITS = {0x61: 1, 0x62: 2, 0x63: 5, 0x64: 10, 0x65: 20, 0x66: 50, 0x67: 100}
TABLE = {code: Denomination(code, 1, units, 0) for code, units in UNITS.items()}
FIVE, TWENTY, HUNDRED = Paper(0x63), Paper(0x65), Paper(0x67)
NUMBER = "123456789012345678"
VOUCHER = Paper(0x6F, NUMBER)
MODES = [pytest.param(EbdsSettings(extended=e), id="extended" if e else "standard") for e in (True, False)]


def frame(kind: int, bit: int, data: bytes) -> bytes:
    """Written from the protocol, apart from the codec."""
    body = bytes([5 + len(data), kind * 16 + bit]) + data
    check = 0
    for byte in body:
        check ^= byte
    return b"\x02" + body + b"\x03" + bytes([check])


def fields(units: int, index: int = 0) -> bytes:
    """Eighteen bytes of an extended note."""
    return bytes([index]) + b"USD" + f"{units:03}+00".encode() + bytes(8)


@dataclass
class EbdsAcceptor:
    """Mechanics, memory and the truth: `stacked` and `returned` are what really happened to the paper.

    A frame with the bit of the last one gets the last reply again. One with the other bit acknowledges it: only then
    are the events that it told forgotten. Of all that only a note past the lever survives a power cut.
    """

    refuses: frozenset = frozenset()  # extended subtypes, and "crc", that are called an invalid command
    deaf: frozenset = frozenset()  # the same, never answered
    holds_at_power_up: bool = False  # a note found in the transport stays in escrow, instead of going back
    power_up_level: bool = False  # the power-up bit stands until the device is ready, and isn't only told once
    rejected_level: int = 0  # replies for which the rejected bit stands
    on: bool = True
    state: str = "starting"
    paper: Paper | None = None
    pending: Paper | None = None  # durable: past the lever, not yet known to the host
    stacked: list = field(default_factory=list)
    returned: list = field(default_factory=list)
    settings: bytes = b"\0\0\0"
    enables: bytes = b"\x7f"
    powered_up: bool = True
    rejected: int = 0
    returned_event: bool = False
    trouble: tuple = (0, 0, 0)  # further bits of bytes 1 to 3
    cassette: bool = True
    told: set = field(default_factory=set)
    last_bit: int | None = None
    last_reply: bytes = b""
    due: int | None = 200
    escrow_until: int = 0
    now: int = 0
    resets: int = 0

    # The world

    def insert(self, paper: Paper) -> bool:
        if not self.on or self.state != "idle" or not self.settings[0]:
            return False
        self.paper = paper
        self._go("accepting", 400)
        return True

    def cut(self) -> None:
        self.on = False

    def power_on(self) -> None:
        self.on, self.powered_up, self.last_bit, self.told = True, True, None, set()
        self.settings, self.enables, self.rejected, self.returned_event = b"\0\0\0", b"\x7f", 0, False
        self._go("starting", 200)

    # Time

    def step(self, now: int) -> bytes:
        self.now = now
        if self.on and self.due is not None and now >= self.due:
            self.due = None
            getattr(self, "_after_" + self.state)()
        if self.on and self.state == "escrow" and now > self.escrow_until:
            self._go("returning", 300)
        return b""

    def _go(self, state: str, ms: int | None = None) -> None:
        self.state = state
        self.due = None if ms is None else self.now + ms

    def _after_starting(self) -> None:
        if self.paper and self.holds_at_power_up:
            self._to_escrow()
        elif self.paper:
            self._go("returning", 300)
        else:
            self._go("stacked" if self.pending else "idle")

    def _after_accepting(self) -> None:
        if not self._taken():
            self.rejected = max(1, self.rejected_level)
            return self._give_back()
        return self._to_escrow()

    def _taken(self) -> bool:
        if self.paper.code == 0x6F:
            return bool(self.settings[2] & 0x02)
        place = self.paper.code - 0x61
        switches = self.enables[0] if self._extended() else self.settings[0]
        return bool(self.settings[0] and switches >> place & 1)

    def _to_escrow(self) -> None:
        self.escrow_until = self.now + 10_000
        self._go("escrow")

    def _after_stacking(self) -> None:
        self.pending, self.paper = self.paper, None
        self.stacked.append(self.pending)
        self._go("stacked")

    def _after_returning(self) -> None:
        self.returned_event = True
        self._give_back()

    def _give_back(self) -> None:
        self.returned.append(self.paper)
        self.paper = None
        self._go("idle")

    # The wire

    def answer(self, data: bytes, now: int) -> bytes:
        """Answer one frame of the host; damaged ones in silence."""
        self.now = now
        if not self.on or len(data) < 5 or data[1] != len(data) or data != frame(data[2] >> 4, data[2] & 1, data[3:-2]):
            return b""
        kind, bit, body = data[2] >> 4, data[2] & 1, data[3:-2]
        if self._key(kind, body) in self.deaf:
            return b""
        if bit == self.last_bit:
            return self.last_reply
        self._acknowledged()
        reply_kind, reply = self._act(kind, body)
        self.last_bit, self.last_reply = bit, frame(reply_kind, bit, reply)
        return self.last_reply

    def _key(self, kind: int, body: bytes) -> object:
        return body[0] if kind == 7 else "crc" if kind == 6 and body[2] == 0 else None

    def _acknowledged(self) -> None:
        if "stacked" in self.told:
            self.pending = None
            self._go("idle")
        if "returned" in self.told:
            self.returned_event = False
        if "power up" in self.told and not (self.power_up_level and self.state == "starting"):
            self.powered_up = False
        if self.rejected:
            self.rejected -= 1
        self.told = set()

    def _act(self, kind: int, body: bytes) -> tuple:
        if self._key(kind, body) in self.refuses:
            return 2, self._report(invalid=True)
        if kind == 6:
            return self._auxiliary(body)
        self.settings = body[-3:] if kind == 1 else body[1:4]
        if kind == 7 and body[0] == 2:
            return 7, b"\x02" + self._report() + self._entry(body[4])
        if kind == 7 and body[0] == 3:
            self.enables = body[4:]
            return 2, self._report()
        if self.state == "escrow" and body[1] & 0x20:
            self._go("stacking", 400)
        elif self.state == "escrow" and body[1] & 0x40:
            self._go("returning", 300)
        return self._status()

    def _auxiliary(self, body: bytes) -> tuple:
        if body == b"\x7f\x7f\x7f":
            self.resets += 1
            self.trouble, self.powered_up = (0, 0, 0), True
            self._go("starting", 200)
            return 2, self._report()
        return 6, b"\x01\x0a\x00\x0f\0\0"

    def _entry(self, index: int) -> bytes:
        values = [*UNITS.values()]
        return fields(values[index - 1], index) if index <= len(values) else bytes([index]) + bytes(17)

    def _extended(self) -> bool:
        return bool(self.settings[2] & 0x10)

    def _status(self) -> tuple:
        item = self.pending if self.state == "stacked" else self.paper if self.state == "escrow" else None
        if item and item.code == 0x6F:
            return 7, b"\x01" + self._report() + item.digits.encode().ljust(28, b"\0")
        if item and self._extended():
            return 7, b"\x02" + self._report() + fields(UNITS[item.code])
        return 2, self._report(0 if item is None else item.code - 0x60)

    def _report(self, value: int = 0, invalid: bool = False) -> bytes:
        states = {
            "starting": 0, "idle": 0x01, "accepting": 0x02, "escrow": 0x04, "stacking": 0x08, "stacked": 0x11,
            "returning": 0x20,
        }  # fmt: skip
        self.told |= {self.state} & {"stacked"}
        if self.powered_up:
            self.told.add("power up")
        if self.returned_event:
            self.told.add("returned")
        status = self.trouble[0] | 0x10 * self.cassette | 0x02 * bool(self.rejected)
        exceptional = self.trouble[1] | self.powered_up | 0x02 * invalid | value << 3
        state = states[self.state] | 0x40 * self.returned_event
        return bytes([state, status, exceptional, self.trouble[2], 0x54, 0x2A])


class QuickJournal(Journal):
    """A journal that doesn't wait for the disk, for hundreds of kiosks."""

    def _sync(self) -> None:
        pass


class EbdsBench(Bench):
    """The kiosk's bench with this wire."""

    def __init__(self, path, policy=None, settings=None, acceptor=None, fault=clean, journal=QuickJournal):
        super().__init__(path, policy, settings, acceptor or EbdsAcceptor(), fault, journal)

    def _new_kiosk(self) -> Kiosk:
        return Kiosk(self.journal(self.path, wall=lambda: 0.0), self.policy, EbdsHost(self.settings))

    def ready(self) -> "EbdsBench":
        self.run_until(lambda: self.acceptor.state == "idle" and self.kiosk.host.ready)
        return self


def with_voucher() -> VoucherBook:
    book = VoucherBook()
    book.issue(NUMBER, 1234)
    return book


# Order of the start, timers, what is sent and what is made of replies


class Script:
    """Answers each frame from a function of kind and data, with the frame's own bit; remembers what was sent."""

    def __init__(self, host: EbdsHost, reply):
        self.host, self.reply, self.now = host, reply, 0
        self.sent: list = []
        self.events: list = []

    def run(self, ms: int) -> list:
        """Run for a time; returns the frames sent."""
        mark = len(self.sent)
        for _ in range(ms // 10):
            wire = self.host.next_frame(self.now)
            if wire is not None:
                self._sent(wire)
            self.now += 10
        return [sent for _, sent in self.sent[mark:]]

    def _sent(self, wire: bytes) -> None:
        (sent,) = Decoder().feed(wire)
        self.sent.append((self.now, sent))
        reply = self.reply(sent.kind, sent.data)
        if reply is not None:
            self.say(Frame(reply[0] << 4 | sent.bit, reply[1]))

    def say(self, heard: Frame) -> None:
        self.events += self.host.received(heard, self.now)

    def statuses(self) -> list:
        return [event for event in self.events if isinstance(event, StatusSeen)]


IDLE = b"\x01\x10\0\0\x54\x2a"


def standing(report: bytes = IDLE, kind: int = 2, more: bytes = b""):
    """A device that stands in one state, and answers queries."""
    model = EbdsAcceptor()

    def reply(sent_kind: int, data: bytes):
        if sent_kind == 6 and data[2] == 0:
            return 6, b"\x01\x0a\x00\x0f\0\0"
        if sent_kind == 7 and data[0] == 2:
            return 7, b"\x02" + report + model._entry(data[4])
        return kind, more[:1] + report + more[1:]

    return reply


def test_the_first_poll_and_then_the_bit_alternates():
    script = Script(EbdsHost(), standing())
    frames = script.run(3000)
    assert frames[0] == Frame(0x10, b"\x7f\x1c\x36")
    assert [f.bit for f in frames] == [at % 2 for at in range(len(frames))]


def test_polls_every_100_ms():
    script = Script(EbdsHost(), standing())
    script.run(2000)
    script.sent.clear()
    script.run(1000)
    times = [at for at, _ in script.sent]
    assert {b - a for a, b in zip(times, times[1:], strict=False)} == {100}


def test_the_start_reads_crc_and_table_and_tells_them():
    script = Script(EbdsHost(), standing())
    frames = script.run(1000)
    asked = [f.data[4] for f in frames if f.kind == 7]
    assert asked == [1, 2, 3, 4, 5, 6, 7, 8]
    assert script.host.ready
    told = [event for event in script.events if not isinstance(event, StatusSeen)]
    assert told == [VersionRead("EBDS model 54, revision 4.2, software CRC 1a0f"), TableRead(TABLE)]
    assert script.host.table == TABLE


def test_standard_mode_takes_the_settings_table_and_asks_for_none():
    script = Script(EbdsHost(EbdsSettings(extended=False, values=(1, 0, 5))), standing())
    frames = script.run(1000)
    assert [f.kind for f in frames if f.kind == 7] == []
    assert {code: d.cents for code, d in script.host.table.items()} == {0x61: 100, 0x63: 500}
    assert script.events.count(TableRead(script.host.table)) == 1
    assert frames[-1].data == b"\x05\x1c\x26"
    assert script.host.ready


def test_every_poll_carries_what_is_wanted():
    script = Script(
        EbdsHost(EbdsSettings(extended=False, power_up=Option.POWER_UP_C, barcode=False, coupon=False)), standing()
    )
    script.run(500)
    script.host.take(frozenset({0x61, 0x67}))
    assert not script.host.ready
    assert script.run(200)[-1].data == b"\x41\x1c\x08"
    assert script.host.ready
    script.host.inhibit(True)
    assert script.run(200)[-1].data == b"\x00\x1c\x08"


def test_inhibited_in_extended_reporting_is_no_notes_and_no_barcodes():
    script = Script(EbdsHost(inhibited=True), standing())
    assert {f.data for f in script.run(1000) if f.kind == 1} == {b"\x00\x1c\x14"}


def test_single_notes_are_switched_off_by_their_entries_and_on_again():
    script = Script(EbdsHost(), standing())
    script.run(1000)
    script.host.take(frozenset(TABLE) - {0x62, 0x67})
    (enables,) = [f.data for f in script.run(500) if f.kind == 7]
    assert enables == b"\x03\x7f\x1c\x36\x3d" + bytes(18)
    script.host.take(frozenset(TABLE))
    (enables,) = [f.data for f in script.run(500) if f.kind == 7]
    assert enables == b"\x03\x7f\x1c\x36\x7f" + bytes(18)
    assert script.host.ready


def test_no_notes_at_all_is_said_in_the_poll():
    script = Script(EbdsHost(), standing())
    script.run(1000)
    script.host.take(frozenset())
    assert script.run(500)[-1].data == b"\x00\x1c\x36"


def test_settings_are_made_again_after_a_power_up_and_after_silence():
    reports = [IDLE]
    script = Script(EbdsHost(), lambda kind, data: standing(reports[0])(kind, data))
    script.host.take(frozenset(TABLE) - {0x61})
    script.run(1000)
    reports[0] = b"\x01\x10\x01\0\x54\x2a"
    script.run(300)
    reports[0] = IDLE
    assert [f.data[0] for f in script.run(1500) if f.kind == 7].count(3) == 1
    script.reply, answering = (lambda kind, data: None), script.reply
    script.run(3000)
    script.reply = answering
    assert [f.data[0] for f in script.run(1500) if f.kind == 7].count(3) == 1


@pytest.mark.parametrize("state", [0x02, 0x04, 0x08, 0x20])
def test_no_query_is_sent_with_an_item_under_way(state):
    script = Script(EbdsHost(), standing(bytes([state]) + IDLE[1:]))
    assert {f.kind for f in script.run(1000)} == {1}


@pytest.mark.parametrize(("refused", "what"), [({2}, "Note table"), ({3}, "Note enables"), ({"crc"}, "Software CRC")])
@pytest.mark.parametrize("how", ["refuses", "deaf"])
def test_what_is_refused_or_never_answered_is_given_up_and_said_once(tmp_path, refused, what, how):
    bench = EbdsBench(tmp_path / "j", Policy(denominations=frozenset({2000})), None, EbdsAcceptor())
    setattr(bench.acceptor, how, frozenset(refused))
    bench.ready()
    assert [e.text.split(" failed")[0] for e in bench.events if e.kind == EventKind.SETTING_REFUSED] == [what]
    if refused == {2}:
        assert bench.kiosk.host.table == TABLE
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"\x01US 020+00" + bytes(8), "ISO code"),
        (fields(20, 9), "entry 9 for 1"),
        (b"\x01", "10 belong"),
    ],
)
def test_a_damaged_table_is_asked_for_again_and_given_up_in_the_end(answer, why):
    def reply(kind, data):
        return (7, b"\x02" + IDLE + answer) if kind == 7 else standing()(kind, data)

    script = Script(EbdsHost(), reply)
    asked = [f for f in script.run(2000) if f.kind == 7]
    assert len(asked) == 3
    (refused,) = [event for event in script.events if isinstance(event, Refused)]
    assert refused.what == "Note table"
    assert why in refused.why
    assert script.host.table == TABLE


def test_no_entry_is_switched_where_the_table_was_told_in_part():
    def reply(kind, data):
        known = kind != 7 or data[0] != 2 or data[4] < 4
        return standing()(kind, data) if known else (2, b"\x01\x10\x02\0\x54\x2a")

    script = Script(EbdsHost(), reply)
    script.run(1000)
    assert script.host.table == TABLE
    script.host.take(frozenset({0x61, 0x67}))
    assert {f.kind for f in script.run(1000)} == {1}
    assert script.host.ready


def test_a_wrong_answer_to_the_crc_query_is_refused():
    script = Script(EbdsHost(), lambda kind, data: (6, b"286000103") if kind == 6 else standing()(kind, data))
    script.run(1000)
    assert [e.what for e in script.events if isinstance(e, Refused)] == ["Software CRC"]
    assert script.host.version is None


def test_notes_of_another_currency_are_not_in_the_table_and_have_no_escrow_code():
    def reply(kind, data):
        if kind == 7:
            entry = b"\x01CAD020+00" if data[4] == 1 else bytes([data[4]])
            return 7, b"\x02" + IDLE + entry.ljust(18, b"\0")
        return standing()(kind, data)

    script = Script(EbdsHost(), reply)
    script.run(1000)
    assert script.host.table == {}
    script.reply = standing(b"\x04" + IDLE[1:], 7, b"\x02" + b"\0CAD020+00" + bytes(8))
    script.run(300)
    assert script.statuses()[-1] == StatusSeen(Status.ESCROW, b"\x60")


def test_more_values_than_escrow_codes_are_refused():
    with pytest.raises(ValueError, match="at most 14"):
        EbdsSettings(values=tuple(range(1, 16)))
    with pytest.raises(ValueError, match="at most 7"):
        EbdsSettings(values=tuple(range(1, 9)), extended=False)


NOTE_20 = b"\x02" + fields(20)
BARCODE = b"\x01" + NUMBER.encode() + bytes(10)


@pytest.mark.parametrize(
    ("report", "kind", "more", "status", "data"),
    [
        ("01 10 00 00", 2, b"", Status.IDLE, b""),
        ("02 10 00 00", 2, b"", Status.ACCEPTING, b""),
        ("04 10 20 00", 2, b"", Status.ESCROW, b"\x64"),
        ("04 10 00 00", 2, b"", Status.ESCROW, b""),
        ("04 10 00 00", 7, NOTE_20, Status.ESCROW, b"\x65"),
        ("04 10 00 00", 7, b"\x02" + fields(3), Status.ESCROW, b"\x60"),
        ("04 10 00 00", 7, b"\x02" + bytes(18), Status.ESCROW, b"\x60"),
        ("04 10 00 00", 7, b"\x02\x01US", Status.ESCROW, b""),
        ("04 10 00 00", 7, BARCODE, Status.ESCROW, b"\x6f" + NUMBER.encode()),
        ("04 30 00 00", 7, NOTE_20, Status.ESCROW, b"\x65"),
        ("08 10 00 00", 2, b"", Status.STACKING, b""),
        ("11 10 28 00", 2, b"", Status.VEND_VALID, b"\x65"),
        ("11 10 00 00", 2, b"", Status.VEND_VALID, b""),
        ("10 10 00 00", 7, NOTE_20, Status.VEND_VALID, b"\x65"),
        ("10 10 00 00", 7, BARCODE, Status.VEND_VALID, b"\x6f"),
        ("10 14 00 00", 7, NOTE_20, Status.VEND_VALID, b"\x65"),
        ("20 10 00 00", 2, b"", Status.RETURNING, b""),
        ("41 10 00 00", 2, b"", Status.RETURNING, b""),
        ("01 12 00 00", 2, b"", Status.REJECTING, b""),
        ("20 12 00 00", 2, b"", Status.REJECTING, b""),
        ("41 12 00 00", 2, b"", Status.RETURNING, b""),
        ("04 12 20 00", 2, b"", Status.ESCROW, b"\x64"),
        ("08 12 00 00", 2, b"", Status.STACKING, b""),
        ("01 10 01 00", 2, b"", Status.POWER_UP, b""),
        ("00 00 01 00", 2, b"", Status.POWER_UP, b""),
        ("04 10 01 00", 2, b"", Status.POWER_UP_BILL_IN_ACCEPTOR, b""),
        ("41 10 01 00", 2, b"", Status.POWER_UP_BILL_IN_ACCEPTOR, b""),
        ("08 10 01 00", 2, b"", Status.STACKING, b""),
        ("11 10 29 00", 2, b"", Status.POWER_UP_BILL_IN_STACKER, b""),
        ("00 10 00 00", 2, b"", Status.INITIALISE, b""),
        ("01 11 00 00", 2, b"", Status.CHEATED, b""),
        ("00 14 00 00", 2, b"", Status.JAM_IN_ACCEPTOR, b""),
        ("08 14 00 00", 2, b"", Status.JAM_IN_STACKER, b""),
        ("00 18 00 00", 2, b"", Status.STACKER_FULL, b""),
        ("01 00 00 00", 2, b"", Status.STACKER_OPEN, b""),
        ("01 30 00 00", 2, b"", Status.PAUSE, b""),
        ("01 50 00 00", 2, b"", Status.DISABLED, b""),
        ("01 10 00 20", 2, b"", Status.DISABLED, b""),
        ("00 10 00 01", 2, b"", Status.JAM_IN_ACCEPTOR, b""),
        ("00 10 04 00", 2, b"", Status.FAILURE, b""),
        ("00 10 40 00", 2, b"", Status.FAILURE, b"\xaf"),
    ],
)
def test_what_each_report_means(report, kind, more, status, data):
    script = Script(EbdsHost(), standing(bytes.fromhex(report) + b"\x54\x2a", kind, more))
    script.run(300)
    assert script.statuses()[-1] == StatusSeen(status, data)
    assert script.host.status == status


def test_a_note_in_escrow_is_in_the_table_before_that_is_read():
    script = Script(EbdsHost(), standing(b"\x04" + IDLE[1:], 7, NOTE_20))
    script.run(300)
    assert script.host.table == {0x65: TABLE[0x65]}
    assert script.events[:2] == [TableRead({0x65: TABLE[0x65]}), StatusSeen(Status.ESCROW, b"\x65")]


def entries_asked(frames: list) -> list:
    return [f.data[4] for f in frames if f.kind == 7 and f.data[0] == 2]


def test_a_note_that_comes_to_escrow_during_a_table_query_is_neither_taken_for_the_entry_nor_the_entry_for_it():
    def reply(kind, data):
        if kind == 7 and data[4] == 3:
            return 7, b"\x02\x04" + IDLE[1:] + fields(1, 3)
        return standing()(kind, data) if kind != 1 else (7, b"\x02\x04" + IDLE[1:] + fields(50))

    script = Script(EbdsHost(), standing())
    script.run(20)
    script.reply = reply
    assert entries_asked(script.run(500)) == [1, 2, 3]
    assert {event.data for event in script.statuses() if event.status == Status.ESCROW} == {b"\x66"}
    script.reply = standing()
    assert entries_asked(script.run(1000)) == [3, 4, 5, 6, 7, 8]
    assert script.host.table == TABLE


def test_the_answer_to_a_query_of_before_a_silence_is_no_entry_of_the_table_read_anew():
    def deaf_at_5(kind, data):
        return None if kind == 7 and data[4] == 5 or len(script.sent) > 8 else standing()(kind, data)

    script = Script(EbdsHost(), standing())
    script.reply = deaf_at_5
    script.run(3000)
    last = script.sent[-1][1]
    script.reply = standing()
    script.say(Frame(0x70 | last.bit, b"\x02" + IDLE + fields(20, 5)))
    assert entries_asked(script.run(1000)) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_repeated_poll_confirms_no_settings_that_its_first_sending_did_not_carry():
    script = Script(EbdsHost(), standing())
    script.run(1000)
    script.reply = lambda kind, data: None
    script.run(110)
    script.host.inhibit(True)
    script.run(300)
    last = script.sent[-1][1]
    assert last.data[0] == 0
    script.say(Frame(0x20 | last.bit, IDLE))
    assert not script.host.ready
    script.reply = standing()
    script.run(200)
    assert script.host.ready


def test_switches_that_were_given_up_are_tried_again_when_others_are_wanted():
    def reply(kind, data):
        return (2, b"\x01\x10\x02\0\x54\x2a") if kind == 7 and data[0] == 3 else standing()(kind, data)

    script = Script(EbdsHost(), reply)
    script.run(1000)
    script.host.take(frozenset({0x61}))
    assert [f.data[0] for f in script.run(1000) if f.kind == 7] == [3, 3, 3]
    script.host.take(frozenset({0x62}))
    assert [f.data[4] for f in script.run(1000) if f.kind == 7] == [2, 2, 2]


def test_a_poll_without_reply_is_repeated_after_300_ms_with_its_bit_and_silence_is_told():
    script = Script(EbdsHost(), lambda kind, data: None)
    assert not script.host.silent(0)
    frames = script.run(3000)
    times = [at for at, _ in script.sent]
    assert {b - a for a, b in zip(times, times[1:], strict=False)} == {300}
    assert {f.bit for f in frames} == {0}
    assert script.host.timeouts == 9
    assert not script.host.silent(2000)
    assert script.host.silent(2001)
    script.say(Frame(0x20, IDLE))
    assert not script.host.silent(script.now)


def escrowed(script: Script) -> None:
    script.reply = standing(b"\x04" + IDLE[1:], 7, NOTE_20)
    script.run(300)
    assert script.host.status == Status.ESCROW


@pytest.mark.parametrize(
    ("command", "mode"), [(Command.STACK_1, 0x3C), (Command.STACK_2, 0x3C), (Command.RETURN, 0x5C)]
)
def test_an_action_is_one_frame_and_its_repetition_is_a_plain_poll(command, mode):
    script = Script(EbdsHost(), standing())
    script.run(1000)
    escrowed(script)
    script.reply = lambda kind, data: None
    script.host.command(command)
    frames = script.run(1000)
    assert [f.data[1] for f in frames] == [mode, 0x1C, 0x1C, 0x1C]
    assert len({f.bit for f in frames}) == 1


@pytest.mark.parametrize("command", [Command.HOLD, Command.WAIT])
def test_hold_and_wait_are_polls(command):
    script = Script(EbdsHost(), standing())
    escrowed(script)
    script.host.command(command)
    assert {f.data[1] for f in script.run(500)} == {0x1C}


def test_a_command_is_withdrawn_by_a_newer_status():
    script = Script(EbdsHost(), standing())
    escrowed(script)
    script.reply = standing()
    script.run(10)
    script.host.command(Command.STACK_1)
    script.host.polls_only = True
    script.run(200)
    script.host.polls_only = False
    assert 0x3C not in [f.data[1] for f in script.run(300)]


def test_a_credit_is_repeated_until_it_is_acknowledged():
    script = Script(EbdsHost(), standing(b"\x11\x10\0\0\x54\x2a"))
    frames = script.run(1000)
    assert {f.bit for f in frames} == {0}
    assert set(script.statuses()) == {StatusSeen(Status.VEND_VALID)}
    assert len(script.statuses()) == len(frames) == 10
    script.reply = standing()
    script.host.acknowledge()
    assert script.run(100)[0].bit == 1


@pytest.mark.parametrize("report", ["11 10 01 00", "41 10 00 00", "01 10 01 00"])
def test_an_event_is_repeated_while_its_user_cannot_keep_it(report):
    script = Script(EbdsHost(), standing(bytes.fromhex(report) + b"\x54\x2a"))
    script.run(10)
    script.host.polls_only = True
    assert {f.bit for f in script.run(500)} == {0}
    script.host.polls_only = False
    assert script.run(110)[-1].bit == 1


def test_polls_only_still_asks_for_what_is_new():
    script = Script(EbdsHost(), standing(b"\x08" + IDLE[1:]))
    script.run(300)
    script.host.polls_only = True
    assert {f.bit for f in script.run(500)} == {0, 1}


def test_replies_that_nobody_waits_for_are_counted_and_do_no_harm():
    script = Script(EbdsHost(), standing())
    script.run(1000)
    seen = len(script.events)
    last = script.sent[-1][1].bit
    script.say(Frame(0x20 | last, b"\x11" + IDLE[1:]))
    script.reply = lambda kind, data: None
    script.run(100)
    script.say(Frame(0x20 | last, b"\x11" + IDLE[1:]))
    assert script.host.unsolicited == 2
    assert len(script.events) == seen


def test_strange_replies_are_counted_and_polling_goes_on():
    script = Script(EbdsHost(), lambda kind, data: (2, b"\x01"))
    assert len({f.bit for f in script.run(500)}) == 2
    assert script.host.strange == 5
    script = Script(EbdsHost(), lambda kind, data: (6, b"USD"))
    script.run(500)
    assert script.host.strange == 5


def test_a_status_as_old_as_a_lost_reply_is_not_believed():
    script = Script(EbdsHost(), standing())
    script.run(1000)
    script.reply = lambda kind, data: None
    script.run(1500)
    before = len(script.statuses())
    script.say(Frame(0x70 | script.sent[-1][1].bit, b"\x02\x04" + IDLE[1:] + fields(20)))
    assert len(script.statuses()) == before
    script.reply = standing()
    script.run(50)
    assert script.statuses()[before:][0] == StatusSeen(Status.IDLE)


@pytest.mark.parametrize("report", ["11 10 00 00", "41 10 00 00"])
def test_an_event_is_believed_whatever_its_age(report):
    script = Script(EbdsHost(), lambda kind, data: None)
    script.run(5000)
    script.say(Frame(0x20, bytes.fromhex(report) + b"\x54\x2a"))
    assert script.statuses()[-1].status in (Status.VEND_VALID, Status.RETURNING)


def test_the_invalid_command_bit_is_counted():
    script = Script(EbdsHost(), standing(b"\x01\x10\x02\0\x54\x2a"))
    script.run(100)
    assert script.host.invalid == len([sent for _, sent in script.sent if sent.kind != 6])


@pytest.mark.parametrize("answered", [True, False])
def test_a_wanted_reset_waits_for_the_item_and_is_sent_until_it_is_done(answered):
    script = Script(EbdsHost(), standing(b"\x08" + IDLE[1:]))
    script.host.reset()
    assert {f.kind for f in script.run(500)} == {1}
    trouble = standing(b"\x00\x14" + IDLE[2:])
    script.reply = lambda kind, data: None if kind == 6 and not answered else trouble(kind, data)
    frames = script.run(6000)
    assert [f.data for f in frames if f.kind == 6] == [b"\x7f\x7f\x7f"] * (1 if answered else 3)
    resets = [at for at, f in script.sent if f.kind == 6]
    assert all(not [t for t, _ in script.sent if at < t < at + 1000] for at in resets)


def test_a_power_up_ends_the_wish_for_a_reset():
    script = Script(EbdsHost(), standing(b"\x01\x10\x01" + IDLE[3:]))
    script.host.reset()
    script.run(300)
    script.reply = standing()
    assert [f for f in script.run(500) if f.data == b"\x7f\x7f\x7f"] == []


def test_the_wire_is_known_by_its_name():
    module = host_module("ebds")
    assert isinstance(module.Host(module.Settings(poll_ms=200)), EbdsHost)


# With the kiosk: credited is stacked, exactly once


@pytest.mark.parametrize("host_settings", MODES)
def test_three_notes_are_credited_once_each(tmp_path, host_settings):
    bench = EbdsBench(tmp_path / "j", None, host_settings).ready()
    for paper in (TWENTY, FIVE, HUNDRED):
        bench.pay(paper)
    assert bench.kiosk.credits == [(1, 2000, "note"), (2, 500, "note"), (3, 10000, "note")]
    assert bench.kiosk.disputes == []
    assert bench.acceptor.stacked == [TWENTY, FIVE, HUNDRED]


def test_a_voucher_is_held_by_polls_until_the_system_answers_and_redeemed_once(tmp_path):
    class Slow(VoucherBook):
        asked = 0

        def validate(self, number, claim):
            self.asked += 1
            return None if self.asked < 20 else super().validate(number, claim)

    book = Slow()
    book.issue(NUMBER, 1234)
    bench = EbdsBench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.pay(VOUCHER)
    assert bench.kiosk.credits == [(1, 1234, "voucher")]
    assert book.status(NUMBER) == VoucherStatus.REDEEMED
    assert book.asked >= 20


@pytest.mark.parametrize("host_settings", MODES)
def test_a_denomination_that_is_not_taken_is_rejected_by_the_device(tmp_path, host_settings):
    bench = EbdsBench(tmp_path / "j", Policy(denominations=frozenset({2000})), host_settings).ready()
    bench.run(500)
    bench.insert(FIVE)
    bench.come_to_rest()
    assert bench.acceptor.returned == [FIVE]
    assert EventKind.ESCROW not in [event.kind for event in bench.events]
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_a_note_that_is_not_taken_goes_back_where_single_notes_cannot_be_switched(tmp_path):
    acceptor = EbdsAcceptor(refuses=frozenset({3}))
    bench = EbdsBench(tmp_path / "j", Policy(denominations=frozenset({2000})), None, acceptor).ready()
    bench.pay(FIVE)
    assert bench.acceptor.returned == [FIVE]
    assert bench.kiosk.credits == bench.kiosk.disputes == []


def test_a_rejected_bit_that_stands_for_a_while_spoils_no_later_note(tmp_path):
    acceptor = EbdsAcceptor(rejected_level=12, refuses=frozenset({3}))
    bench = EbdsBench(tmp_path / "j", Policy(), None, acceptor).ready()
    acceptor.enables = b"\x3f"
    bench.insert(HUNDRED)
    bench.run_until(lambda: acceptor.returned == [HUNDRED])
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []


def test_the_credit_is_durable_before_it_is_acknowledged(tmp_path):
    bench = EbdsBench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.pending and "stacked" in bench.acceptor.told)
    assert bench.acceptor.pending == TWENTY
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_a_journal_that_fails_leaves_the_credit_with_the_device(tmp_path):
    class Failing(Journal):
        broken = False

        def _put(self, line: bytes) -> None:
            if Failing.broken:
                raise OSError("no room")
            super()._put(line)

    bench = EbdsBench(tmp_path / "j", journal=Failing).ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    Failing.broken = True
    bench.run(3000)
    assert bench.acceptor.pending == TWENTY
    assert bench.kiosk.credits == []
    Failing.broken = False
    bench.run(7000)
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.acceptor.pending is None


def test_stacked_without_an_item_in_escrow_is_one_dispute_and_no_credit(tmp_path):
    bench = EbdsBench(tmp_path / "j").ready()
    bench.acceptor.pending = TWENTY
    bench.acceptor._go("stacked")
    bench.run(500)
    bench.crash_host()
    bench.come_to_rest()
    assert bench.kiosk.credits == []
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(1, None)]


def test_another_value_when_stacked_is_a_dispute(tmp_path):
    bench = EbdsBench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.paper = HUNDRED
    bench.come_to_rest()
    assert bench.kiosk.credits == []
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(1, 2000)]


def test_host_slower_than_the_escrow_time_credits_nothing(tmp_path):
    bench = EbdsBench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.to_device.fault = lambda data: [] if data[2] >> 4 == 1 and data[4] & 0x20 else [(0, data)]
    bench.run(13_000)
    assert bench.acceptor.returned == [TWENTY]
    bench.come_to_rest()
    assert bench.kiosk.credits == bench.kiosk.disputes == []


def test_a_reset_clears_a_jam(tmp_path):
    bench = EbdsBench(tmp_path / "j").ready()
    bench.acceptor.trouble = (0x04, 0, 0)
    bench.run(500)
    assert bench.kiosk.host.status == Status.JAM_IN_ACCEPTOR
    bench.kiosk.reset()
    bench.run(3000)
    assert bench.acceptor.resets == 1
    assert bench.kiosk.host.status == Status.IDLE


# Every step of the host, every state of the device


def balanced(bench: EbdsBench) -> tuple:
    """What must hold after anything: credited is stacked, and nothing is in dispute. Returns the credits."""
    assert bench.credited_cents() == stacked_cents(bench)
    assert bench.kiosk.disputes == []
    return tuple(bench.credited_cents())


def stacked_cents(bench: EbdsBench) -> list:
    return sorted(1234 if paper == VOUCHER else UNITS[paper.code] * 100 for paper in bench.acceptor.stacked)


@pytest.mark.parametrize("flush", [False, True], ids=["line kept", "line flushed"])
@pytest.mark.parametrize("paper", [TWENTY, VOUCHER], ids=["note", "voucher"])
@pytest.mark.parametrize("host_settings", MODES)
def test_host_crash_at_every_step(tmp_path, host_settings, paper, flush):
    outcomes = set()
    for at in range(70):
        bench = EbdsBench(tmp_path / str(at), Policy(vouchers=with_voucher()), host_settings).ready()
        bench.insert(paper)
        bench.run(at * 20)
        bench.crash_host(flush)
        bench.come_to_rest()
        outcomes.add(balanced(bench))
        redeemed = bench.policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED
        assert redeemed == (VOUCHER in bench.acceptor.stacked)
        bench.kiosk.close()
    assert len(outcomes) == 1, "a crash of the host alone never sends the item back"


def test_a_host_that_begins_anew_asks_for_the_reply_to_the_marked_frame_again():
    for status, marks_next in ((b"\x04\x10\x28", True), (b"\x08\x10\0", True), (b"\x01\x10\0", False)):
        script = Script(EbdsHost(EbdsSettings(extended=False)), standing(b"\x04\x10\x28" + IDLE[3:]))
        script.run(500)
        assert script.host.mark is None
        script.host.command(Command.STACK_2)
        marked = script.host.mark
        script.reply = standing(status + IDLE[3:])
        (stack,) = (f for f in script.run(20) if f.data[1] & 0x20)
        assert str(stack.bit) == marked
        assert script.host.mark == (str(1 - stack.bit) if marks_next else marked)
        successor = EbdsHost()
        successor.resume(script.host.mark)
        assert Script(successor, standing()).run(10)[0].bit == int(script.host.mark)


def test_a_host_that_dies_with_the_credit_on_the_line_finds_it_by_its_mark(tmp_path):
    outcomes = set()
    for at in range(40):
        bench = EbdsBench(tmp_path / str(at), fault=lambda data: [(40, data)]).ready()
        bench.insert(TWENTY)
        bench.run(800 + at * 20)
        bench.crash_host(flush=True)
        bench.come_to_rest()
        assert bench.acceptor.stacked == [TWENTY]
        disputes = [(note.state, note.cents) for note in bench.kiosk.disputes]
        outcomes.add((tuple(bench.credited_cents()), tuple(disputes)))
        bench.kiosk.close()
    assert outcomes == {((2000,), ())}


@pytest.mark.parametrize("crash", [False, True], ids=["host lives", "host dies too"])
@pytest.mark.parametrize(
    ("holds", "level"), [(False, False), (True, True)], ids=["gives back, power-up told once", "holds, power-up stands"]
)
def test_power_cut_of_the_device_at_every_step(tmp_path, holds, level, crash):
    outcomes = set()
    for at in range(70):
        acceptor = EbdsAcceptor(holds_at_power_up=holds, power_up_level=level)
        bench = EbdsBench(tmp_path / str(at), None, None, acceptor).ready()
        bench.insert(TWENTY)
        bench.run(at * 20)
        bench.cut()
        if crash:
            bench.crash_host()
        bench.run(1000)
        bench.come_to_rest()
        outcomes.add(_explained(bench))
        bench.kiosk.close()
    assert outcomes <= {(), (2000,)}
    assert (2000,) in outcomes


def _explained(bench: EbdsBench) -> tuple:
    """Credited is stacked; a dispute is only about a note that isn't in the stacker."""
    assert bench.credited_cents() == stacked_cents(bench)
    assert bench.unexplained() == []
    return tuple(bench.credited_cents())


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
@pytest.mark.parametrize("host_settings", MODES)
def test_each_frame_of_an_insertion_suffers_each_fault(tmp_path, host_settings, direction, fault):
    for at in range(25):
        bench = EbdsBench(tmp_path / str(at), None, host_settings).ready()
        bench.insert(TWENTY)
        getattr(bench, direction).fault = _nth(at, fault)
        bench.run(6000)
        bench.come_to_rest()
        assert balanced(bench) == (2000,)
        bench.kiosk.close()


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
def test_each_frame_of_the_start_suffers_each_fault(tmp_path, direction, fault):
    for at in range(25):
        bench = EbdsBench(tmp_path / str(at), Policy(denominations=frozenset({2000})))
        getattr(bench, direction).fault = _nth(at, fault)
        bench.ready()
        assert bench.kiosk.host.table == TABLE
        assert bench.acceptor.enables[:1] == b"\x10"
        bench.kiosk.close()


def _nth(at: int, fault: str):
    hit = getattr(Noise(at, 1.0), "_" + fault)
    count = iter(range(10_000))
    return lambda data: hit(data) if next(count) == at else [(0, data)]


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.sampled_from([TWENTY, FIVE, HUNDRED, VOUCHER])),
        st.tuples(st.just("run"), st.integers(20, 3000)),
        st.tuples(st.just("crash"), st.booleans()),
        st.tuples(st.just("cut"), st.integers(20, 2000)),
        st.tuples(st.just("inhibit"), st.booleans()),
        st.tuples(st.just("system"), st.booleans()),
    ),
    max_size=25,
)


def _cut(bench: EbdsBench, off_ms: int) -> None:
    bench.cut()
    bench.run(off_ms)
    bench.acceptor.power_on()


_ACT = {
    "insert": lambda bench, paper: bench.acceptor.insert(paper),
    "run": lambda bench, ms: bench.run(ms),
    "crash": lambda bench, flush: bench.crash_host(flush),
    "cut": _cut,
    "inhibit": lambda bench, on: bench.kiosk.inhibit("test") if on else bench.kiosk.allow("test"),
    "system": lambda bench, up: setattr(bench.policy.vouchers, "up", up),
}


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=ACTS,
    seed=st.integers(0, 2**32),
    rate=st.sampled_from([0.0, 0.1, 0.3]),
    extended=st.booleans(),
    holds=st.booleans(),
    level=st.booleans(),
)
def test_credited_is_stacked_through_anything(tmp_path_factory, acts, seed, rate, extended, holds, level):
    path = tmp_path_factory.mktemp("any") / "j"
    policy = Policy(vouchers=with_voucher())
    acceptor = EbdsAcceptor(holds_at_power_up=holds, power_up_level=level)
    bench = EbdsBench(path, policy, EbdsSettings(extended=extended), acceptor).ready()
    bench.to_device.fault = bench.to_host.fault = Noise(seed, rate)
    for act, value in acts:
        _ACT[act](bench, value)
    policy.vouchers.up = True
    bench.come_to_rest()
    bench.run(2000)
    crashed = rate > 0 and any(act == "crash" for act, _ in acts)
    missing = Counter(stacked_cents(bench))
    missing.subtract(bench.credited_cents())
    assert min(missing.values(), default=0) >= 0, "never credited without being stacked, nor twice"
    assert bench.unexplained() == []
    in_dispute = Counter(note.cents for note in bench.kiosk.disputes)
    assert not (+missing - in_dispute), "what is stacked and not credited waits for an attendant"
    assert crashed or not +missing
    bench.kiosk.close()

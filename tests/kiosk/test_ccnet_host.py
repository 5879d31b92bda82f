"""The CCNET master: order of the start-up, ACKs, timers, refusals, and credited = stacked against a model validator.

The model is written from the protocol, with a CRC of its own, and not from any firmware. `stacked` and `returned` are
what really happened to the paper.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import pytest
from acceptor_model import Paper
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kiosk_bench import Bench, Noise, kinds, texts
from pitbench.kiosk.events import EventKind
from pitbench.kiosk.journal import Journal, JournalError
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import VoucherBook, VoucherStatus
from pitbench.protocols import id003
from pitbench.protocols.acceptor_host import Refused, StatusSeen, TableRead, VersionRead, host_module, host_names
from pitbench.protocols.ccnet import Command, Decoder, Frame, State, encode, mask
from pitbench.protocols.ccnet_host import CODES, ERRORS, POWER_UPS, STATUSES, Host, Settings
from pitbench.protocols.id003 import Status

ACK, NAK, ILLEGAL = b"\x00", b"\xff", b"\x30"
ROWS = {0: (1, 0), 2: (5, 0), 3: (1, 1), 4: (2, 1), 5: (5, 1), 6: (1, 2)}
TABLE = b"".join(
    bytes([ROWS[n][0]]) + b"USA" + bytes([ROWS[n][1]]) if n in ROWS else bytes(5) for n in range(24)
)  # fmt: skip
IDENTITY = b"SM-USA4707      "[:15] + b"21K100012345" + bytes(7)
NUMBER = "123456789012345678"
FIVE, TWENTY, HUNDRED, VOUCHER = Paper(0x63), Paper(0x65), Paper(0x67), Paper(0x6F, NUMBER)
NOTES = mask(frozenset({0, 2, 3, 4, 5, 6, 23}))


def crc(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x8408 if value & 1 else 0)
    return value


def wire(payload: bytes) -> bytes:
    body = b"\x02\x03" + bytes([5 + len(payload)]) + payload
    return body + crc(body).to_bytes(2, "little")


def bill_type(paper: Paper) -> bytes:
    return bytes([0x17 if paper.digits else paper.code - 0x61])


@dataclass
class Validator:
    """A bill validator as CCNET describes it.

    `strict` repeats the answer to a poll word for word until it is acknowledged; otherwise only what a bill came to is.
    """

    strict: bool = False
    accept_ms: int = 400
    stack_ms: int = 600
    back_ms: int = 300
    start_ms: int = 300
    illegal: frozenset = frozenset()
    on: bool = True
    state: str = "power up"
    paper: Paper | None = None  # in the transport, short of the stacker
    pending: Paper | None = None  # durable: in the stacker, not yet acknowledged
    stacked: list = field(default_factory=list)
    returned: list = field(default_factory=list)
    trail: list = field(default_factory=list)
    enabled: bytes = bytes(3)
    escrow: bytes = bytes(3)
    security: bytes = bytes(3)
    barcode: bytes = b""
    reason: int = 0
    error: bytes = b""
    due: int | None = None
    now: int = 0
    last: bytes = b""  # the last reply
    unacknowledged: bytes = b""

    # The world

    def insert(self, paper: Paper) -> bool:
        if not self.on or self.state != "idle":
            return False
        self.paper = paper
        self._go("accepting", self.accept_ms)
        return True

    def cut(self) -> None:
        self.on = False

    def power_on(self) -> None:
        self.on, self.enabled, self.error, self.unacknowledged, self.last = True, bytes(3), b"", b"", b""
        in_stacker, in_validator = self.pending is not None, self.paper is not None
        self._go("bill in stacker" if in_stacker else "bill in validator" if in_validator else "power up")

    def fail(self, *code: int) -> None:
        self.error = bytes(code)
        self._go("error")

    # Time

    def step(self, now: int) -> bytes:
        self.now = now
        if self.on and self.due is not None and now >= self.due:
            self.due = None
            getattr(self, "_after_" + self.state)()
        return b""

    def _go(self, state: str, ms: int | None = None) -> None:
        self.state = state
        self.trail.append(state)
        self.due = None if ms is None else self.now + ms

    def _takes(self, which: bytes) -> bool:
        return bool(int.from_bytes(which, "big") >> bill_type(self.paper)[0] & 1)

    def _after_accepting(self) -> None:
        if not self._takes(self.enabled):
            self.reason = 0x68
            return self._go("rejecting", self.back_ms)
        if self._takes(self.escrow):
            return self._go("escrow", 10_000)
        return self._go("stacking", self.stack_ms)

    def _after_escrow(self) -> None:
        self._go("returning", self.back_ms)

    _after_holding = _after_escrow

    def _after_stacking(self) -> None:
        self.pending, self.paper = self.paper, None
        self.stacked.append(self.pending)
        self._go("stacked")

    def _give_back(self) -> None:
        if self.paper:
            self.returned.append(self.paper)
        self.paper = None

    def _after_returning(self) -> None:
        self._give_back()
        self._go("returned")

    def _after_rejecting(self) -> None:
        self._give_back()
        self._rest()

    def _after_initialise(self) -> None:
        self._give_back()
        self._rest()

    def _rest(self) -> None:
        self._go("idle" if any(self.enabled) else "disabled")

    # The wire

    def answer(self, data: bytes, now: int) -> bytes:
        self.now = now
        if not self.on or len(data) < 6 or data[:2] != b"\x02\x03":
            return b""
        if data[2] != len(data) or crc(data):
            return wire(NAK)
        code, body = data[3], data[4:-2]
        if code == 0x00:
            self._acknowledged()
            return b""
        reply = ILLEGAL if code in self.illegal else self._answer(code, body)
        self.last = reply
        self.unacknowledged = reply if code == 0x33 else b""
        return wire(reply)

    def _answer(self, code: int, body: bytes) -> bytes:
        if code == 0x33:
            return self.unacknowledged if self.strict and self.unacknowledged else self._state()
        if code == 0x30:
            return self._reset()
        if code == 0x31:
            return self.enabled + self.security
        if code in (0x37, 0x41):
            closed = self.state in ("power up", "initialise", "disabled", "error")
            return ILLEGAL if not closed else IDENTITY if code == 0x37 else TABLE
        if code == 0x3A:
            return self.paper.digits.encode() if self.state == "escrow" and self.paper.digits else ILLEGAL
        return self._set(code, body) if code in (0x32, 0x34, 0x39) else self._act(code)

    def _state(self) -> bytes:
        simple = {
            "power up": 0x10, "bill in validator": 0x11, "bill in stacker": 0x12, "initialise": 0x13, "idle": 0x14,
            "accepting": 0x15, "stacking": 0x17, "returning": 0x18, "disabled": 0x19, "holding": 0x1A, "returned": 0x82,
        }  # fmt: skip
        if self.state == "escrow":
            return b"\x80" + bill_type(self.paper)
        if self.state == "stacked":
            return b"\x81" + bill_type(self.pending)
        if self.state == "rejecting":
            return bytes([0x1C, self.reason])
        return self.error if self.state == "error" else bytes([simple[self.state]])

    def _acknowledged(self) -> None:
        self.unacknowledged = b""
        if self.state == "stacked" and self.last[:1] == b"\x81":
            self.pending = None
            self._rest()
        elif self.state == "returned" and self.last[:1] == b"\x82":
            self._rest()

    def _set(self, code: int, body: bytes) -> bytes:
        if self.state in ("power up", "bill in validator", "bill in stacker", "initialise"):
            return ILLEGAL
        if code == 0x32:
            self.security = body
        elif code == 0x39:
            self.barcode = body
        else:
            self.enabled, self.escrow = body[:3], body[3:]
            if self.state in ("idle", "disabled"):
                self._rest()
        return ACK

    def _act(self, code: int) -> bytes:
        if self.state not in ("escrow", "holding"):
            return ILLEGAL
        to, ms = {0x35: ("stacking", self.stack_ms), 0x36: ("returning", self.back_ms), 0x38: ("holding", 10_000)}[code]
        self._go(to, ms)
        return ACK

    def _reset(self) -> bytes:
        if self.state == "stacked":
            return ILLEGAL  # a bill stacked that nobody acknowledged isn't lost to a reset
        self.pending, self.error, self.enabled = None, b"", bytes(3)
        self._go("initialise", self.start_ms)
        return ACK


class CcnetBench(Bench):
    """The kiosk's bench with a CCNET host and the model."""

    def __init__(self, path, policy=None, settings=None, acceptor=None, **other):
        super().__init__(path, policy, settings, acceptor or Validator(), **other)

    def _new_kiosk(self) -> Kiosk:
        return Kiosk(self.journal(self.path, wall=lambda: 0.0), self.policy, Host(self.settings))


def code_of(frame: bytes) -> int:
    return frame[3]


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch):
    """The order of entries is what counts here, not the disk."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


# The master alone


class Script:
    """Answers each command from a dictionary, at once; remembers what was sent and when."""

    def __init__(self, replies: dict, host: Host | None = None):
        self.host, self.replies, self.now = host or Host(), replies, 0
        self.sent: list = []
        self.events: list = []

    def run(self, ms: int) -> list:
        """Run for a time; returns the commands sent."""
        mark = len(self.sent)
        for _ in range(ms // 10):
            data = self.host.next_frame(self.now)
            if data is not None:
                (frame,) = Decoder().feed(data)
                self.sent.append((self.now, frame.code, frame.data))
                reply = self.replies.get(frame.code)
                if callable(reply):
                    reply = reply(frame.data)
                if reply is not None:
                    self.say(reply)
            self.now += 10
        return [code for _, code, _ in self.sent[mark:]]

    def say(self, payload: bytes) -> list:
        news = self.host.received(Frame(payload), self.now)
        self.events += news
        return news

    def times(self, code: int) -> list:
        return [at for at, sent, _ in self.sent if sent == code]

    def data(self, code: int) -> list:
        return [data for _, sent, data in self.sent if sent == code]


class Standing(dict):
    """A device that stands in one state and does as it is told; `opens` lets it open and close with what is enabled."""

    def __init__(self, state: int, *data: int, opens: bool = False):
        super().__init__(dict.fromkeys((0x30, 0x32, 0x35, 0x36, 0x38, 0x39), ACK))
        self.opens, self.enabled = opens, bytes(3)
        self.update(
            {
                0x31: lambda _: self.enabled + bytes(3),
                0x37: IDENTITY,
                0x41: TABLE,
                0x3A: NUMBER.encode(),
                0x34: self._enable,
            }
        )
        self.state(state, *data)

    def state(self, *payload: int) -> None:
        self[0x33] = bytes(payload)

    def _enable(self, body: bytes) -> bytes:
        self.enabled = body[:3]
        if self.opens:
            self.state(State.IDLING if any(self.enabled) else State.UNIT_DISABLED)
        return ACK

    def answering(self, code: int, reply) -> Standing:
        """Answer a command otherwise, None for never, until `right`."""
        self._rights = {code: self[code]}
        self[code] = reply
        return self

    def right(self) -> None:
        self.update(self._rights)


def opening(state: int = State.UNIT_DISABLED) -> Standing:
    return Standing(state, opens=True)


def without(sent: list, *codes: int) -> list:
    return [code for code in sent if code not in codes]


def deeds(sent: list) -> list:
    return without(sent, Command.POLL, Command.ACK)


@pytest.mark.parametrize("state", sorted(POWER_UPS))
def test_start_up_resets_then_reads_then_sets_and_enabling_comes_last(state):
    device = Standing(state)
    script = Script(device, Host(Settings(security=b"\0\0\2")))
    assert script.run(50) == [Command.POLL, Command.ACK, Command.RESET]
    device.state(State.INITIALISE)
    assert deeds(script.run(300)) == [Command.IDENTIFICATION, Command.GET_BILL_TABLE]
    device.state(State.UNIT_DISABLED)
    device.opens = True
    assert deeds(script.run(1000)) == [
        Command.SET_SECURITY, Command.SET_BARCODE_PARAMETERS, Command.ENABLE_BILL_TYPES, Command.GET_STATUS
    ]  # fmt: skip
    assert script.host.ready
    assert script.host.version == "SM-USA4707, serial 21K100012345"
    assert {code: d.cents for code, d in script.host.table.items()} == {
        0x61: 100, 0x63: 500, 0x64: 1000, 0x65: 2000, 0x66: 5000, 0x67: 10000
    }  # fmt: skip
    assert [type(e) for e in script.events if not isinstance(e, StatusSeen)] == [VersionRead, TableRead]


def test_settings_carry_their_data():
    script = Script(opening(), Host(Settings(security=b"\0\0\2", barcode=b"\1\x0a")))
    script.run(1000)
    assert script.data(0x32) == [b"\0\0\2"]
    assert script.data(0x39) == [b"\1\x0a"]
    assert script.data(0x34) == [NOTES + NOTES]


def test_without_barcodes_none_is_enabled_nor_set():
    script = Script(opening(), Host(Settings(barcode=b"")))
    script.run(1000)
    assert script.data(0x39) == []
    assert script.data(0x34) == [mask(frozenset(ROWS)) * 2]


def test_an_enabled_device_is_closed_before_it_is_asked_for_its_table():
    script = Script(opening(State.IDLING))
    sent = deeds(script.run(1500))
    assert sent.index(Command.ENABLE_BILL_TYPES) < sent.index(Command.GET_BILL_TABLE)
    assert Command.RESET not in sent
    assert script.data(0x34) == [bytes(6), NOTES + NOTES]
    assert script.host.ready


def test_reset_is_repeated_while_the_power_up_state_stands():
    script = Script(Standing(State.POWER_UP).answering(Command.RESET, None))
    assert script.run(2000).count(Command.RESET) >= 3
    resets, polls = script.times(Command.RESET), script.times(Command.POLL)
    assert all(any(a < p < b for p in polls) for a, b in zip(resets, resets[1:], strict=False)), "asks before repeating"


@pytest.mark.parametrize("state", [State.ESCROW_POSITION, State.STACKING, State.BILL_STACKED, State.HOLDING])
def test_nothing_is_read_or_set_with_an_item_under_way(state):
    script = Script(Standing(state, 4) if state >= 0x80 else Standing(state))
    assert deeds(script.run(1000)) == []


@pytest.mark.parametrize("state", sorted(ERRORS))
def test_nothing_but_polls_in_an_error_until_a_reset_is_asked_for(state):
    script = Script(Standing(state, 0x50) if state == State.FAILURE else Standing(state))
    assert deeds(script.run(2000)) == []
    assert StatusSeen(STATUSES[state], b"\xa2" if state == State.FAILURE else b"") in script.events
    script.host.reset()
    assert deeds(script.run(1000)) == [Command.RESET]


def test_a_reset_whose_ack_was_lost_is_not_repeated_on_a_device_that_started_again():
    device = Standing(State.CHEATED).answering(Command.RESET, None)
    script = Script(device)
    script.run(300)
    script.host.reset()
    script.run(200)
    device.state(State.INITIALISE)
    script.run(500)
    device.state(State.UNIT_DISABLED)
    script.run(500)
    assert len(script.times(Command.RESET)) == 1


def test_a_wanted_reset_waits_for_the_item_to_end():
    device = Standing(State.STACKING)
    script = Script(device)
    script.host.reset()
    assert Command.RESET not in script.run(1000)
    device.state(State.IDLING)
    assert Command.RESET in script.run(500)


def test_polls_every_150_ms():
    script = Script(opening())
    script.run(1000)
    script.sent.clear()
    script.run(1500)
    polls = script.times(Command.POLL)
    assert {b - a for a, b in zip(polls, polls[1:], strict=False)} == {150}


def test_a_poll_without_reply_is_repeated_after_300_ms_and_silence_is_told():
    script = Script({})
    assert not script.host.silent(0)
    script.run(3000)
    polls = script.times(Command.POLL)
    assert {b - a for a, b in zip(polls, polls[1:], strict=False)} == {300}
    assert script.host.timeouts == 9
    assert not script.host.silent(2000)
    assert script.host.silent(2001)
    script.say(b"\x14")
    assert not script.host.silent(script.now)


def test_times_are_settings():
    script = Script({}, Host(Settings(poll_ms=50, reply_ms=100, silent_ms=500)))
    assert not script.host.silent(0)
    script.run(1000)
    polls = script.times(Command.POLL)
    assert {b - a for a, b in zip(polls, polls[1:], strict=False)} == {100}
    assert script.host.silent(501)


# ACKs


def test_replies_are_acknowledged_and_the_next_command_keeps_its_distance():
    script = Script(opening(), Host(Settings(turn_ms=30)))
    script.run(2000)
    at = {time: code for time, code, _ in script.sent}
    acks = script.times(Command.ACK)
    assert len(acks) >= 10
    for ack in acks:
        assert at[ack - 10] in (Command.POLL, Command.GET_STATUS, Command.IDENTIFICATION, Command.GET_BILL_TABLE)
        assert not any(time in at for time in (ack + 10, ack + 20))


def test_bill_stacked_is_acknowledged_once_for_each_call_and_never_before():
    script = Script(Standing(State.BILL_STACKED, 4))
    assert Command.ACK not in script.run(5000)
    assert script.events[-1] == StatusSeen(Status.VEND_VALID, b"\x65")
    script.host.acknowledge()
    assert script.run(200).count(Command.ACK) == 1


def test_an_acknowledgement_that_comes_in_another_state_is_withdrawn():
    script = Script(Standing(State.STACKING))
    script.run(200)
    script.host.acknowledge()
    assert Command.ACK not in script.run(200)


@pytest.mark.parametrize("state", [State.STACKING, State.ESCROW_POSITION, State.HOLDING])
def test_no_ack_that_might_be_taken_for_that_of_bill_stacked(state):
    device = opening()
    script = Script(device)
    script.run(1000)
    device[0x33] = b"\x80\x04"
    assert Command.ACK in script.run(300)
    script.host.command(id003.Command.STACK_1)
    assert Command.STACK in script.run(30)
    device.state(*([state, 4] if state == State.ESCROW_POSITION else [state]))
    assert Command.ACK not in script.run(2500)


def test_a_state_that_stands_for_long_on_a_quiet_line_is_acknowledged_after_all():
    script = Script(Standing(State.STACKING))
    script.run(8000)
    assert len(script.times(Command.ACK)) == 2
    assert script.times(Command.ACK)[0] >= 3000


def test_no_ack_on_a_line_that_loses_replies():
    count = iter(range(10_000))
    script = Script({0x33: lambda _: None if next(count) % 3 == 0 else b"\x17"})
    assert Command.ACK not in script.run(8000)


def test_an_answer_that_nobody_asked_for_is_not_acknowledged():
    script = Script(opening())
    script.run(1000)
    script.sent.clear()
    script.say(b"\x82\x04")
    assert script.run(10) == []
    assert script.host.unsolicited == 1


def test_no_ack_for_a_reply_once_another_command_has_left():
    host = Host()
    script = Script(opening(), host)
    script.run(1000)
    host.polls_only = True
    assert without(script.run(500), Command.POLL) == []
    host.polls_only = False
    assert script.run(200).count(Command.ACK) <= 2


# Refusals, losses, late answers


@pytest.mark.parametrize("setting", [Command.SET_BARCODE_PARAMETERS, Command.ENABLE_BILL_TYPES, Command.GET_STATUS])
def test_what_is_refused_is_tried_three_times_and_told_once(setting):
    script = Script(opening().answering(setting, ILLEGAL))
    script.run(3000)
    assert len(script.times(setting)) == 3
    assert script.host.ready
    told = [e for e in script.events if isinstance(e, Refused)]
    assert [(e.what, e.why) for e in told] in (
        [(str(setting.name.lower().replace("_", " ")), "the device calls it an illegal command")],
        [],
    )
    assert len(told) == 1


def test_a_nak_is_tried_oftener_than_a_refusal():
    device = opening().answering(Command.ENABLE_BILL_TYPES, NAK)
    script = Script(device)
    script.run(1200)
    assert len(script.times(Command.ENABLE_BILL_TYPES)) > 3
    device.right()
    script.run(500)
    assert script.host.ready


def test_a_setting_that_was_given_up_is_tried_again_later():
    device = opening().answering(Command.ENABLE_BILL_TYPES, ILLEGAL)
    script = Script(device)
    script.run(3000)
    device.right()
    script.run(6000)
    assert script.host.ready
    assert script.host.status == Status.IDLE


def test_a_device_that_holds_other_bill_types_is_set_again():
    device = opening().answering(0x31, b"\0\0\1" + bytes(3))
    script = Script(device)
    script.run(300)
    assert not script.host.ready
    device.right()
    script.run(500)
    assert script.host.ready
    assert len(script.data(0x34)) >= 2


def test_types_that_its_table_lacks_are_the_devices_own_affair():
    device = opening()
    script = Script(device.answering(0x31, lambda _: bytes([device.enabled[0] ^ 0xC0]) + device.enabled[1:] + bytes(3)))
    script.run(1000)
    assert script.host.ready
    assert len(script.data(0x34)) == 1


@pytest.mark.parametrize("read", [Command.IDENTIFICATION, Command.GET_BILL_TABLE, Command.SET_BARCODE_PARAMETERS])
def test_what_is_never_answered_does_not_keep_the_others_waiting(read):
    script = Script(opening().answering(read, None))
    script.run(1500)
    assert {0x37, 0x41, 0x39, 0x34} <= {code for _, code, _ in script.sent}


def test_a_table_of_another_size_is_refused_and_read_again():
    device = opening().answering(0x41, TABLE[:-1])
    script = Script(device)
    script.run(200)
    assert script.host.table is None
    device.right()
    script.run(1000)
    assert script.host.table is not None


def test_without_its_table_nothing_is_enabled_and_it_is_told():
    script = Script(opening().answering(0x41, ILLEGAL))
    script.run(3000)
    assert Refused("get bill table", "the device calls it an illegal command") in script.events
    assert set(script.data(0x34)) == {bytes(6)}
    assert not script.host.ready


def test_a_late_answer_is_taken_and_is_no_answer_to_something_else():
    script = Script({})
    script.run(10)
    script.say(IDENTITY)
    assert script.host.version == "SM-USA4707, serial 21K100012345"
    assert script.host.unsolicited == 1
    assert script.run(280) == []
    assert script.run(30) == [Command.POLL]


def test_an_ack_of_something_else_is_found_out():
    device = opening().answering(Command.ENABLE_BILL_TYPES, ACK)
    script = Script(device)
    script.run(500)
    assert not script.host.ready
    device.right()
    script.run(1000)
    assert script.host.ready


def test_stray_frames_are_counted_and_do_no_harm():
    script = Script(opening())
    script.run(1000)
    script.sent.clear()
    for payload in (ACK, NAK, ILLEGAL, b"\x99", b"\x12\x34\x56\x78", b"123456789012345678"):
        script.say(payload)
    host = script.host
    assert (host.naks, host.invalid, host.strange) == (1, 1, 2)
    assert script.events[-1] == StatusSeen(0x199, b"")
    assert set(script.run(600)) == {Command.POLL, Command.ACK}


def test_a_busy_device_is_asked_for_nothing_and_says_nothing_new():
    device = opening()
    script = Script(device)
    script.run(1000)
    device.state(State.DEVICE_BUSY, 5)
    script.run(200)
    before = len(script.events)
    script.host.inhibit(True)
    assert deeds(script.run(1000)) == []
    assert script.events[before:] == []
    assert script.host.status == Status.IDLE
    device.state(State.IDLING)
    assert Command.ENABLE_BILL_TYPES in script.run(200)


def test_inhibit_closes_and_opens():
    device = opening()
    script = Script(device)
    script.run(1000)
    script.host.inhibit(True)
    script.run(500)
    assert script.host.status == Status.DISABLED
    assert script.host.ready
    script.host.inhibit(False)
    script.run(500)
    assert script.host.status == Status.IDLE
    assert script.data(0x34)[-2:] == [bytes(6), NOTES + NOTES]


def test_exactly_the_wanted_codes_are_taken():
    script = Script(opening())
    script.run(1000)
    script.host.take(frozenset({0x63, 0x62}))
    script.run(500)
    assert script.data(0x34)[-1] == mask(frozenset({2, 23})) * 2


def test_notes_of_another_currency_are_not_taken():
    table = b"\x05EUR\x01" + TABLE[5:]
    for setting, codes in ((Settings(), {0x61}), (Settings(currency="USA"), {0x63, 0x64, 0x65, 0x66, 0x67})):
        script = Script(opening().answering(0x41, table), Host(setting))
        script.run(1000)
        assert set(script.host.table) == codes
        assert script.data(0x34)[-1] == mask(frozenset({code - 0x61 for code in codes} | {23})) * 2


def test_a_note_below_one_unit_is_not_taken():
    script = Script(opening().answering(0x41, b"\x05USA\x81" + TABLE[5:]))
    script.run(1000)
    assert 0x61 not in script.host.table


def test_bill_types_from_14_on_are_never_taken_for_a_barcode():
    assert (CODES[0], CODES[13], CODES[14], CODES[23]) == (0x61, 0x6E, 0x70, 0x79)
    assert 0x6F not in CODES.values()


def test_bill_type_23_is_a_note_where_the_table_says_so():
    script = Script(opening().answering(0x41, TABLE[:-5] + b"\x02USA\x02"))
    script.run(1000)
    assert script.say(b"\x80\x17") == [StatusSeen(Status.ESCROW, b"\x79")]


def test_a_command_is_withdrawn_by_a_newer_status():
    script = Script(Standing(State.ESCROW_POSITION, 4))
    script.say(b"\x80\x04")
    script.host.command(id003.Command.STACK_1)
    script.say(b"\x1c\x68")
    assert Command.STACK not in script.run(10)


def test_a_status_older_than_the_ack_does_not_repeat_the_command():
    script = Script({})
    script.say(b"\x80\x04")
    script.host.command(id003.Command.STACK_2)
    assert script.run(10) == [Command.STACK]
    script.say(b"\x80\x04")
    script.host.command(id003.Command.STACK_2)
    script.say(ACK)
    assert Command.STACK not in script.run(1000)


@pytest.mark.parametrize(
    ("said", "sent"),
    [("STACK_1", Command.STACK), ("STACK_2", Command.STACK), ("RETURN", Command.RETURN), ("HOLD", Command.HOLD)],
)
def test_commands(said, sent):
    script = Script({})
    script.say(b"\x80\x04")
    script.host.command(id003.Command[said])
    assert script.run(10) == [sent]


def test_there_is_no_wait():
    script = Script({})
    script.say(b"\x80\x04")
    script.host.command(id003.Command.WAIT)
    assert script.run(10) == [Command.POLL]


@pytest.mark.parametrize(
    ("payload", "seen"),
    [
        (b"\x10", StatusSeen(Status.POWER_UP)),
        (b"\x11", StatusSeen(Status.POWER_UP_BILL_IN_ACCEPTOR)),
        (b"\x12", StatusSeen(Status.POWER_UP_BILL_IN_STACKER)),
        (b"\x80\x00", StatusSeen(Status.ESCROW, b"\x61")),
        (b"\x80\x20", StatusSeen(Status.ESCROW, b"\xff")),
        (b"\x80", StatusSeen(Status.ESCROW, b"")),
        (b"\x81\x17", StatusSeen(Status.VEND_VALID, b"\x6f")),
        (b"\x82\x03", StatusSeen(Status.RETURNING)),
        (b"\x1c\x6c", StatusSeen(Status.REJECTING, b"\x7d")),
        (b"\x1c\x6d", StatusSeen(Status.REJECTING, b"\x7f")),
        (b"\x1c\x69", StatusSeen(Status.REJECTING, b"\x69")),
        (b"\x1c\x92", StatusSeen(Status.REJECTING, b"\x92")),
        (b"\x47\x54", StatusSeen(Status.FAILURE, b"\xab")),
        (b"\x47\x5f", StatusSeen(Status.FAILURE, b"\x5f")),
        (b"\x44", StatusSeen(Status.JAM_IN_STACKER)),
        (b"\x48", StatusSeen(0x148)),
    ],
)
def test_what_states_mean(payload, seen):
    assert Host().received(Frame(payload), 0) == [seen]


def test_polls_only_holds_everything_else_back():
    for state in ([State.POWER_UP_WITH_BILL_IN_STACKER], [State.ESCROW_POSITION, 23], [State.UNIT_DISABLED]):
        host = Host()
        script = Script(Standing(*state), host)
        host.polls_only = True
        host.acknowledge()
        assert without(script.run(1000), Command.POLL) == []
        host.polls_only = False
        assert without(script.run(300), Command.POLL) != []


# Barcodes


def test_a_barcode_is_told_with_its_number_and_read_once():
    script = Script(Standing(State.ESCROW_POSITION, 23))
    script.run(1000)
    seen = {e for e in script.events if isinstance(e, StatusSeen)}
    assert seen == {StatusSeen(Status.ESCROW, b"\x6f" + NUMBER.encode())}
    assert len(script.times(0x3A)) == 1


def test_a_number_is_read_again_after_a_gap_in_which_another_voucher_may_have_come():
    numbers = iter((NUMBER, "987654321098765432"))
    device = Standing(State.ESCROW_POSITION, 23).answering(0x3A, lambda _: next(numbers).encode())
    script = Script(device)
    script.run(300)
    poll = device.pop(0x33)
    script.run(500)
    device[0x33] = poll
    script.run(500)
    assert script.events[-1] == StatusSeen(Status.ESCROW, b"\x6f987654321098765432")


def test_a_number_is_kept_while_it_is_held_and_forgotten_when_it_is_gone():
    device = Standing(State.ESCROW_POSITION, 23)
    script = Script(device)
    for state, reads in ((b"\x1a", 1), (b"\x80\x17", 1), (b"\x18", 1), (b"\x80\x17", 2)):
        script.run(300)
        device[0x33] = state
        script.run(300)
        assert len(script.times(0x3A)) == reads


def test_a_barcode_that_the_device_will_not_tell_is_told_without_number():
    script = Script(Standing(State.ESCROW_POSITION, 23).answering(0x3A, ILLEGAL))
    script.run(1500)
    assert len(script.times(0x3A)) == 3
    assert script.events[-1] == StatusSeen(Status.ESCROW, b"\x6f")


def test_a_barcode_is_asked_for_its_number_though_an_earlier_one_was_not_told():
    device = Standing(State.ESCROW_POSITION, 23).answering(0x3A, ILLEGAL)
    script = Script(device)
    script.run(1500)
    device.state(State.BILL_RETURNED, 23)
    script.run(300)
    device.right()
    device.state(State.ESCROW_POSITION, 23)
    script.run(300)
    assert script.events[-1] == StatusSeen(Status.ESCROW, b"\x6f" + NUMBER.encode())


def test_the_kiosk_sends_back_a_barcode_without_number(tmp_path):
    bench = CcnetBench(tmp_path / "j", Policy(vouchers=with_voucher()), acceptor=Validator(illegal=frozenset({0x3A})))
    bench.ready().insert(VOUCHER)
    bench.come_to_rest()
    assert bench.acceptor.returned == [VOUCHER]


# With a kiosk


def with_voucher() -> VoucherBook:
    book = VoucherBook()
    book.issue(NUMBER, 1234)
    return book


def outcome(bench: Bench) -> tuple:
    """What must hold after anything: the credits, and what was stacked."""
    assert bench.credited_cents() == bench.stacked_cents({NUMBER: 1234})
    assert bench.unexplained() == []
    ids = [credit.id for credit in bench.kiosk.credits]
    assert len(ids) == len(set(ids))
    return tuple(bench.credited_cents())


def test_a_kiosk_finds_the_host_by_the_name_of_its_wire():
    assert "ccnet" in host_names()
    module = host_module("ccnet")
    assert module.Host(module.Settings(poll_ms=200)).settings.poll_ms == 200


@pytest.mark.parametrize("strict", [False, True])
def test_three_notes_and_a_voucher_are_credited_once_each(tmp_path, strict):
    bench = CcnetBench(tmp_path / "j", Policy(vouchers=with_voucher()), acceptor=Validator(strict)).ready()
    for paper in (TWENTY, FIVE, HUNDRED, VOUCHER):
        bench.pay(paper)
        bench.run(500)
    assert [credit.cents for credit in bench.kiosk.credits] == [2000, 500, 10000, 1234]
    assert bench.kiosk.disputes == []
    assert bench.acceptor.stacked == [TWENTY, FIVE, HUNDRED, VOUCHER]
    assert bench.policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED


def test_the_decision_is_durable_before_stack_is_sent_and_the_credit_before_the_ack(tmp_path):
    bench = CcnetBench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    entries: dict = {}

    def watch(frame: bytes) -> list:
        known = [r["what"] for r in bench.kiosk.books.journal.records]
        if code_of(frame) == Command.STACK or bench.acceptor.state == "stacked":
            entries.setdefault(code_of(frame), known)
        return [(0, frame)]

    bench.to_device.fault = watch
    bench.run_until(lambda: bench.acceptor.state == "idle")
    assert entries[Command.STACK][-1] == "decided"
    assert entries[Command.ACK][-1] == "credited"


class Full(Journal):
    """A journal that refuses credits while `full`."""

    full = True

    def append(self, what, **fields):
        if self.full and what == "credited":
            raise JournalError("The disk is full.", "Make room.")
        return super().append(what, **fields)


def test_no_credit_in_the_journal_no_ack(tmp_path):
    bench = CcnetBench(tmp_path / "j", journal=Full).ready()
    bench.insert(TWENTY)
    bench.run(8000)
    assert bench.acceptor.state == "stacked"
    bench.kiosk.books.journal.full = False
    bench.run_until(lambda: bench.acceptor.state in ("idle", "disabled"))
    assert outcome(bench) == (2000,)


def test_bill_stacked_said_again_is_credited_once(tmp_path):
    bench = CcnetBench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "escrow")
    bench.to_device.fault = lambda frame: [] if code_of(frame) == Command.ACK else [(0, frame)]
    bench.run(5000)
    assert bench.acceptor.state == "stacked"
    bench.come_to_rest()
    assert outcome(bench) == (2000,)
    assert bench.kiosk.disputes == []


def test_bill_stacked_without_an_item_in_escrow_is_one_dispute_and_no_credit(tmp_path):
    bench = CcnetBench(tmp_path / "j").ready()
    bench.acceptor.stacked.append(TWENTY)
    bench.acceptor.pending = TWENTY
    bench.acceptor._go("stacked")
    bench.run(1000)
    bench.crash_host()
    bench.come_to_rest()
    assert bench.kiosk.credits == []
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(1, None)]
    assert kinds(bench).count(EventKind.DISPUTE) == 1


def test_another_bill_type_stacked_than_was_in_escrow_is_a_dispute(tmp_path):
    bench = CcnetBench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.paper = HUNDRED
    bench.come_to_rest()
    assert bench.kiosk.credits == []
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(1, 2000)]


@pytest.mark.parametrize("crash", [False, True], ids=["host lives", "host dies too"])
@pytest.mark.parametrize("reset_lost", [False, True])
def test_bill_in_stacker_at_power_up_is_credited_once(tmp_path, crash, reset_lost):
    bench = CcnetBench(tmp_path / "j").ready()
    bench.to_host.fault = lambda frame: [] if code_of(frame) == State.BILL_STACKED else [(0, frame)]
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacked")
    bench.cut()
    if crash:
        bench.crash_host()
    if reset_lost:
        bench.to_device.fault = lambda frame: [] if code_of(frame) == Command.RESET else [(0, frame)]
        bench.acceptor.power_on()
        bench.run(2000)
    bench.come_to_rest()
    assert "bill in stacker" in bench.acceptor.trail
    assert outcome(bench) == (2000,)
    assert bench.kiosk.disputes == []


def test_notes_that_are_not_taken_are_rejected_by_the_device_or_sent_back(tmp_path):
    bench = CcnetBench(tmp_path / "j", Policy(denominations=frozenset({500}))).ready()
    bench.insert(TWENTY)
    bench.come_to_rest()
    assert bench.acceptor.returned == [TWENTY]
    assert EventKind.REJECTED in kinds(bench)
    bench.acceptor.enabled = bench.acceptor.escrow = b"\0\0\x7f"
    bench.insert(TWENTY)
    bench.come_to_rest()
    assert bench.acceptor.returned == [TWENTY, TWENTY]
    assert "returned" in bench.acceptor.trail
    assert bench.kiosk.disputes == []


def test_host_slower_than_the_escrow_time_credits_nothing(tmp_path):
    bench = CcnetBench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.to_device.fault = lambda frame: [] if code_of(frame) == Command.STACK else [(0, frame)]
    bench.run(13_000)
    assert bench.acceptor.returned == [TWENTY]
    bench.come_to_rest()
    assert bench.kiosk.credits == bench.kiosk.disputes == []


@pytest.mark.parametrize("error", [(0x41,), (0x42,), (0x43,), (0x44,), (0x45,), (0x47, 0x50)])
def test_errors_are_told_in_words_and_a_reset_ends_them(tmp_path, error):
    bench = CcnetBench(tmp_path / "j").ready()
    bench.acceptor.fail(*error)
    bench.run(1000)
    assert kinds(bench).count(EventKind.ERROR) == 1
    bench.kiosk.reset()
    bench.come_to_rest()
    assert bench.acceptor.state == "idle"
    assert EventKind.ERROR_OVER in kinds(bench)
    assert "status" not in texts(bench)


@pytest.mark.parametrize("flush", [False, True], ids=["line kept", "line flushed"])
@pytest.mark.parametrize("paper", [TWENTY, VOUCHER], ids=["note", "voucher"])
def test_host_crash_at_every_step(tmp_path, paper, flush):
    outcomes = set()
    for at in range(0, 150):
        bench = CcnetBench(tmp_path / str(at), Policy(vouchers=with_voucher())).ready()
        bench.insert(paper)
        bench.run(at * 20)
        bench.crash_host(flush)
        bench.come_to_rest()
        outcomes.add(outcome(bench))
        redeemed = bench.policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED
        assert redeemed == (VOUCHER in bench.acceptor.stacked)
        bench.kiosk.close()
    assert (1234,) in outcomes or (2000,) in outcomes


@pytest.mark.parametrize("crash", [False, True], ids=["host lives", "host dies too"])
@pytest.mark.parametrize("paper", [TWENTY, VOUCHER], ids=["note", "voucher"])
def test_power_cut_of_the_device_at_every_step(tmp_path, crash, paper):
    outcomes = set()
    for at in range(0, 120):
        bench = CcnetBench(tmp_path / str(at), Policy(vouchers=with_voucher())).ready()
        bench.insert(paper)
        bench.run(at * 20)
        bench.cut()
        if crash:
            bench.crash_host()
        bench.run(1000)
        bench.come_to_rest()
        outcomes.add(outcome(bench))
        assert bench.kiosk.disputes == []
        bench.kiosk.close()
    assert outcomes == {(), (1234,) if paper.digits else (2000,)}


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
@pytest.mark.parametrize("strict", [False, True], ids=["usual", "strict"])
def test_each_frame_of_an_insertion_suffers_each_fault(tmp_path, direction, fault, strict):
    for at in range(40):
        bench = CcnetBench(tmp_path / str(at), acceptor=Validator(strict)).ready()
        bench.insert(TWENTY)
        getattr(bench, direction).fault = _nth(at, fault)
        bench.run(10_000)
        bench.come_to_rest()
        assert outcome(bench) == (2000,)
        assert bench.kiosk.disputes == []
        bench.kiosk.close()


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
def test_each_frame_of_the_start_suffers_each_fault(tmp_path, direction, fault):
    for at in range(30):
        bench = CcnetBench(tmp_path / str(at))
        getattr(bench, direction).fault = _nth(at, fault)
        bench.ready().pay(TWENTY)
        bench.come_to_rest()
        assert outcome(bench) == (2000,)
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
    max_size=15,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, seed=st.integers(0, 2**32), rate=st.sampled_from([0.0, 0.1, 0.3]))
def test_credited_is_stacked_through_anything(tmp_path_factory, acts, seed, rate):
    policy = Policy(vouchers=with_voucher())
    bench = CcnetBench(tmp_path_factory.mktemp("any") / "j", policy).ready()
    bench.to_device.fault = bench.to_host.fault = Noise(seed, rate)
    for act, value in acts:
        _ACT[act](bench, value)
    policy.vouchers.up = True
    bench.come_to_rest()
    bench.run(2000)
    outcome(bench)
    assert (policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED) == (VOUCHER in bench.acceptor.stacked)
    bench.kiosk.close()


def _offer(bench: Bench, paper: Paper) -> None:
    """Push paper in as soon as the entry opens; a device that stays shut keeps its patron waiting."""
    until = bench.now + 6000
    while bench.now < until and not bench.acceptor.insert(paper):
        bench.step()


def _cut(bench: Bench, off_ms: int) -> None:
    bench.cut()
    bench.run(off_ms)
    bench.acceptor.power_on()


_ACT = {
    "insert": _offer,
    "run": lambda bench, ms: bench.run(ms),
    "crash": lambda bench, flush: bench.crash_host(flush),
    "cut": _cut,
    "inhibit": lambda bench, on: bench.kiosk.inhibit("test") if on else bench.kiosk.allow("test"),
    "system": lambda bench, up: setattr(bench.policy.vouchers, "up", up),
}


def test_the_frame_of_a_poll():
    assert encode(Command.POLL) == wire(b"\x33")

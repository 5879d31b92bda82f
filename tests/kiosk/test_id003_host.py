"""The ID-003 master: order of the start-up, timers, both modes, and replies that are refused, strange or missing."""

import pytest
from acceptor_model import READS, Acceptor
from pitbench.protocols.acceptor_host import Refused, StatusSeen, TableRead, VersionRead
from pitbench.protocols.id003 import ERRORS, Command, Decoder, Frame, Reply, Status, encode
from pitbench.protocols.id003_host import HostSettings, Id003Host

TABLE = bytes.fromhex("6101010065010201")


class Script:
    """Answers each command from a dictionary, at once; remembers what was sent and when."""

    def __init__(self, host: Id003Host, replies: dict):
        self.host, self.replies, self.now = host, replies, 0
        self.sent: list = []
        self.events: list = []

    def run(self, ms: int) -> list:
        """Run for a time; returns the commands sent."""
        mark = len(self.sent)
        for _ in range(ms // 10):
            self._turn()
            self.now += 10
        return [cmd for _, cmd, _ in self.sent[mark:]]

    def run_until_ready(self) -> None:
        while not self.host.ready:
            assert self.now < 5000
            self.run(10)

    def _turn(self) -> None:
        wire = self.host.next_frame(self.now)
        if wire is None:
            return
        (frame,) = Decoder().feed(wire)
        self.sent.append((self.now, frame.cmd, frame.data))
        reply = self.replies.get(frame.cmd)
        if callable(reply):
            reply = reply(frame.data)
        if reply is not None:
            self.say(*reply)

    def say(self, cmd: int, data: bytes = b"") -> None:
        self.events += self.host.received(Frame(cmd, data), self.now)

    def times(self, cmd: int) -> list:
        return [at for at, sent, _ in self.sent if sent == cmd]


def replies(status: int, data: bytes = b"", **other) -> dict:
    """A device that stands in one status and does as it is told."""
    echo = {cmd: (lambda d, c=cmd: (c, d)) for cmd in range(0xC0, 0xC8)}
    acks = dict.fromkeys(range(0x40, 0x46), (Reply.ACK,))
    return {0x11: (status, data), 0x88: (0x88, READS[0x88]), 0x8A: (0x8A, TABLE), **echo, **acks}


def polls_taken_out(sent: list) -> list:
    return [cmd for cmd in sent if cmd != Command.STATUS_REQUEST]


@pytest.mark.parametrize("status", [0x40, 0x41, 0x42])
def test_start_up_resets_then_reads_then_sets_and_c3_last(status):
    device = replies(status)
    script = Script(Id003Host(), device)
    assert script.run(50) == [Command.STATUS_REQUEST, Command.RESET]
    device[0x11] = (Status.INITIALISE, b"")
    device[0xC3] = lambda d: device.update({0x11: (Status.IDLE, b"")}) or (0xC3, d)
    sent = polls_taken_out(script.run(1000))
    assert sent == [0x88, 0x8A, 0xC0, 0xC1, 0xC2, 0xC4, 0xC5, 0xC6, 0xC7, 0xC3]
    assert script.host.ready
    assert script.host.version == "i(USA)100-SS ID003-05V280-42 01AUG17 964D"
    assert {code: d.cents for code, d in script.host.table.items()} == {0x61: 100, 0x65: 2000}
    assert [type(e) for e in script.events if not isinstance(e, StatusSeen)] == [VersionRead, TableRead]


def test_reset_is_repeated_while_the_power_up_status_stands():
    device = {**replies(0x40), Command.RESET: None}
    script = Script(Id003Host(), device)
    assert script.run(2000).count(Command.RESET) >= 3
    resets, polls = script.times(Command.RESET), script.times(Command.STATUS_REQUEST)
    assert all(any(a < p < b for p in polls) for a, b in zip(resets, resets[1:], strict=False)), "asks before repeating"


def test_settings_carry_their_data():
    script = Script(Id003Host(HostSettings(interrupt=True), inhibited=True), replies(Status.INITIALISE))
    script.run(1000)
    data = {cmd: d for _, cmd, d in script.sent if cmd >= 0xC0}
    assert data == {
        0xC0: b"\0\0", 0xC1: b"\0\0", 0xC2: b"\1", 0xC3: b"\1", 0xC4: b"\0", 0xC5: b"\0\0", 0xC6: b"\1\x12", 0xC7: b"\0"
    }  # fmt: skip


def test_a_running_device_is_read_and_set_without_a_reset():
    script = Script(Id003Host(), replies(Status.IDLE))
    sent = polls_taken_out(script.run(1000))
    assert sent[:2] == [0x88, 0x8A]
    assert Command.RESET not in sent
    assert sent[-1] == 0xC3


@pytest.mark.parametrize("status", [Status.ESCROW, Status.STACKING, Status.VEND_VALID, Status.HOLDING])
def test_no_setting_is_sent_with_an_item_under_way(status):
    script = Script(Id003Host(), replies(status, b"\x65" if status == Status.ESCROW else b""))
    assert polls_taken_out(script.run(1000)) == [0x88, 0x8A]


@pytest.mark.parametrize("status", sorted(ERRORS))
def test_nothing_but_polls_in_an_error_until_a_reset_is_asked_for(status):
    device = replies(status, b"\xa2" if status == Status.FAILURE else b"")
    script = Script(Id003Host(), device)
    assert polls_taken_out(script.run(2000)) == []
    assert StatusSeen(status, device[0x11][1]) in script.events
    script.host.reset()
    assert polls_taken_out(script.run(1000)) == [Command.RESET]


def test_a_wanted_reset_waits_for_the_item_to_end():
    device = replies(Status.STACKING)
    script = Script(Id003Host(), device)
    script.host.reset()
    assert Command.RESET not in script.run(1000)
    device[0x11] = (Status.IDLE, b"")
    assert Command.RESET in script.run(500)


def test_polls_every_150_ms():
    script = Script(Id003Host(), replies(Status.IDLE))
    script.run(1000)
    script.sent.clear()
    script.run(1500)
    polls = script.times(Command.STATUS_REQUEST)
    assert {b - a for a, b in zip(polls, polls[1:], strict=False)} == {150}


def test_a_poll_without_reply_is_repeated_after_300_ms_and_silence_is_told():
    script = Script(Id003Host(), {})
    assert not script.host.silent(0)
    script.run(3000)
    polls = script.times(Command.STATUS_REQUEST)
    assert {b - a for a, b in zip(polls, polls[1:], strict=False)} == {300}
    assert script.host.timeouts == 9
    assert not script.host.silent(2000)
    assert script.host.silent(2001)
    script.say(Status.IDLE)
    assert not script.host.silent(script.now)


def test_interrupt_mode_polls_on_enq_and_slowly_without():
    script = Script(Id003Host(HostSettings(interrupt=True)), replies(Status.IDLE))
    script.run(1500)
    assert 2 <= len(script.run(3000)) <= 4
    script.say(Reply.ENQ)
    assert script.run(10) == [Command.STATUS_REQUEST]


def test_interrupt_mode_polls_quickly_while_an_item_is_under_way():
    script = Script(Id003Host(HostSettings(interrupt=True)), replies(Status.STACKING))
    script.run(500)
    assert len(script.run(1500)) == 10


def test_enq_is_answered_with_a_poll_in_polling_mode_too():
    script = Script(Id003Host(), replies(Status.IDLE))
    script.run(1010)
    script.say(Reply.ENQ)
    assert script.run(10) == [Command.STATUS_REQUEST]


@pytest.mark.parametrize("setting", [0xC2, 0xC6, 0xC7])
def test_a_refused_setting_is_tried_three_times_and_the_others_are_set(setting):
    device = {**replies(Status.IDLE), setting: (Reply.INVALID_COMMAND,)}
    script = Script(Id003Host(), device)
    script.run(5000)
    assert len(script.times(setting)) == 3
    assert script.host.ready
    assert [e.what[:10] for e in script.events if isinstance(e, Refused)] == [f"Command {setting:02x}"] * 3


def test_a_setting_echoed_with_other_data_is_set_again():
    device = {**replies(Status.IDLE), 0xC3: (0xC3, b"\x01")}
    script = Script(Id003Host(), device)
    script.run(200)
    assert not script.host.ready
    device[0xC3] = lambda d: (0xC3, d)
    script.run(500)
    assert script.host.ready


def test_a_late_echo_of_the_old_value_does_not_hide_the_new_one():
    script = Script(Id003Host(), replies(Status.IDLE))
    script.run(1000)
    script.host.inhibit(True)
    script.run(500)
    script.sent.clear()
    script.say(Command.SET_INHIBIT, b"\x00")
    script.run(500)
    assert [d for _, cmd, d in script.sent if cmd == 0xC3] == [b"\x01"]


@pytest.mark.parametrize("read", [0x88, 0x8A])
def test_a_read_that_is_never_answered_does_not_keep_the_settings_waiting(read):
    script = Script(Id003Host(), {**replies(Status.INITIALISE), read: None})
    script.run(3000)
    assert 0xC3 in [cmd for _, cmd, _ in script.sent]


def test_a_damaged_currency_table_is_read_again():
    device = {**replies(Status.IDLE), 0x8A: (0x8A, TABLE[:-1])}
    script = Script(Id003Host(), device)
    script.run(200)
    assert script.host.table is None
    device[0x8A] = (0x8A, TABLE)
    script.run(1000)
    assert script.host.table is not None


def test_initialise_that_stays_is_set_up_again():
    script = Script(Id003Host(), replies(Status.INITIALISE))
    script.run(1000)
    script.sent.clear()
    script.run(2000)
    assert 0xC3 in [cmd for _, cmd, _ in script.sent]


def test_stray_frames_are_counted_and_do_no_harm():
    script = Script(Id003Host(), replies(Status.IDLE))
    script.run(1000)
    script.say(Reply.ACK)
    script.say(Reply.INVALID_COMMAND)
    script.say(0x99)
    assert (script.host.unsolicited, script.host.invalid, script.host.strange) == (1, 1, 1)
    assert script.events[-1] == StatusSeen(0x99, b"")
    assert script.run(300) == [Command.STATUS_REQUEST] * 2


def test_a_command_is_withdrawn_by_a_newer_status():
    script = Script(Id003Host(), replies(Status.ESCROW, b"\x65"))
    script.say(Status.ESCROW, b"\x65")
    script.host.command(Command.STACK_1)
    script.say(Status.REJECTING, b"\x79")
    assert Command.STACK_1 not in script.run(10)


def test_a_status_older_than_the_ack_does_not_repeat_the_command():
    script = Script(Id003Host(), {})
    script.say(Status.ESCROW, b"\x65")
    script.host.command(Command.STACK_1)
    assert script.run(10) == [Command.STACK_1]
    script.say(Status.ESCROW, b"\x65")
    script.host.command(Command.STACK_1)
    script.say(Reply.ACK)
    assert Command.STACK_1 not in script.run(1000)


def test_a_device_that_starts_again_unseen_is_set_up_at_once():
    device = replies(Status.IDLE)
    script = Script(Id003Host(), device)
    script.run_until_ready()
    script.sent.clear()
    device[0x11] = (Status.INITIALISE, b"")
    script.run(500)
    assert [cmd for _, cmd, _ in script.sent if cmd >= 0xC0] == [0xC0, 0xC1, 0xC2, 0xC4, 0xC5, 0xC6, 0xC7, 0xC3]


def test_an_ack_is_sent_once_for_each_call_and_waits_for_nothing():
    script = Script(Id003Host(), replies(Status.VEND_VALID))
    script.run(500)
    script.host.acknowledge()
    assert script.run(200).count(Command.ACK) == 1


def test_polls_only_holds_everything_else_back():
    host = Id003Host()
    script = Script(host, replies(0x42))
    host.polls_only = True
    host.acknowledge()
    assert polls_taken_out(script.run(1000)) == []
    host.polls_only = False
    assert Command.RESET in script.run(200)


def test_with_the_model_device_end_to_end():
    host, device = Id003Host(), Acceptor()
    for now in range(0, 3000, 10):
        wire = host.next_frame(now)
        reply = device.answer(wire, now) if wire else b""
        device.step(now)
        for frame in Decoder().feed(reply):
            host.received(frame, now)
    assert device.state == "idle"
    assert host.ready
    assert encode(0x11).hex() == "fc05112756"

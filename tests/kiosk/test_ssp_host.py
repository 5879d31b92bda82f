"""The SSP host: opening, escrow, sequence, encryption; and that a kiosk on it credits what is stacked, once."""

from collections import Counter

import pytest
from acceptor_model import Paper
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kiosk_bench import Noise
from pitbench.errors import UnknownName
from pitbench.kiosk.events import EventKind
from pitbench.kiosk.journal import Journal, JournalError
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import VoucherBook, VoucherStatus
from pitbench.protocols import ssp
from pitbench.protocols.acceptor_host import Refused, StatusSeen, TableRead, VersionRead, host_module
from pitbench.protocols.id003 import Command, Status
from pitbench.protocols.ssp import Frame
from pitbench.protocols.ssp_host import SspHost, SspSettings
from pitbench.protocols.ssp_status import escrow_code
from ssp_model import SspBench, Validator, frame, unframed

TWENTY, FIVE, HUNDRED = Paper(0x65), Paper(0x63), Paper(0x67)
NUMBER = "123456789012345678"
VOUCHER = Paper(0x6F, NUMBER)
PLAIN = SspSettings(encrypt="never", barcodes=None)

KINDS = {
    "ack, sealed": {},
    "ack, plain": {"knows_keys": False},
    "no ack, sealed": {"knows_ack": False},
    "no ack, plain": {"knows_ack": False, "knows_keys": False},
    "key demanded": {"demands_key": True},
}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
# Apart in what they do about a lost reply.
THREE_KINDS = pytest.mark.parametrize("kind", ["ack, sealed", "ack, plain", "no ack, sealed"])


def with_voucher() -> VoucherBook:
    book = VoucherBook()
    book.issue(NUMBER, 1234)
    return book


class Script:
    """Answers each request from a dictionary of commands, at once; remembers what was sent and when."""

    def __init__(self, replies: dict, settings: SspSettings = PLAIN, **others):
        self.host, self.replies, self.now = SspHost(settings, **others), replies, 0
        self.sent: list = []
        self.events: list = []
        self.frames: list = []

    def run(self, ms: int) -> list:
        """Run for a time; returns the commands sent."""
        mark = len(self.sent)
        for _ in range(ms // 10):
            self._turn()
            self.now += 10
        return [data[0] for _, data in self.sent[mark:]]

    def _turn(self) -> None:
        stream = self.host.next_frame(self.now)
        if stream is None:
            return
        self.frames.append(stream)
        seq, data = unframed(stream)
        self.sent.append((self.now, data))
        reply = self.replies.get(data[0], b"\xf0")
        if callable(reply):
            reply = reply(data)
        if reply is not None:
            self.say(reply, seq)

    def say(self, data: bytes, seq: int) -> None:
        for got in self.host.decoder.feed(frame(seq, data)):
            self.events += self.host.received(got, self.now)

    def statuses(self) -> list:
        """Every status that was told, each once while it stands."""
        told = [(e.status, e.data) for e in self.events if isinstance(e, StatusSeen)]
        return [seen for at, seen in enumerate(told) if at == 0 or told[at - 1] != seen]

    def times(self, command: int) -> list:
        return [at for at, data in self.sent if data[0] == command]


def replies(*polls: bytes, **others: bytes) -> dict:
    """A validator that answers its polls with these, and with the last one for good."""
    left = list(polls)
    model = Validator()
    poll = lambda data: b"\xf0" + (left.pop(0) if len(left) > 1 else left[0])  # noqa: E731
    device = {0x18: b"\xf5", 0x56: b"\xf2", 0x07: poll}
    device |= {code: lambda data, code=code: model._executed(data) for code in (0x05, 0x06)}
    return device | {int(name[1:], 16): reply for name, reply in others.items()}


# Opening


def test_it_opens_with_sync_and_hold_then_polls_reads_and_sets_acceptance_last():
    script = Script(replies(b"\xf1\xe8", b"\xe8"))
    sent = script.run(1500)
    assert sent[:4] == [0x11, 0x18, 0x56, 0x07]
    others = [command for command in sent[4:] if command != 0x07]
    assert others[:8] == [0x06, 0x05, 0x20, 0x21, 0x0C, 0x26, 0x02, 0x0A]
    assert script.host.ready
    assert [type(e) for e in script.events if not isinstance(e, StatusSeen)] == [TableRead, VersionRead]


def test_sync_has_seq_1_and_what_follows_turns_it_over():
    script = Script(replies(b""))
    script.run(1000)
    seqs = [stream[1] >> 7 for stream in script.frames]
    assert seqs[:2] == [1, 0]
    assert all(a != b for a, b in zip(seqs, seqs[1:], strict=False))


def test_the_table_has_every_channel_in_use():
    script = Script(replies(b"\xe8"))
    script.run(1000)
    assert {code: d.cents for code, d in script.host.table.items()} == {
        0x61: 100, 0x63: 500, 0x64: 1000, 0x65: 2000, 0x66: 5000, 0x67: 10000
    }  # fmt: skip
    assert (0x02, b"\x7d\x00") in [(data[0], data[1:]) for _, data in script.sent]


def test_settings_are_sent_with_no_item_under_way_only():
    script = Script(replies(b"\xcc"))
    sent = script.run(1000)
    assert {0x02, 0x0A, 0x09, 0x26}.isdisjoint(sent)
    assert 0x05 in sent


def test_channels_and_acceptance_follow_what_is_wanted():
    script = Script(replies(b""), inhibited=True)
    script.run(1000)
    assert 0x09 in [data[0] for _, data in script.sent]
    script.host.take(frozenset({0x61, 0x65}))
    script.host.inhibit(False)
    script.sent.clear()
    script.run(500)
    assert [data for _, data in script.sent if data[0] != 0x07] == [b"\x02\x11\x00", b"\x0a"]
    assert script.host.ready


def test_an_unknown_protocol_version_is_offered_lower():
    model = Validator(protocol=5)
    script = Script(replies(b"\xe8", x06=model._executed, x05=model._executed))
    script.run(1500)
    assert [data[1] for _, data in script.sent if data[0] == 0x06] == [6, 5]
    assert script.host.ready
    assert script.host.table[0x67].cents == 10000


@pytest.mark.parametrize("code", [0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF8])
@pytest.mark.parametrize("command", [0x06, 0x05, 0x02, 0x0A, 0x26])
def test_a_refused_errand_is_given_up_and_told_once(command, code):
    script = Script(replies(b"") | {command: bytes([code])})
    script.run(6000)
    assert len(script.times(command)) <= (5 if command == 0x06 else 3)
    assert len([e for e in script.events if isinstance(e, Refused)]) == 1
    assert script.host.ready == (command != 0x05)


@pytest.mark.parametrize("missing", [0x20, 0x21, 0x0C])
def test_a_device_may_be_without_names_and_serial_number(missing):
    script = Script(replies(b"") | {missing: b"\xf2"})
    script.run(2000)
    assert script.host.ready
    assert [e for e in script.events if isinstance(e, Refused)] == []
    assert len([e for e in script.events if isinstance(e, VersionRead)]) == 1


def test_a_damaged_setup_is_read_again():
    whole = Validator(version=6)._do_05
    device = replies(b"", x05=lambda data: whole(data)[:-1])
    script = Script(device)
    script.run(500)
    assert script.host.table is None
    device[0x05] = whole
    script.run(500)
    assert script.host.table is not None


def test_a_note_in_escrow_at_the_start_is_held_for_its_user():
    script = Script(replies(b"\xcc", x18=b"\xf0"))
    assert set(script.run(1000)) == {0x11, 0x18}
    assert script.statuses() == [(Status.HOLDING, b"")]
    script.host.command(Command.STACK_1)
    assert script.run(10) == [0x56]


def test_a_ticket_in_escrow_at_the_start_is_known_by_its_number():
    ticket = b"\xf0\x01\x12" + NUMBER.encode()
    script = Script(replies(b"", x18=b"\xf0", x27=ticket), SspSettings(encrypt="never"))
    script.run(100)
    assert script.statuses() == [(Status.ESCROW, b"\x6f" + NUMBER.encode())]


def test_a_reset_event_has_everything_read_and_set_again():
    device = replies(b"")
    script = Script(device)
    script.run(1500)
    device[0x07] = replies(b"\xf1\xe8", b"\xe8")[0x07]
    sent = script.run(1500)
    assert [c for c in sent if c != 0x07][:8] == [0x06, 0x05, 0x20, 0x21, 0x0C, 0x26, 0x02, 0x0A]


def test_a_wanted_reset_waits_for_the_item_to_end_and_opens_anew():
    device = replies(b"\xcc")
    script = Script(device)
    script.host.reset()
    assert 0x01 not in script.run(1000)
    device[0x07] = b"\xf0\xe9\xe8"
    sent = script.run(1000)
    assert sent[sent.index(0x01) + 1 :][:2] == [0x11, 0x18]
    assert sent.count(0x01) == 1


def test_a_refused_reset_is_told():
    script = Script(replies(b"", x01=b"\xf5"))
    script.host.reset()
    script.run(1500)
    assert [e for e in script.events if isinstance(e, Refused)] == [
        Refused("The reset", "the device answers cannot be processed")
    ]


def test_a_device_disabled_on_its_own_is_enabled_again():
    script = Script(replies(b"\xe8"))
    script.run(10_000)
    assert 5 <= len(script.times(0x0A)) <= 10


@pytest.mark.parametrize("settings", [{"encrypt": "maybe"}, {"acknowledge": "sometimes"}])
def test_a_mode_that_there_is_not_is_refused(settings):
    with pytest.raises(UnknownName, match="auto, always, never"):
        SspSettings(**settings)


def test_a_kiosk_finds_this_host():
    assert isinstance(host_module("ssp").Host(host_module("ssp").Settings(poll_ms=100)), SspHost)


# Time and sequence


def test_polls_every_200_ms():
    script = Script(replies(b""))
    script.run(1500)
    script.sent.clear()
    script.run(2000)
    assert {b - a for a, b in zip(script.times(0x07), script.times(0x07)[1:], strict=False)} == {200}


def test_a_request_without_reply_is_sent_again_byte_for_byte_and_silence_is_told():
    script = Script(replies(b""))
    script.run(1500)
    assert not script.host.silent(script.now)
    script.replies[0x07] = None
    script.frames.clear()
    script.sent.clear()
    script.run(3000)
    assert len(set(script.frames)) == 1
    assert {b - a for a, b in zip(script.times(0x07), script.times(0x07)[1:], strict=False)} == {500}
    assert script.host.timeouts == len(script.frames) - 1
    assert script.host.silent(script.now)
    script.say(b"\xf0", script.frames[0][1])
    assert not script.host.silent(script.now)


def test_replies_of_another_seq_or_address_answer_nothing():
    script = Script(replies(b""))
    script.run(1500)
    script.replies[0x07] = None
    script.run(300)
    seq = script.frames[-1][1]
    for other in (seq ^ 0x80, seq | 0x10):
        script.say(b"\xf0\xee\x03", other)
    assert Status.VEND_VALID not in [status for status, _ in script.statuses()]
    assert script.host.stray == 2
    script.say(b"\xf0\xee\x03", seq)
    assert script.statuses()[-1] == (Status.VEND_VALID, b"\x63")


def test_the_echo_of_a_single_wire_is_no_reply():
    script = Script(replies(b"", x07=lambda data: data))
    script.run(1000)
    assert script.statuses() == []
    assert script.host.stray > 0


@given(st.binary(min_size=1, max_size=40), st.booleans())
def test_no_frame_of_noise_upsets_it(data, seq):
    script = Script(replies(b"\xef\x03"))
    script.run(500)
    script.host.received(Frame(data, seq), script.now)
    script.run(500)
    assert (Status.ESCROW, b"\x63") in script.statuses()


# What polls tell


@pytest.mark.parametrize(
    ("polls", "told"),
    [
        (["e8"], [(0x1A, "")]),
        (["b5"], [(0x1A, "")]),
        (["b6"], [(0x1B, "")]),
        (["f1e8", "e8"], [(0x40, ""), (0x1A, "")]),
        (["f1e7e8", "e7e8"], [(0x40, ""), (0x43, "")]),
        (["f1e203e8", ""], [(0x42, "63"), (0x11, "")]),
        (["f1", "e200", ""], [(0x40, ""), (0x42, ""), (0x11, "")]),
        (["f1e103e8", ""], [(0x41, "63"), (0x11, "")]),
        (["ef00", "ef00ef05", ""], [(0x12, ""), (0x13, "65"), (0x11, "")]),
        (["e3e8", "e8", "e4e8", "e8"], [(0x44, ""), (0x1A, "")]),
        (["e9e8"], [(0x45, "")]),
        (["eae8"], [(0x46, "")]),
        (["e7e0e9e8"], [(0x45, "")]),
        (["e7e8"], [(0x43, "")]),
        (["e601", ""], [(0x48, ""), (0x11, "")]),
        (["e0e8"], [(0x49, "af")]),
        (["cc", "cceb", "e8"], [(0x14, ""), (0x16, ""), (0x14, ""), (0x1A, "")]),
        (["b1ee03", ""], [(0xB1, ""), (0x11, "")]),
        (["ed", "ec", ""], [(0x17, "79"), (0x11, "")]),
        (["ed", "", ""], [(0x17, "79"), (0x11, "")]),
        (["ed", "ecef00", "ef00"], [(0x17, "79"), (0x12, "")]),
        (["db", "e8"], [(0x16, ""), (0x1A, "")]),
    ],
)
def test_events_in_neutral_words(polls, told):
    script = Script(replies(*(bytes.fromhex(poll) for poll in polls), x17=b"\xf0\x0c"))
    script.run(5000)
    assert script.statuses() == [(status, bytes.fromhex(data)) for status, data in told]
    assert script.host.strange == (polls[0][:2] == "b1")


@pytest.mark.parametrize(
    ("code", "status", "data"),
    [
        (b"\xf0\x08", Status.RETURNING, b""),
        (b"\xf0\x06", Status.REJECTING, b"\x79"),
        (b"\xf0\x13", Status.REJECTING, b"\x79"),
        (b"\xf0\x1a", Status.REJECTING, b"\x7d"),
        (b"\xf0\x1c", Status.REJECTING, b"\x71"),
        (b"\xf0\x14", Status.REJECTING, b"\x91"),
        (b"\xf0\x55", Status.REJECTING, b""),
        (b"\xf2", Status.REJECTING, b""),
    ],
)
def test_reject_codes_in_neutral_words(code, status, data):
    script = Script(replies(b"\xec", b"", x17=code))
    script.run(500)
    assert script.statuses() == [(status, data), (Status.IDLE, b"")]


def test_every_channel_has_an_escrow_code_of_its_own_that_is_no_barcode():
    codes = [escrow_code(channel) for channel in range(1, 17)]
    assert codes[:3] == [0x61, 0x62, 0x63]
    assert len(set(codes) - {0x6F}) == 16


def test_every_reject_code_has_a_reason():
    silent = {ssp.RejectCode.ACCEPTED, ssp.RejectCode.BY_HOST}
    for code in set(ssp.RejectCode) - silent:
        script = Script(replies(b"\xec", b"", x17=bytes([0xF0, code])))
        script.run(300)
        assert len(script.statuses()[0][1]) == 1


# Escrow: any poll takes it


def escrow(**others: bytes) -> Script:
    script = Script(replies(b"", b"\xef\x03", b"\xcc", b"\xee\x03", b"") | {0x18: b"\xf5"}, **others)
    script.run(10)
    while script.statuses()[-1:] != [(Status.ESCROW, b"\x63")]:
        script.run(10)
    script.replies[0x18] = b"\xf0"
    script.sent.clear()
    return script


def test_undecided_it_holds_and_never_polls():
    script = escrow()
    assert set(script.run(9000)) == {0x18}
    assert {b - a for a, b in zip(script.times(0x18), script.times(0x18)[1:], strict=False)} == {200}
    assert script.statuses()[-1] == (Status.ESCROW, b"\x63")


@pytest.mark.parametrize("stack", [Command.STACK_1, Command.STACK_2])
def test_to_stack_is_one_poll(stack):
    script = escrow()
    script.host.command(stack)
    assert script.run(10) == [0x07]
    assert script.statuses()[-1] == (Status.STACKING, b"")


def test_held_on_its_users_word_it_says_holding():
    script = escrow()
    script.host.command(Command.HOLD)
    script.run(500)
    assert script.statuses()[-1] == (Status.HOLDING, b"")


def test_returned_is_told_once_the_device_says_so():
    script = escrow()
    script.host.command(Command.RETURN)
    script.replies[0x07] = replies(b"\xed", b"\xec", b"")[0x07]
    sent = script.run(1000)
    assert sent[:2] == [0x08, 0x07]
    assert 0x17 not in sent
    assert script.statuses()[-2:] == [(Status.RETURNING, b""), (Status.IDLE, b"")]


def test_gone_from_escrow_the_next_poll_tells_what_became_of_it():
    script = escrow()
    script.replies[0x18] = b"\xf5"
    assert script.run(250)[:2] == [0x18, 0x07]


def test_a_device_that_cannot_hold_gets_an_undecided_note_back():
    script = escrow()
    script.replies[0x18] = b"\xf2"
    assert script.run(300)[:2] == [0x18, 0x08]


def test_polls_only_holds_what_is_in_escrow_whatever_was_commanded():
    script = escrow()
    script.host.polls_only = True
    script.host.command(Command.STACK_1)
    assert set(script.run(1000)) == {0x18}


def test_a_ticket_is_held_until_its_number_is_known_and_goes_back_without():
    script = Script(replies(b"", b"\xe5", b"", x27=b"\xf5"), SspSettings(encrypt="never"))
    sent = script.run(3000)
    at = sent.index(0x27)
    assert sent[at + 1] == 0x08
    assert Status.ESCROW not in [status for status, _ in script.statuses()]


def test_an_accepted_note_without_news_is_not_at_rest_before_its_time():
    script = escrow()
    script.replies[0x07] = b"\xf0"
    script.host.command(Command.STACK_1)
    script.run(2500)
    assert script.statuses()[-1] == (Status.STACKING, b"")
    script.run(1000)
    assert script.statuses()[-1] == (Status.IDLE, b"")


# Credit


@pytest.mark.parametrize("poll", [0x56, 0x07])
def test_a_credit_is_had_again_by_the_same_request_until_it_is_acknowledged(poll):
    device = replies(b"")
    device |= {0x56: device[0x07]} if poll == 0x56 else {}
    script = Script(device)
    script.run(1500)
    device[poll] = b"\xf0\xee\x03\xeb"
    script.run(200)
    script.events, script.frames = [], []
    script.run(1000)
    assert len(script.frames) == 5
    assert len({stream for stream in script.frames if unframed(stream)[1] == bytes([poll])}) == 1
    assert script.statuses() == [(Status.VEND_VALID, b"\x63")]
    script.host.acknowledge()
    device[poll] = b"\xf0"
    script.sent.clear()
    assert script.run(20) == ([0x57, 0x56] if poll == 0x56 else [0x07])
    assert script.statuses()[-1] == (Status.IDLE, b"")


def test_an_acknowledgement_waits_while_its_user_can_make_nothing_durable():
    script = Script(replies(b"\xee\x03"))
    script.run(300)
    script.host.acknowledge()
    script.host.polls_only = True
    script.run(1000)
    assert len({stream for stream in script.frames if unframed(stream)[1] == b"\x07"}) == 1


def test_acknowledging_nothing_sends_nothing():
    device = replies(b"")
    script = Script(device | {0x56: device[0x07]})
    script.run(1500)
    script.host.acknowledge()
    assert 0x57 not in script.run(1000)


@pytest.mark.parametrize("event", [b"\xe2\x03", b"\xe1\x03", b"\xe6\x00"])
def test_an_outcome_at_power_up_or_a_fraud_is_acknowledged_by_itself_unless_the_journal_fails(event):
    device = replies(event)
    script = Script(device | {0x56: device[0x07]})
    script.host.polls_only = True
    assert 0x57 not in script.run(1000)
    script.host.polls_only = False
    assert 0x57 in script.run(300)


def test_a_note_in_escrow_behind_a_credit_is_not_taken_by_acknowledging():
    script = Script(replies(b"\xee\x03\xef\x05", b""))
    script.run(300)
    script.host.acknowledge()
    script.replies[0x18] = b"\xf0"
    script.sent.clear()
    assert set(script.run(500)) == {0x18}
    assert script.statuses()[-1] == (Status.ESCROW, b"\x65")


# Encryption


def sealed_bench(path, **validator) -> SspBench:
    return SspBench(path / "j", validator=Validator(**validator)).ready()


def test_everything_behind_the_keys_is_sealed(tmp_path):
    bench = sealed_bench(tmp_path)
    assert bench.kiosk.host.encrypted
    codes = [unframed(stream)[1][0] for stream in bench.sent]
    assert codes[:4] == [0x11, 0x4A, 0x4B, 0x4C]
    assert set(codes[4:]) == {0x7E}


def test_never_encrypt_sends_no_keys(tmp_path):
    bench = SspBench(tmp_path / "j", settings=SspSettings(encrypt="never")).ready()
    assert {0x4A, 0x7E}.isdisjoint(unframed(stream)[1][0] for stream in bench.sent)


@pytest.mark.parametrize("code", [0xF2, 0xF8])
def test_always_encrypt_takes_nothing_without_and_says_so(code):
    script = Script(replies(b"") | {0x4A: bytes([code])}, SspSettings(encrypt="always"))
    assert set(script.run(3000)) == {0x11, 0x4A}
    assert len([e for e in script.events if isinstance(e, Refused)]) == 1
    assert not script.host.ready


@pytest.mark.parametrize("bad", [b"\xf0", b"\xf8", b"\xf0" + bytes(8), b"\xf0\x01" + bytes(7), b"\xf0" + b"\xff" * 8])
def test_a_bad_half_of_the_key_leads_to_no_key(bad):
    script = Script(replies(b"") | {0x4C: bad}, SspSettings(barcodes=None))
    script.run(3000)
    assert not script.host.encrypted
    assert len(script.times(0x4C)) == 3
    assert script.host.ready


def test_a_demand_for_keys_that_is_not_met_is_told_once():
    script = Script(dict.fromkeys(range(256), b"\xfa") | {0x11: b"\xf0"})
    script.run(3000)
    assert [e.what for e in script.events if isinstance(e, Refused)] == ["Talking without encryption"]
    assert script.statuses() == []


def test_a_poll_with_ack_that_must_be_sealed_gives_way_to_a_plain_one():
    script = Script(replies(b"") | {0x56: b"\xfa"})
    script.run(3000)
    assert script.host.ready
    assert script.statuses() == [(Status.IDLE, b"")]


def test_a_plain_reply_to_a_sealed_request_is_not_taken(tmp_path):
    bench = sealed_bench(tmp_path)
    bench.to_host.fault = lambda stream: [(0, frame(stream[1], b"\xf0\xee\x05"))]
    bench.run(1200)
    assert bench.kiosk.credits == bench.kiosk.disputes == []


def test_a_device_that_lost_its_key_gets_a_new_one(tmp_path):
    bench = sealed_bench(tmp_path)
    bench.cut()
    bench.run(1000)
    bench.acceptor.power_on()
    bench.ready()
    bench.pay(TWENTY)
    assert bench.kiosk.host.encrypted
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_a_device_that_is_silent_to_what_it_cannot_open_is_found_out_soon(tmp_path):
    bench = sealed_bench(tmp_path)
    bench.acceptor.keys.cipher = None
    bench.run(4000)
    assert bench.acceptor.keys.cipher is not None
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_a_device_that_seals_with_another_key_gets_a_new_one(tmp_path):
    bench = sealed_bench(tmp_path)
    unopenable = b"\x7e" + bytes(16)
    bench.to_host.fault = lambda reply: [(0, frame(reply[1], unopenable) if reply[3] == 0x7E else reply)]
    bench.run(5000)
    assert sum(unframed(stream)[1][0] == 0x4C for stream in bench.sent) >= 2


def test_a_dead_line_alone_costs_no_key(tmp_path):
    bench = sealed_bench(tmp_path)
    bench.acceptor.on = False
    bench.run(9000)
    bench.acceptor.on = True
    bench.sent.clear()
    bench.run(2000)
    assert bench.sent
    assert {0x11, 0x4A}.isdisjoint(unframed(stream)[1][0] for stream in bench.sent)


def test_twenty_repetitions_in_vain_begin_anew():
    script = Script(replies(b""))
    script.run(1500)
    script.replies[0x07] = None
    sent = script.run(12_000)
    assert sent[:24] == [0x07] * 21 + [0x11, 0x18, 0x56]


# A kiosk on this host


@EVERY_KIND
def test_notes_and_vouchers_are_credited_once_each(tmp_path, kind):
    bench = SspBench(tmp_path / "j", Policy(vouchers=with_voucher()), validator=Validator(**KINDS[kind])).ready()
    for paper in (TWENTY, FIVE, VOUCHER, HUNDRED):
        bench.pay(paper)
    assert [credit[1:] for credit in bench.kiosk.credits] == [
        (2000, "note"), (500, "note"), (1234, "voucher"), (10000, "note")
    ]  # fmt: skip
    assert bench.kiosk.disputes == []
    assert bench.acceptor.stacked == [TWENTY, FIVE, VOUCHER, HUNDRED]


@EVERY_KIND
def test_what_is_not_taken_goes_back_with_its_reason(tmp_path, kind):
    bench = SspBench(tmp_path / "j", Policy(denominations=frozenset({500})), validator=Validator(**KINDS[kind])).ready()
    bench.insert(TWENTY)
    bench.run(3000)
    assert bench.acceptor.returned == [TWENTY]
    assert any(e.kind == EventKind.REJECTED and "inhibited" in e.text for e in bench.events)
    bench.acceptor.channels = 0xFF
    bench.insert(TWENTY)
    bench.come_to_rest()
    assert bench.acceptor.returned == [TWENTY, TWENTY]
    assert bench.kiosk.credits == bench.kiosk.disputes == []


def test_a_voucher_that_is_unknown_or_decided_slowly(tmp_path):
    book = with_voucher()
    validate, under_way = book.validate, iter(range(20))
    book.validate = lambda number, claim: None if next(under_way, None) is not None else validate(number, claim)
    bench = SspBench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.pay(VOUCHER)
    bench.insert(Paper(0x6F, "999999999999999999"))
    bench.come_to_rest()
    assert [c.cents for c in bench.kiosk.credits] == [1234]
    assert bench.acceptor.returned == [Paper(0x6F, "999999999999999999")]


def test_the_decision_is_durable_before_the_note_is_taken_and_the_credit_before_the_ack(tmp_path):
    bench = SspBench(tmp_path / "j", settings=PLAIN).ready()
    bench.insert(TWENTY)
    entries: dict = {}

    def watch(stream: bytes) -> list:
        command = unframed(stream)[1][0]
        last = bench.kiosk.books.journal.records[-1]["what"]
        if command == 0x57 or (command == 0x56 and bench.acceptor.offered and bench.acceptor.place == "escrow"):
            entries.setdefault(command, last)
        return [(0, stream)]

    bench.to_device.fault = watch
    bench.run_until(lambda: bench.kiosk.credits)
    bench.run(500)
    assert entries == {0x56: "decided", 0x57: "credited"}


class _Failing(Journal):
    fails = False

    def append(self, what, **fields):
        if self.fails:
            raise JournalError("The disk is full.", "Make room.")
        return super().append(what, **fields)


@EVERY_KIND
@pytest.mark.parametrize("place", ["escrow", "stacking", "storing", "rejecting"])
def test_nothing_is_lost_while_the_journal_fails(tmp_path, kind, place):
    bench = SspBench(tmp_path / "j", validator=Validator(**KINDS[kind]), journal=_Failing).ready()
    bench.insert(TWENTY)
    if place == "rejecting":
        bench.run_until(lambda: bench.acceptor.place == "stacking")
        bench.acceptor._reject(0x1D)
    bench.run_until(lambda: bench.acceptor.place == place)
    journal = bench.kiosk.books.journal
    journal.fails = True
    bench.run(6000)
    journal.fails = False
    bench.run(6000)
    bench.come_to_rest()
    assert bench.credited_cents() == bench.stacked_cents()
    assert bench.kiosk.disputes == []


@EVERY_KIND
def test_another_channel_in_the_credit_is_a_dispute(tmp_path, kind):
    bench = SspBench(tmp_path / "j", validator=Validator(**KINDS[kind])).ready()
    bench.insert(FIVE)
    bench.run_until(lambda: bench.acceptor.place == "stacking")
    bench.acceptor.paper = HUNDRED
    bench.come_to_rest()
    assert bench.kiosk.credits == []
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(1, 500)]


# Every step of the host, every place of the note


def outcome(bench: SspBench) -> tuple:
    """What must hold after anything: the credits, and what was stacked."""
    assert bench.credited_cents() == bench.stacked_cents({NUMBER: 1234})
    assert bench.unexplained() == []
    ids = [credit.id for credit in bench.kiosk.credits]
    assert len(ids) == len(set(ids))
    return tuple(bench.credited_cents())


@pytest.mark.parametrize("flush", [False, True], ids=["line kept", "line flushed"])
@pytest.mark.parametrize("paper", [TWENTY, VOUCHER], ids=["note", "voucher"])
@pytest.mark.parametrize("kind", ["ack, sealed", "ack, plain"])
def test_host_crash_at_every_step(tmp_path, paper, flush, kind):
    outcomes = set()
    for at in range(0, 2200, 40):
        policy = Policy(vouchers=with_voucher())
        bench = SspBench(tmp_path / str(at), policy, validator=Validator(**KINDS[kind])).ready()
        bench.insert(paper)
        bench.run(at)
        bench.crash_host(flush)
        bench.come_to_rest()
        outcomes.add(outcome(bench))
        assert bench.kiosk.disputes == []
        redeemed = policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED
        assert redeemed == (VOUCHER in bench.acceptor.stacked)
        bench.kiosk.close()
    assert (2000,) in outcomes or (1234,) in outcomes


@pytest.mark.parametrize("keeps", [True, False])
def test_host_crash_at_every_step_without_ack_is_a_credit_or_a_dispute(tmp_path, keeps):
    for at in range(0, 2200, 40):
        bench = SspBench(tmp_path / str(at), validator=Validator(knows_ack=False, keeps=keeps)).ready()
        bench.insert(TWENTY)
        bench.run(at)
        bench.crash_host(flush=True)
        bench.come_to_rest()
        known = [c.cents for c in bench.kiosk.credits] + [n.cents for n in bench.kiosk.disputes]
        assert known == bench.stacked_cents()
        bench.kiosk.close()


@pytest.mark.parametrize("crash", [False, True], ids=["host lives", "host dies too"])
@pytest.mark.parametrize("kind", ["ack, sealed", "ack, plain", "no ack, sealed", "no ack, plain"])
def test_power_cut_of_the_device_at_every_step(tmp_path, crash, kind):
    outcomes = set()
    for at in range(0, 2000, 40):
        bench = SspBench(tmp_path / str(at), validator=Validator(**KINDS[kind])).ready()
        bench.insert(TWENTY)
        bench.run(at)
        bench.cut()
        if crash:
            bench.crash_host()
        bench.run(1000)
        bench.come_to_rest()
        outcomes.add(outcome(bench))
        assert bench.kiosk.disputes == []
        bench.kiosk.close()
    assert outcomes == {(), (2000,)}


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
@THREE_KINDS
def test_each_frame_of_an_insertion_suffers_each_fault(tmp_path, direction, fault, kind):
    for at in range(20):
        bench = SspBench(tmp_path / str(at), validator=Validator(**KINDS[kind])).ready()
        bench.insert(TWENTY)
        getattr(bench, direction).fault = _nth(at, fault)
        bench.run(3000)
        bench.come_to_rest()
        assert outcome(bench) == (2000,)
        assert bench.kiosk.disputes == []
        bench.kiosk.close()


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
@THREE_KINDS
def test_each_frame_of_the_opening_suffers_each_fault(tmp_path, direction, fault, kind):
    for at in range(16):
        bench = SspBench(tmp_path / str(at), validator=Validator(**KINDS[kind]))
        getattr(bench, direction).fault = _nth(at, fault)
        bench.ready().pay(TWENTY)
        assert outcome(bench) == (2000,)
        assert bench.kiosk.disputes == []
        bench.kiosk.close()


def _nth(at: int, fault: str):
    hit = getattr(Noise(at, 1.0), "_" + fault)
    count = iter(range(10_000))
    return lambda data: hit(data) if next(count) == at else [(0, data)]


@THREE_KINDS
def test_a_line_cut_for_long_while_a_note_is_stacked(tmp_path, kind):
    for at in range(0, 1200, 100):
        bench = SspBench(tmp_path / str(at), validator=Validator(**KINDS[kind])).ready()
        bench.insert(TWENTY)
        bench.run(600 + at)
        bench.to_device.fault = bench.to_host.fault = lambda data: []
        bench.run(9000)
        bench.come_to_rest()
        outcome(bench)
        assert bench.kiosk.disputes == []
        bench.kiosk.close()


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.sampled_from([TWENTY, FIVE, HUNDRED, VOUCHER])),
        st.tuples(st.just("run"), st.integers(20, 3000)),
        st.tuples(st.just("crash"), st.booleans()),
        st.tuples(st.just("cut"), st.integers(20, 2000)),
        st.tuples(st.just("inhibit"), st.booleans()),
    ),
    max_size=25,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=ACTS,
    seed=st.integers(0, 2**32),
    rate=st.sampled_from([0.0, 0.1, 0.3]),
    kind=st.sampled_from(sorted(KINDS)),
    keeps=st.booleans(),
)
def test_credited_is_stacked_through_anything(tmp_path_factory, acts, seed, rate, kind, keeps):
    policy = Policy(vouchers=with_voucher())
    validator = Validator(**KINDS[kind], keeps=keeps)
    bench = SspBench(tmp_path_factory.mktemp("any") / "j", policy, validator=validator).ready()
    bench.to_device.fault = bench.to_host.fault = Noise(seed, rate)
    for act, value in acts:
        _ACT[act](bench, value)
    bench.come_to_rest()
    bench.run(2000)
    if validator.knows_ack:
        outcome(bench)
        assert (policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED) == (VOUCHER in bench.acceptor.stacked)
    else:
        nothing_twice_and_nothing_unnoticed(bench)
    bench.kiosk.close()


def nothing_twice_and_nothing_unnoticed(bench: SspBench) -> None:
    """Where events are told once, one that a dying host took along is a dispute."""
    unseen = Counter(bench.stacked_cents({NUMBER: 1234}))
    unseen.subtract(bench.credited_cents())
    disputed = Counter(note.cents for note in bench.kiosk.disputes)
    assert all(count >= 0 for count in unseen.values())
    assert sum((unseen - disputed).values()) <= disputed[None]


def _cut(bench: SspBench, off_ms: int) -> None:
    bench.cut()
    bench.run(off_ms)
    bench.acceptor.power_on()


_ACT = {
    "insert": lambda bench, paper: bench.acceptor.insert(paper),
    "run": lambda bench, ms: bench.run(ms),
    "crash": lambda bench, flush: bench.crash_host(flush),
    "cut": _cut,
    "inhibit": lambda bench, on: bench.kiosk.inhibit("test") if on else bench.kiosk.allow("test"),
}

"""The ccTalk host with a whole kiosk, against a model validator that keeps the truth: credited = stacked, once each."""

import pytest
from acceptor_model import Paper, Times
from cctalk_model import BARCODE_TYPE, Validator
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from kiosk_bench import Bench, Noise
from pitbench.kiosk.events import EventKind
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.ledger import NoteState
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import VoucherBook, VoucherStatus
from pitbench.protocols.acceptor_host import StatusSeen, host_module
from pitbench.protocols.cctalk import Checksum, Event, Events, Frame
from pitbench.protocols.cctalk_host import CctalkHost, CctalkSettings
from pitbench.protocols.id003 import Command, Status

TWENTY, FIVE, HUNDRED = Paper(0x65), Paper(0x63), Paper(0x67)
NUMBER = "123456789012345678"
VOUCHER = Paper(0x6F, NUMBER)
MODES = [pytest.param(mode, id=mode.value) for mode in Checksum]


def with_voucher() -> VoucherBook:
    book = VoucherBook()
    book.issue(NUMBER, 1234)
    return book


class CctalkBench(Bench):
    kiosk_class = Kiosk

    def __init__(self, path, policy=None, settings=None, validator=None, journal=Journal):
        super().__init__(path, policy, settings, validator or Validator(), journal=journal)

    def _new_kiosk(self):
        return self.kiosk_class(self.journal(self.path, wall=lambda: 0.0), self.policy, CctalkHost(self.settings))


class EchoingBench(CctalkBench):
    """On one wire the host hears what it says, ahead of every answer."""

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.to_device.put = self._both(self.to_device.put)

    def _both(self, put):
        def heard_too(data, now):
            self.to_host.put(data, now)
            put(data, now)

        return heard_too


def bench_of(path, **named) -> CctalkBench:
    bench = CctalkBench(path, **named).ready()
    bench.run(200)
    return bench


def quick(path, policy=None, journal=Journal, **named) -> CctalkBench:
    return CctalkBench(path, policy, validator=Validator(Times(60, 60, 40, 40, 40), **named), journal=journal).ready()


def header(frame: bytes) -> int:
    return frame[3]


# Start


@pytest.mark.parametrize("mode", MODES)
def test_three_notes_are_credited_once_each(tmp_path, mode):
    validator = Validator(with_crc=mode is Checksum.CRC)
    bench = bench_of(tmp_path / "j", settings=CctalkSettings(checksum=mode), validator=validator)
    for paper in (TWENTY, FIVE, HUNDRED):
        bench.pay(paper)
    assert bench.kiosk.credits == [(1, 2000, "note"), (2, 500, "note"), (3, 10000, "note")]
    assert bench.kiosk.disputes == []
    assert bench.acceptor.stacked == [TWENTY, FIVE, HUNDRED]


def test_a_device_of_the_other_mode_is_silent(tmp_path):
    bench = CctalkBench(tmp_path / "j", validator=Validator(with_crc=True))
    bench.run(4000)
    assert EventKind.SILENT in [event.kind for event in bench.events]


def test_our_own_bytes_on_a_single_wire_are_swallowed(tmp_path):
    bench = EchoingBench(tmp_path / "j").ready()
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.host.echoes > 50
    assert bench.kiosk.host.timeouts == bench.kiosk.host.strays == 0


def test_the_device_is_identified_read_and_set_in_order_and_opened_last(tmp_path):
    bench = bench_of(tmp_path / "j")
    headers = [header(frame) for frame in bench.sent if header(frame) not in (159, 232)]
    assert headers[:3] == [246, 244, 241]
    assert headers[3:17] == [157] * 14
    assert headers[17:] == [156, 153, 231, 228]
    assert (bench.acceptor.mode, bench.acceptor.mask, bench.acceptor.accepts) == (3, 0xFFFF, True)
    assert bench.kiosk.host.version == "TST MODEL M-1.00"
    cents = {code: worth.cents for code, worth in bench.kiosk.host.table.items()}
    assert cents == {0x61: 100, 0x63: 500, 0x64: 1000, 0x65: 2000, 0x66: 5000, 0x67: 10000}
    bench.run(500)
    assert bench.kiosk.host.status == Status.IDLE
    assert bench.kiosk.host.ready


def test_a_poll_and_its_answer_stand_between_any_two_commands(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.pay(TWENTY)
    headers = [header(frame) for frame in bench.sent]
    assert not [pair for pair in zip(headers, headers[1:], strict=False) if 159 not in pair]


def test_polls_every_150_ms_at_rest_and_settings_again_every_5_s(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.run(1000)
    bench.sent.clear()
    bench.run(10_000, 10)
    headers = [header(frame) for frame in bench.sent]
    assert 60 <= headers.count(159) <= 80
    assert [headers.count(setting) for setting in (153, 231, 228)] == [2, 2, 2]


@pytest.mark.parametrize("command", [153, 231, 232, 244, 246])
@pytest.mark.parametrize("how", ["refuses", "deaf"])
def test_what_the_device_does_not_know_is_given_up_and_told_once(tmp_path, command, how):
    bench = CctalkBench(tmp_path / "j", validator=Validator(**{how: frozenset({command})}))
    bench.run_until(lambda: bench.acceptor.state == "idle" and bench.kiosk.host.ready)
    bench.run(12_000)
    told = [event for event in bench.events if event.kind == EventKind.SETTING_REFUSED]
    assert len(told) == 1
    sent = [header(frame) for frame in bench.sent].count(command)
    assert sent == (3 if how == "refuses" else 12)


def test_a_busy_device_is_asked_again(tmp_path):
    bench = CctalkBench(tmp_path / "j", validator=Validator(busy=5)).ready()
    bench.pay(TWENTY)
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.host.busy == 5


def test_places_of_the_table_that_are_never_answered_are_empty(tmp_path):
    bench = CctalkBench(tmp_path / "j", validator=Validator(deaf=frozenset({157})))
    bench.run(30_000)
    assert bench.kiosk.host.table == {}
    assert bench.kiosk.host.ready
    assert EventKind.SETTING_REFUSED not in [event.kind for event in bench.events]


def test_a_country_without_scaling_has_no_bills(tmp_path):
    bench = CctalkBench(tmp_path / "j")
    bench.acceptor._said_156 = lambda body: bytes(3)
    bench.run(5000)
    assert bench.kiosk.host.table == {}
    assert len([event for event in bench.events if event.kind == EventKind.SETTING_REFUSED]) == 6


def test_an_answer_taken_for_another_types_is_noticed_and_the_table_read_again(tmp_path):
    bench = CctalkBench(tmp_path / "j")
    said = bench.acceptor._said
    once = iter([b"\x03"])
    wrong = lambda head, body: said(head, next(once, body) if (head, body) == (157, b"\x04") else body)  # noqa: E731
    bench.acceptor._said = wrong
    bench.ready()
    assert bench.kiosk.host.table[0x64].cents == 1000
    assert [header(frame) for frame in bench.sent].count(157) == 28


def test_only_the_notes_that_are_taken_are_switched_on(tmp_path):
    bench = bench_of(tmp_path / "j", policy=Policy(denominations=frozenset({500})))
    assert bench.acceptor.mask == 0b1111111110000110
    bench.kiosk.take_denominations(frozenset({2000}))
    bench.run(1000)
    assert bench.acceptor.mask == 0b1111111110010010
    bench.kiosk.inhibit("test")
    bench.run(1000)
    assert (bench.acceptor.state, bench.kiosk.host.status) == ("disabled", Status.DISABLED)
    bench.kiosk.allow("test")
    bench.run(1000)
    assert (bench.acceptor.state, bench.kiosk.host.status) == ("idle", Status.IDLE)


def test_a_device_that_closed_for_want_of_polls_is_opened_again(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.to_device.fault = lambda frame: []
    bench.run(8000)
    assert bench.acceptor.state == "disabled"
    bench.quiet_line()
    bench.run(1500)
    assert bench.acceptor.state == "idle"


def test_silence_has_the_device_set_up_again(tmp_path):
    bench = bench_of(tmp_path / "j", settings=CctalkSettings(refresh_ms=10**9))
    bench.to_device.fault = lambda frame: []
    bench.run(8000)
    bench.quiet_line()
    bench.run(1500)
    assert bench.acceptor.state == "idle"


def test_a_reset_at_counter_0_is_seen_as_a_start(tmp_path):
    bench = bench_of(tmp_path / "j", settings=CctalkSettings(refresh_ms=10**9))
    bench.run(500)
    bench.kiosk.reset()
    bench.run(3000)
    assert bench.acceptor.counter == 0
    assert bench.acceptor.resets == 1
    assert bench.acceptor.state == "idle"
    assert [event.kind for event in bench.events].count(EventKind.POWER_UP) == 2


def test_a_start_between_counter_0_and_the_first_event_is_mended(tmp_path):
    bench = bench_of(tmp_path / "j")
    assert bench.acceptor.counter == 0
    bench.acceptor.power_on()
    bench.run(6000)
    assert bench.acceptor.state == "idle"


# Escrow


def test_another_note_than_the_taken_ones_goes_back(tmp_path):
    bench = bench_of(tmp_path / "j", policy=Policy(denominations=frozenset({500})))
    bench.acceptor.mask = 0xFFFF
    bench.pay(TWENTY)
    assert bench.acceptor.returned == [TWENTY]
    assert bench.kiosk.credits == bench.kiosk.disputes == []
    assert bench.kiosk.books.ledger.latest.state == NoteState.RETURNED


def test_an_inhibited_note_is_told_as_rejected(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.acceptor.mask = 0
    bench.insert(TWENTY)
    bench.run(2000)
    assert "rejecting (inhibited)" in " ".join(event.text for event in bench.events)
    assert bench.acceptor.mask


@pytest.mark.parametrize("credit", [(BARCODE_TYPE, 0), (0, 21), (8, 0)], ids=["type 15", "unknown type", "type 8"])
def test_a_voucher_is_read_held_stacked_and_redeemed(tmp_path, credit):
    policy = Policy(vouchers=with_voucher())
    bench = bench_of(tmp_path / "j", policy=policy, validator=Validator(barcode_credit=credit))
    bench.pay(VOUCHER)
    bench.run(500)
    assert bench.kiosk.credits == [(1, 1234, "voucher")]
    assert bench.kiosk.disputes == []
    assert policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED
    assert NUMBER not in "".join(event.text for event in bench.events)


class SlowBook(VoucherBook):
    """Answers after so many questions."""

    questions = 30

    def validate(self, number, claim):
        self.questions -= 1
        return super().validate(number, claim) if self.questions < 0 else None


def test_a_voucher_is_held_until_the_voucher_system_answers(tmp_path):
    book = SlowBook()
    book.issue(NUMBER, 1234)
    bench = bench_of(tmp_path / "j", policy=Policy(vouchers=book))
    bench.pay(VOUCHER)
    holds = [frame for frame in bench.sent if header(frame) == 154 and frame[4] == 255]
    assert len(holds) == 1
    assert bench.kiosk.credits == [(1, 1234, "voucher")]


def test_a_device_that_can_not_hold_is_asked_once(tmp_path):
    book = SlowBook()
    book.issue(NUMBER, 1234)
    bench = bench_of(tmp_path / "j", policy=Policy(vouchers=book))
    route = bench.acceptor._said_154
    bench.acceptor._said_154 = lambda body: None if body == b"\xff" else route(body)
    bench.pay(VOUCHER)
    assert [frame[4] for frame in bench.sent if header(frame) == 154] == [255, 1]


@pytest.mark.parametrize("how", ["refuses", "deaf"])
def test_a_barcode_that_can_not_be_read_goes_back(tmp_path, how):
    bench = bench_of(
        tmp_path / "j", policy=Policy(vouchers=with_voucher()), validator=Validator(**{how: frozenset({129})})
    )
    bench.pay(VOUCHER)
    assert bench.acceptor.returned == [VOUCHER]


def test_two_vouchers_running_are_two(tmp_path):
    book = with_voucher()
    book.issue("987654321098765432", 500)
    bench = bench_of(tmp_path / "j", policy=Policy(vouchers=book))
    bench.pay(VOUCHER)
    bench.pay(Paper(0x6F, "987654321098765432"))
    assert [credit.cents for credit in bench.kiosk.credits] == [1234, 500]


def test_a_route_that_the_device_drops_is_said_again(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.to_device.fault = lambda frame: [] if header(frame) == 154 and bench.now < 8000 else [(0, frame)]
    bench.insert(TWENTY)
    bench.run(8000)
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_a_credit_that_never_comes_is_a_dispute_in_the_end(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "escrow")
    bench.acceptor.paper = None
    bench.acceptor._go("disabled")
    bench.run(15_000)
    assert [note.id for note in bench.kiosk.disputes] == [1]
    assert bench.kiosk.credits == []


def test_another_type_credited_than_was_in_escrow_is_a_dispute(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.paper = HUNDRED
    bench.run(3000)
    assert bench.kiosk.credits == []
    assert [(note.id, note.cents) for note in bench.unexplained()] == [(1, 2000)]


@pytest.mark.parametrize("event", [(5, 0), (0, 21)])
def test_a_credit_without_escrow_is_a_dispute_and_no_credit(tmp_path, event):
    bench = bench_of(tmp_path / "j")
    bench.run(1000)
    bench.acceptor.event(*event)
    bench.run(1000)
    assert bench.kiosk.credits == []
    assert [note.id for note in bench.unexplained()] == [1]


def test_two_credits_after_one_escrow_are_one_credit_and_a_dispute(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.due = None
    bench.acceptor.event(5, 0)
    bench.acceptor.event(5, 0)
    bench.run(2000)
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert [note.id for note in bench.unexplained()] == [2]


def test_an_unknown_type_stacked_instead_of_the_note_is_a_dispute(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.due = None
    bench.acceptor.event(0, 21)
    bench.run(1000)
    assert bench.kiosk.credits == []
    assert [(note.id, note.cents) for note in bench.unexplained()] == [(1, 2000)]


# The counter


def test_more_than_five_events_between_two_polls_leave_a_dispute_and_no_blind_credit(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.due = None
    for event in [(5, 0), *[(0, 2)] * 6]:
        bench.acceptor.event(*event)
    bench.acceptor._go("disabled")
    bench.run(2000)
    assert bench.kiosk.host.lost == 2
    assert bench.kiosk.credits == []
    assert [note.id for note in bench.kiosk.disputes] == [1]
    assert any("never seen" in event.text for event in bench.events)


def test_five_events_between_two_polls_are_all_told(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.due = None
    for event in [(5, 0), *[(0, 2)] * 4]:
        bench.acceptor.event(*event)
    bench.acceptor._go("disabled")
    bench.run(2000)
    assert bench.kiosk.host.lost == 0
    assert bench.kiosk.credits == [(1, 2000, "note")]


def test_the_counter_goes_from_255_to_1(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.acceptor.counter = 253
    bench.acceptor.events = [(0, 2)] * 5
    bench.run(2000)
    bench.pay(TWENTY)
    bench.pay(FIVE)
    assert bench.acceptor.counter == 2
    assert [credit.cents for credit in bench.kiosk.credits] == [2000, 500]


def test_a_route_is_never_sent_for_a_bill_that_a_newer_event_has_ended(tmp_path):
    bench = bench_of(tmp_path / "j")
    for event in [(5, 1), (0, 1), (7, 1), (0, 1)]:
        bench.acceptor.event(*event)
    bench.run(2000)
    assert 154 not in [header(frame) for frame in bench.sent]
    assert bench.kiosk.books.ledger.notes == {}


@pytest.mark.parametrize("before", [[], [TWENTY]], ids=["at first", "after a credit"])
def test_escrow_and_credit_in_one_answer_were_not_our_order(tmp_path, before):
    bench = bench_of(tmp_path / "j")
    for paper in before:
        bench.pay(paper)
    bench.crash_host()
    bench.acceptor.event(5, 1)
    bench.acceptor.event(5, 0)
    bench.run(2000)
    assert len(bench.kiosk.credits) == len(before)
    assert [note.cents for note in bench.unexplained()] == [None]


# Faults


@pytest.mark.parametrize(
    ("code", "fault", "words"),
    [
        (6, 39, "jam in acceptor (06)"),
        (16, 39, "jam in acceptor (10)"),
        (7, 39, "jam in stacker (07)"),
        (13, 38, "failure (stack motor)"),
        (14, 45, "stacker full"),
        (17, 49, "cheated (11)"),
    ],
)
def test_a_fault_is_told_until_a_self_check_passes(tmp_path, code, fault, words):
    bench = bench_of(tmp_path / "j")
    bench.acceptor.jam(code, fault)
    bench.run(4000)
    assert [event.text for event in bench.events if event.kind == EventKind.ERROR] == [f"The acceptor reports {words}."]
    bench.acceptor.fault = 0
    bench.run(3000)
    assert bench.kiosk.host.status == Status.IDLE
    assert bench.events[-1].kind == EventKind.ERROR_OVER


def test_a_fault_that_no_self_check_sees_stands_until_a_reset(tmp_path):
    bench = bench_of(tmp_path / "j", validator=Validator(blind_fault=True))
    bench.acceptor.jam(6, 39)
    bench.run(5000)
    assert bench.kiosk.host.status == Status.JAM_IN_ACCEPTOR
    bench.kiosk.reset()
    bench.run(5000)
    assert bench.acceptor.resets == 1
    assert bench.kiosk.host.status == Status.IDLE


def test_an_attempt_to_cheat_need_not_last(tmp_path):
    bench = bench_of(tmp_path / "j", validator=Validator(blind_fault=True))
    bench.acceptor.event(0, 18)
    bench.run(3000)
    assert "cheated" in " ".join(event.text for event in bench.events)
    assert bench.kiosk.host.status == Status.IDLE


def test_a_stacker_taken_out_and_put_in(tmp_path):
    bench = bench_of(tmp_path / "j", validator=Validator(blind_fault=True))
    bench.acceptor.event(0, 11)
    bench.run(3000)
    assert bench.kiosk.host.status == Status.STACKER_OPEN
    bench.acceptor.event(0, 12)
    bench.run(1000)
    assert bench.kiosk.host.status == Status.IDLE


def test_a_fault_whose_event_was_before_this_life_is_found_by_the_self_check(tmp_path):
    bench = CctalkBench(tmp_path / "j", validator=Validator(counter=9, fault=45))
    bench.run(5000)
    assert bench.kiosk.host.status == Status.STACKER_FULL
    assert bench.acceptor.resets == 0


def test_a_device_that_starts_with_a_fault_is_reset_once(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.acceptor._said_1 = lambda body: bench.acceptor._go("restarting", 200) or b""
    bench.acceptor.event(0, 2)
    bench.run(500)
    bench.cut()
    bench.run(500)
    bench.acceptor.power_on()
    bench.acceptor.fault = 37
    bench.run(15_000)
    assert [header(frame) for frame in bench.sent].count(1) == 1
    assert bench.kiosk.host.status == Status.FAILURE


def test_a_wanted_reset_waits_for_the_item_to_end(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run(500)
    bench.kiosk.reset()
    bench.run_until(lambda: bench.acceptor.resets == 1)
    assert bench.acceptor.stacked == [TWENTY]
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []


# Every step of the host, every state of the device


def outcome(bench, worth: dict) -> tuple:
    """What must hold after anything: the credits, and what was stacked."""
    assert bench.credited_cents() == bench.stacked_cents(worth)
    assert bench.unexplained() == []
    ids = [credit.id for credit in bench.kiosk.credits]
    assert len(ids) == len(set(ids))
    return tuple(bench.credited_cents())


@pytest.mark.parametrize("flush", [False, True], ids=["line kept", "line flushed"])
@pytest.mark.parametrize("paper", [TWENTY, VOUCHER], ids=["note", "voucher"])
def test_host_crash_at_every_step(tmp_path, paper, flush):
    outcomes = set()
    for at in range(64):
        bench = bench_of(tmp_path / str(at), policy=Policy(vouchers=with_voucher()))
        bench.insert(paper)
        bench.run(at * 20)
        bench.crash_host(flush)
        bench.come_to_rest()
        outcomes.add(outcome(bench, {NUMBER: 1234}))
        assert bench.kiosk.disputes == []
        redeemed = bench.policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED
        assert redeemed == (VOUCHER in bench.acceptor.stacked)
        bench.kiosk.close()
    assert len(outcomes) == 1, "a crash of the host alone never sends the item back"


@pytest.mark.parametrize(
    ("crash", "lazy"),
    [(False, False), (True, False), (True, True)],
    ids=["host lives", "host dies too", "given back once open"],
)
def test_power_cut_of_the_device_at_every_step(tmp_path, crash, lazy):
    outcomes = set()
    for at in range(64):
        bench = bench_of(tmp_path / str(at), validator=Validator(lazy=lazy))
        bench.insert(TWENTY)
        bench.run(at * 20)
        bench.cut()
        if crash:
            bench.crash_host()
        bench.run(1000)
        bench.come_to_rest()
        outcomes.add(outcome(bench, {}))
        assert bench.kiosk.disputes == []
        bench.kiosk.close()
    assert outcomes == {(), (2000,)}


def test_power_cut_of_a_device_that_forgets_leaves_a_dispute_where_money_may_be(tmp_path):
    disputes = set()
    for at in range(64):
        bench = bench_of(tmp_path / str(at), validator=Validator(remembers=False))
        bench.insert(TWENTY)
        bench.run(at * 20)
        bench.cut()
        bench.run(1000)
        bench.come_to_rest()
        notes = [note.cents for note in bench.kiosk.disputes]
        credited, stacked = bench.credited_cents(), bench.stacked_cents()
        assert credited in ([], stacked)
        assert credited == stacked or notes == [2000]
        assert bench.unexplained() == []
        disputes.add(len(notes))
        bench.kiosk.close()
    assert disputes == {0, 1}


FAULTS = [
    (Checksum.SUM, "lost"),
    (Checksum.SUM, "late"),
    (Checksum.SUM, "double"),
    (Checksum.SUM, "damaged"),
    (Checksum.CRC, "damaged"),
]


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize(("mode", "fault"), FAULTS)
def test_each_frame_of_an_insertion_suffers_each_fault(tmp_path, direction, mode, fault):
    for at in range(14):
        validator = Validator(with_crc=mode is Checksum.CRC)
        bench = bench_of(tmp_path / str(at), settings=CctalkSettings(checksum=mode), validator=validator)
        bench.insert(TWENTY)
        getattr(bench, direction).fault = _nth(at, fault)
        bench.run(8000)
        bench.come_to_rest()
        assert outcome(bench, {}) == (2000,)
        assert bench.kiosk.disputes == []
        bench.kiosk.close()


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
def test_each_frame_of_a_start_suffers_each_fault(tmp_path, direction, fault):
    for at in range(0, 45, 2):
        bench = CctalkBench(tmp_path / str(at))
        getattr(bench, direction).fault = _nth(at, fault)
        bench.ready()
        bench.run(1000)
        assert [worth.cents for worth in bench.kiosk.host.table.values()] == [100, 500, 1000, 2000, 5000, 10000]
        assert (bench.acceptor.mode, bench.acceptor.mask, bench.acceptor.accepts) == (3, 0xFFFF, True)
        bench.kiosk.close()


def _nth(at: int, fault: str):
    hit = getattr(Noise(at, 1.0), "_" + fault)
    count = iter(range(10_000))
    return lambda data: hit(data) if next(count) == at else [(0, data)]


class _Crash(BaseException):
    """The host dies in the middle of a write."""


def _dying_journal(write: int, keep: int):
    """A journal whose n-th entry reaches the disk only up to a byte, and takes the host with it."""

    class Dying(Journal):
        count = 0

        def _put(self, line: bytes) -> None:
            Dying.count += 1
            if Dying.count != write:
                return super()._put(line)
            super()._put(line[:keep])
            self.close()
            raise _Crash

    return Dying


@pytest.mark.parametrize("paper", [TWENTY, VOUCHER], ids=["note", "voucher"])
def test_host_crash_in_every_write(tmp_path, paper):
    bench = quick(tmp_path / "whole", Policy(vouchers=with_voucher()))
    _see_through(bench, paper)
    lines = (tmp_path / "whole").read_bytes().splitlines(keepends=True)
    for write, line in enumerate(lines[1:], 2):
        for keep in (0, len(line) // 2, len(line)):
            _one_torn_write(tmp_path / f"{write}-{keep}", paper, write, keep)


def _see_through(bench, paper) -> None:
    bench.pay(paper)
    bench.run(500)


def _one_torn_write(path, paper, write: int, keep: int) -> None:
    with pytest.raises(_Crash):  # noqa: PT012
        bench = CctalkBench(
            path,
            Policy(vouchers=with_voucher()),
            validator=Validator(Times(60, 60, 40, 40, 40)),
            journal=_dying_journal(write, keep),
        )
        bench.ready()
        _see_through(bench, paper)
    bench.journal = Journal
    bench.crash_host()
    bench.come_to_rest()
    if not bench.acceptor.stacked:
        bench.pay(paper)
    bench.run(500)
    assert outcome(bench, {NUMBER: 1234}) in {(2000,), (1234,)}
    assert bench.kiosk.disputes == []
    bench.kiosk.close()


# What the host remembers over its own death


def test_a_host_that_starts_again_credits_no_old_event(tmp_path):
    bench = bench_of(tmp_path / "j")
    for paper in (TWENTY, FIVE):
        bench.pay(paper)
    for _ in range(3):
        bench.crash_host()
        bench.run(4000)
    assert [credit.cents for credit in bench.kiosk.credits] == [2000, 500]
    assert bench.kiosk.disputes == []


def test_a_credit_that_came_while_no_host_lived_is_credited_once(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.kiosk.books.journal.close()
    for _ in range(100):
        bench.now += 20
        bench.acceptor.step(bench.now)
    assert bench.acceptor.stacked == [TWENTY]
    bench.crash_host(flush=True)
    bench.run(3000)
    bench.crash_host()
    bench.run(3000)
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []


def test_the_next_bill_in_escrow_is_not_taken_for_the_one_that_was_stacked_meanwhile(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.kiosk.books.journal.close()
    for _ in range(100):
        bench.now += 20
        bench.acceptor.step(bench.now)
        bench.acceptor.insert(TWENTY)
    assert bench.acceptor.state == "escrow"
    bench.crash_host(flush=True)
    bench.come_to_rest()
    assert [credit.cents for credit in bench.kiosk.credits] == [2000, 2000]
    assert bench.acceptor.stacked == [TWENTY, TWENTY]
    assert bench.kiosk.disputes == []


def test_another_device_under_an_old_mark_is_a_start_and_credits_nothing(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.pay(TWENTY)
    bench.run(500)
    bench.acceptor = Validator(counter=3, events=[(6, 0), (6, 1), (0, 2), (0, 0), (0, 0)])
    bench.crash_host()
    bench.events.clear()
    bench.run(4000)
    assert [credit.cents for credit in bench.kiosk.credits] == [2000]
    assert EventKind.POWER_UP in [event.kind for event in bench.events]
    assert [note.cents for note in bench.kiosk.disputes] == [None]


class ForgetfulKiosk(Kiosk):
    """A kiosk that keeps no mark."""

    def _take_up(self, journal):
        return lambda: None


class Forgetful(CctalkBench):
    kiosk_class = ForgetfulKiosk


def test_without_a_mark_the_first_answer_is_history(tmp_path):
    bench = Forgetful(tmp_path / "j").ready()
    bench.pay(TWENTY)
    bench.run(500)
    bench.crash_host()
    bench.run(4000)
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []


def test_without_a_mark_a_credit_unseen_is_a_dispute(tmp_path):
    bench = Forgetful(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.to_host.fault = lambda frame: []
    bench.run_until(lambda: bench.acceptor.state == "escrow")
    bench.quiet_line()
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.to_host.fault = lambda frame: []
    bench.run(3000)
    bench.quiet_line()
    bench.crash_host(flush=True)
    bench.run(3000)
    assert bench.kiosk.credits == []
    assert [note.cents for note in bench.kiosk.disputes] == [2000]


def test_without_a_mark_what_is_in_escrow_is_taken_up(tmp_path):
    bench = Forgetful(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "escrow")
    bench.crash_host(flush=True)
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]


@pytest.mark.parametrize("mark", ["", "00112", "0001", "zz"])
def test_what_is_no_mark_is_refused(mark):
    with pytest.raises(ValueError, match=r"isn't a counter|hex"):
        CctalkHost().resume(mark)


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("insert"), st.sampled_from([TWENTY, FIVE, HUNDRED, VOUCHER])),
        st.tuples(st.just("run"), st.integers(20, 3000)),
        st.tuples(st.just("crash"), st.booleans()),
        st.tuples(st.just("cut"), st.integers(20, 2000)),
        st.tuples(st.just("inhibit"), st.booleans()),
        st.tuples(st.just("system"), st.booleans()),
        st.tuples(st.just("reset"), st.none()),
    ),
    max_size=25,
)


@examples(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=ACTS,
    seed=st.integers(0, 2**32),
    rate=st.sampled_from([0.0, 0.1, 0.3]),
    mode=st.sampled_from(list(Checksum)),
    remembers=st.booleans(),
)
def test_nothing_is_credited_that_was_not_stacked_and_nothing_stacked_is_lost(
    tmp_path_factory, acts, seed, rate, mode, remembers
):
    path = tmp_path_factory.mktemp("any") / "j"
    policy = Policy(vouchers=with_voucher())
    validator = Validator(with_crc=mode is Checksum.CRC, remembers=remembers)
    bench = CctalkBench(path, policy, CctalkSettings(checksum=mode), validator).ready()
    bench.to_device.fault = bench.to_host.fault = Noise(seed, rate)
    for act, value in acts:
        _ACT[act](bench, value)
    policy.vouchers.up = True
    bench.come_to_rest()
    bench.run(2000)
    _settled(bench, exact=rate == 0 and remembers)
    bench.kiosk.close()


def _settled(bench, exact: bool) -> None:
    """Every stacked item is credited or in dispute, and no credit is without its item."""
    credited, stacked = bench.credited_cents(), bench.stacked_cents({NUMBER: 1234})
    assert bench.unexplained() == []
    missing = list(stacked)
    for cents in credited:
        assert cents in missing
        missing.remove(cents)
    disputed = [note.cents for note in bench.kiosk.disputes]
    for cents in missing:
        assert cents in disputed
        disputed.remove(cents)
    assert not exact or missing == []


def _cut(bench, off_ms: int) -> None:
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
    "reset": lambda bench, _: bench.kiosk.reset(),
}


# The host alone


def told(counter: int, *events: tuple) -> Frame:
    """An answer to a poll, the newest event first."""
    places = [Event(*event) for event in events] + [Event(0, 0)] * (5 - len(events))
    return Frame(1, 0, Events(counter, tuple(places)).data)


def statuses(host: CctalkHost, *frames: Frame) -> list:
    """What the host tells of each answer to a poll; whatever else it asks meanwhile is never answered."""
    seen = []
    for frame in frames:
        while True:
            host.test_now = getattr(host, "test_now", 0) + 1500
            if header(host.next_frame(host.test_now)) == 159:
                break
        seen += [event for event in host.received(frame, host.test_now) if isinstance(event, StatusSeen)]
    return seen


def at_work(counter: int = 10) -> CctalkHost:
    host = CctalkHost()
    host.resume(bytes([counter, *bytes(10)]).hex())
    return host


def test_a_credit_is_told_until_it_is_acknowledged():
    host = at_work()
    credit = StatusSeen(Status.VEND_VALID, b"\x65")
    assert statuses(host, told(11, (5, 0)), told(11, (5, 0)), told(12, (0, 2), (5, 0))) == [credit] * 3
    host.acknowledge()
    (seen,) = statuses(host, told(12, (0, 2), (5, 0)))
    assert seen.status == Status.REJECTING


@pytest.mark.parametrize("event", [(0, 1), (0, 2), (5, 1)])
def test_what_could_not_be_made_durable_is_told_again(event):
    host = at_work()
    (first,) = statuses(host, told(11, event))
    host.polls_only = True
    assert statuses(host, told(12, (5, 0), event), told(12, (5, 0), event)) == [first] * 2
    host.polls_only = False
    (credit,) = statuses(host, told(12, (5, 0), event))
    assert credit.status == Status.VEND_VALID


def test_polls_only_holds_everything_else_back():
    host = CctalkHost()
    host.polls_only = True
    sent = set()
    for now in range(0, 3000, 10):
        frame = host.next_frame(now)
        if frame:
            sent.add(header(frame))
            host.received(told(3, (5, 1)), now)
            host.command(Command.STACK_1)
    assert sent == {159}


def test_a_command_is_withdrawn_by_a_newer_status():
    host = at_work()
    statuses(host, told(11, (5, 1)))
    host.command(Command.STACK_1)
    statuses(host, told(12, (0, 1), (5, 1)))
    assert header(host.next_frame(host.test_now)) != 154


def test_each_barcode_is_read_anew():
    host = at_work()
    for counter, digits in ((11, b"11111111"), (12, b"22222222")):
        answer = told(counter, *[(0, 20)] * (counter - 10))
        assert statuses(host, answer) == []
        assert header(host.next_frame(host.test_now)) == 129
        host.received(Frame(1, 0, digits), host.test_now)
        assert statuses(host, answer) == [StatusSeen(Status.ESCROW, b"\x6f" + digits)]


def test_a_barcode_with_another_event_behind_it_is_read_and_told():
    host = at_work()
    answer = told(12, (0, 10), (0, 20))
    assert statuses(host, answer) == []
    assert header(host.next_frame(host.test_now)) == 129
    host.received(Frame(1, 0, b"11111111"), host.test_now)
    assert statuses(host, answer)[0] == StatusSeen(Status.ESCROW, b"\x6f11111111")


def test_a_wait_is_not_said_on_this_wire():
    host = at_work()
    statuses(host, told(11, (5, 1)))
    host.command(Command.WAIT)
    assert header(host.next_frame(host.test_now)) != 154


@pytest.mark.parametrize(
    ("first", "status"),
    [
        ((5, 0), Status.POWER_UP_BILL_IN_STACKER),
        ((0, 21), Status.POWER_UP_BILL_IN_STACKER),
        ((0, 1), Status.POWER_UP_BILL_IN_ACCEPTOR),
        ((5, 1), Status.POWER_UP),
    ],
)
@pytest.mark.parametrize("seen_at_0", [True, False])
def test_what_a_start_tells_of_the_bill_before_it(first, status, seen_at_0):
    host = at_work()
    zero = [told(0)] if seen_at_0 else []
    told_there = statuses(host, *zero, told(2, first, (0, 12)))
    assert told_there[0].status == status


def test_a_start_that_tells_nothing_is_a_power_up_after_three_polls():
    host = at_work()
    assert statuses(host, told(0), told(0), told(0)) == []
    assert statuses(host, told(0)) == [StatusSeen(Status.POWER_UP)]
    assert statuses(host, told(0)) == [StatusSeen(Status.INITIALISE)]


def test_two_credits_in_a_row_after_a_start_are_told_as_two():
    host = at_work()
    answer = told(2, (5, 0), (5, 0))
    seen = statuses(host, told(0), answer, answer, answer)
    assert [event.status for event in seen] == [Status.POWER_UP_BILL_IN_STACKER, Status.DISABLED, Status.VEND_VALID]


def test_a_kiosk_finds_the_host_by_its_wires_name():
    module = host_module("cctalk")
    assert isinstance(module.Host(module.Settings(poll_ms=200)), CctalkHost)


def test_a_fault_that_an_event_tells_at_the_start_is_reset_once_too():
    host = at_work()
    jam = told(1, (0, 6))
    statuses(host, told(0), jam, jam, jam)
    resets = 0
    for answer in [*[jam] * 20, told(0), *[jam] * 20]:
        sent = host.next_frame(host.test_now)
        if sent and header(sent) == 1:
            resets += 1
            host.received(Frame(1, 0), host.test_now)
        statuses(host, answer)
    assert resets == 1


def test_the_self_check_tells_which_failure_it_is(tmp_path):
    bench = bench_of(tmp_path / "j")
    bench.acceptor.jam(13, 51)
    bench.run(2000)
    said = [event.text for event in bench.events if event.kind == EventKind.ERROR]
    assert said == ["The acceptor reports failure (head removed)."]


def test_a_stacker_that_is_no_longer_faulty(tmp_path):
    bench = bench_of(tmp_path / "j", validator=Validator(blind_fault=True))
    bench.acceptor.event(0, 13)
    bench.run(2000)
    assert bench.kiosk.host.status == Status.FAILURE
    bench.acceptor.event(0, 10)
    bench.run(1000)
    assert bench.kiosk.host.status == Status.IDLE

"""Vouchers and coupons: claimed, redeemed once, released, told apart; numbers never shown (1.40(i), (l), (n), (p))."""

from dataclasses import replace

import pytest
from acceptor_model import Acceptor, Paper, Times
from kiosk_bench import Bench, kinds, texts
from pitbench.errors import PitbenchError
from pitbench.kiosk.events import EventKind
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import Authorised, Refused, VoucherBook, VoucherKind, VoucherStatus
from pitbench.kiosk.voucher_file import VoucherFile
from pitbench.protocols.id003 import Command, encode

NUMBER = "123456789012345678"
VOUCHER = Paper(0x6F, NUMBER)


@pytest.fixture
def book() -> VoucherBook:
    book = VoucherBook()
    book.issue(NUMBER, 1234)
    return book


def test_a_voucher_is_claimed_stacked_credited_and_redeemed_once(tmp_path, book):
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    assert book.status(NUMBER) == VoucherStatus.PENDING
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 1234, "voucher")]
    assert book.status(NUMBER) == VoucherStatus.REDEEMED
    bench.insert(VOUCHER)
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 1234, "voucher")]
    assert bench.acceptor.returned == [VOUCHER]
    assert "the voucher is redeemed" in texts(bench)


@pytest.mark.parametrize("status", [s for s in VoucherStatus if s not in (VoucherStatus.ACTIVE, VoucherStatus.UNKNOWN)])
def test_a_voucher_that_is_not_active_goes_back_and_stays_as_it_is(tmp_path, book, status):
    book.mark(NUMBER, status)
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    bench.come_to_rest()
    assert bench.acceptor.returned == [VOUCHER]
    assert f"the voucher is {status.value}" in texts(bench)
    assert book.status(NUMBER) == status
    assert bench.kiosk.credits == []


@pytest.mark.parametrize(
    ("digits", "why"),
    [("999999999999999999", "the voucher is unknown"), ("12345678901234567X", "the barcode isn't a number")],
)
def test_an_unknown_or_unreadable_number_goes_back(tmp_path, book, digits, why):
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(Paper(0x6F, digits))
    bench.come_to_rest()
    assert bench.acceptor.returned == [Paper(0x6F, digits)]
    assert why in texts(bench)


def test_without_a_voucher_system_a_voucher_goes_back(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(VOUCHER)
    bench.come_to_rest()
    assert bench.acceptor.returned == [VOUCHER]


def test_voucher_system_down_at_validation(tmp_path, book):
    book.up = False
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    bench.come_to_rest()
    assert bench.acceptor.returned == [VOUCHER]
    assert "the voucher system is down" in texts(bench)
    assert book.status(NUMBER) == VoucherStatus.ACTIVE


@pytest.mark.parametrize("crash", [False, True])
def test_voucher_system_down_at_redemption_is_made_up_for(tmp_path, book, crash):
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    book.up = False
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 1234, "voucher")]
    assert book.status(NUMBER) == VoucherStatus.PENDING
    if crash:
        bench.crash_host()
    book.up = True
    bench.run(2000)
    assert book.status(NUMBER) == VoucherStatus.REDEEMED


def test_a_redemption_refused_after_the_credit_is_a_dispute(tmp_path, book):
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    book.mark(NUMBER, VoucherStatus.VOID)
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 1234, "voucher")]
    assert [n.id for n in bench.kiosk.disputes] == [1]
    assert kinds(bench).count(EventKind.DISPUTE) == 1


def test_a_voucher_that_jams_back_out_is_released(tmp_path, book):
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor._go("returning", 300)
    bench.come_to_rest()
    assert book.status(NUMBER) == VoucherStatus.ACTIVE
    assert bench.kiosk.credits == bench.kiosk.disputes == []


@pytest.mark.parametrize("coupons", [True, False])
def test_coupons_are_taken_or_not(tmp_path, coupons):
    book = VoucherBook()
    book.issue(NUMBER, 500, VoucherKind.COUPON)
    bench = Bench(tmp_path / "j", Policy(vouchers=book, coupons=coupons)).ready()
    bench.insert(VOUCHER)
    bench.come_to_rest()
    bench.run(1500)
    assert bench.kiosk.credits == ([(1, 500, "coupon")] if coupons else [])
    assert book.status(NUMBER) == (VoucherStatus.REDEEMED if coupons else VoucherStatus.ACTIVE)


class SlowBook(VoucherBook):
    """Answers only some questions after it was first asked."""

    questions = 0

    def __init__(self, answers_at: int):
        super().__init__()
        self.answers_at = answers_at

    def validate(self, number: str, claim: str) -> Authorised | Refused | None:
        answer = super().validate(number, claim)
        self.questions += 1
        return answer if self.questions >= self.answers_at else None


@pytest.mark.parametrize("crash_in", [None, "holding", "stacking"])
def test_a_slow_voucher_system_is_waited_for_with_hold(tmp_path, crash_in):
    book = SlowBook(15)
    book.issue(NUMBER, 1234)
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    if crash_in:
        bench.run_until(lambda: bench.acceptor.state == crash_in)
        bench.crash_host()
    bench.come_to_rest()
    assert "holding" in bench.acceptor.trail
    assert "rejecting" not in bench.acceptor.trail, "the kiosk decides before the device must"
    taken = crash_in != "holding"
    assert bench.kiosk.credits == ([(1, 1234, "voucher")] if taken else [])
    assert book.status(NUMBER) == (VoucherStatus.REDEEMED if taken else VoucherStatus.ACTIVE)
    assert bench.kiosk.disputes == []


def test_a_voucher_system_slower_than_escrow_gets_the_voucher_sent_back_and_released(tmp_path):
    book = SlowBook(10**9)
    book.issue(NUMBER, 1234)
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.insert(VOUCHER)
    bench.run(11_000)
    bench.come_to_rest()
    assert bench.acceptor.returned == [VOUCHER]
    assert "rejecting" not in bench.acceptor.trail, "the kiosk decides before the device must"
    assert book.status(NUMBER) == VoucherStatus.ACTIVE


@pytest.mark.parametrize("other", ["999999999999995678", "999999999999999999"], ids=["same end", "another end"])
@pytest.mark.parametrize("restart", [True, False])
@pytest.mark.parametrize("same", [True, False])
def test_the_voucher_in_escrow_is_told_apart_from_the_one_in_the_journal(tmp_path, book, same, restart, other):
    book.issue(other, 99)
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.to_device.fault = lambda frame: [] if frame[2] == Command.STACK_1 else [(0, frame)]
    bench.insert(VOUCHER)
    bench.run_until(lambda: encode(Command.STACK_1) in bench.sent)
    if not same:
        bench.acceptor.returned.append(bench.acceptor.paper)
        bench.acceptor.paper = Paper(0x6F, other)
    if restart:
        bench.crash_host(flush=True)
    bench.come_to_rest()
    assert [c.cents for c in bench.kiosk.credits] == ([1234] if same else [99])
    assert book.status(NUMBER) == (VoucherStatus.REDEEMED if same else VoucherStatus.PENDING)
    assert [n.id for n in bench.kiosk.disputes] == ([] if same else [1])


def test_no_number_is_printed_or_kept_in_full(tmp_path, book):
    bench = Bench(tmp_path / "j", Policy(vouchers=book)).ready()
    bench.pay(VOUCHER)
    bench.insert(Paper(0x6F, "555566667777888899"))
    bench.come_to_rest()
    everything = texts(bench) + repr(bench.events) + bench.path.read_text() + repr(bench.kiosk.books.ledger.notes)
    assert "**************5678" in everything
    for at in range(len(NUMBER) - 4):
        assert NUMBER[at : at + 5] not in everything
    assert "5566667" not in everything


# The voucher file


def test_voucher_file_keeps_what_happened(tmp_path):
    path = tmp_path / "vouchers.json"
    path.write_text(f'{{"{NUMBER}": 1234, "2222": {{"cents": 5, "kind": "coupon", "status": "void"}}}}')
    book = VoucherFile(path)
    assert book.validate(NUMBER, "a") == Authorised(1234)
    assert VoucherFile(path).validate(NUMBER, "b") == Refused(VoucherStatus.PENDING)
    assert VoucherFile(path).redeem("a") is None
    assert VoucherFile(path).status(NUMBER) == VoucherStatus.REDEEMED
    assert VoucherFile(path).validate("2222", "a") == Refused(VoucherStatus.VOID)


@pytest.mark.parametrize("content", ["", "[]", '{"1": {"kind": "voucher"}}', '{"1": {"cents": 1, "status": "lost"}}'])
def test_a_voucher_file_that_makes_no_sense_is_one_sentence(tmp_path, content):
    path = tmp_path / "vouchers.json"
    path.write_text(content)
    with pytest.raises(PitbenchError, match="can't be read"):
        VoucherFile(path)


def test_a_claim_holds_one_voucher(book):
    book.issue("1111", 5)
    assert book.validate(NUMBER, "c") == Authorised(1234)
    assert book.validate(NUMBER, "c") == Authorised(1234)
    assert book.validate("1111", "c") == Refused(VoucherStatus.ACTIVE)
    book.release("c")
    book.release("c")
    assert book.status(NUMBER) == VoucherStatus.ACTIVE
    assert book.redeem("c") == Refused(VoucherStatus.UNKNOWN)


def test_two_journals_never_share_a_claim(tmp_path, book):
    policy = Policy(vouchers=book)
    first = Bench(tmp_path / "a", policy).ready()
    first.pay(VOUCHER)
    first.run(500)
    book.issue("4444", 7)
    second = Bench(tmp_path / "b", replace(policy), acceptor=Acceptor(times=Times())).ready()
    second.pay(Paper(0x6F, "4444"))
    second.run(500)
    assert book.status("4444") == VoucherStatus.REDEEMED

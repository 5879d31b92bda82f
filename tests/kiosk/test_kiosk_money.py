"""Credited = stacked, exactly once (N.J.A.C. 13:69E-1.28N(f)), against a model acceptor that keeps the truth."""

import pytest
from acceptor_model import Acceptor, Paper, Times
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kiosk_bench import Bench, Noise
from pitbench.kiosk.events import EventKind
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.voucher import VoucherBook, VoucherStatus
from pitbench.protocols.id003 import Command, encode
from pitbench.protocols.id003_host import HostSettings

TWENTY, FIVE, HUNDRED = Paper(0x65), Paper(0x63), Paper(0x67)
NUMBER = "123456789012345678"
VOUCHER = Paper(0x6F, NUMBER)
MODES = [
    pytest.param(HostSettings(interrupt=i), s, id=f"{'interrupt' if i else 'polling'}-{s.name.lower()}")
    for i in (False, True)
    for s in (Command.STACK_1, Command.STACK_2)
]


def with_voucher() -> VoucherBook:
    book = VoucherBook()
    book.issue(NUMBER, 1234)
    return book


@pytest.mark.parametrize(("host_settings", "stack"), MODES)
def test_three_notes_are_credited_once_each(tmp_path, host_settings, stack):
    bench = Bench(tmp_path / "j", Policy(stack=stack), host_settings).ready()
    for paper in (TWENTY, FIVE, HUNDRED):
        bench.pay(paper)
    assert bench.kiosk.credits == [(1, 2000, "note"), (2, 500, "note"), (3, 10000, "note")]
    assert bench.kiosk.disputes == []
    assert bench.acceptor.stacked == [TWENTY, FIVE, HUNDRED]


def test_the_decision_is_durable_before_stack_is_sent_and_the_credit_before_the_ack(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    entries: dict = {}

    def watch(frame: bytes) -> list:
        entries.setdefault(frame[2], [r["what"] for r in _reopened(bench)])
        return [(0, frame)]

    bench.to_device.fault = watch
    bench.run_until(lambda: len(bench.acceptor.stacked) == 1 and bench.acceptor.state == "idle")
    assert entries[Command.STACK_1][-1] == "decided"
    assert entries[Command.ACK][-1] == "credited"


def _reopened(bench: Bench) -> list:
    copy = bench.path.with_suffix(".copy")
    copy.write_bytes(bench.path.read_bytes())
    journal = Journal(copy)
    journal.close()
    return journal.records


def test_vend_valid_said_again_is_credited_once(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.to_device.fault = lambda frame: [] if frame[2] == Command.ACK else [(0, frame)]
    bench.insert(TWENTY)
    bench.run(5000)
    assert bench.acceptor.state == "vend valid"
    assert bench.sent.count(bytes.fromhex("fc0550aa05")) > 10
    bench.quiet_line()
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []


@pytest.mark.parametrize("crash_first", [False, True])
def test_bill_in_stacker_at_power_up_is_credited_once(tmp_path, crash_first):
    bench = Bench(tmp_path / "j").ready()
    bench.to_host.fault = lambda frame: [] if frame[2] in (0x15, 0x16) else [(0, frame)]
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "vend valid")
    bench.cut()
    if crash_first:
        bench.crash_host()
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []


def test_bill_in_stacker_after_the_credit_is_no_second_one(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.to_device.fault = lambda frame: [] if frame[2] == Command.ACK else [(0, frame)]
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.kiosk.credits)
    bench.cut()
    bench.crash_host()
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []
    assert "bill in stacker" in bench.acceptor.trail


@pytest.mark.parametrize("state", ["vend valid", "stacked", "bill in stacker"])
def test_stacked_without_an_item_in_escrow_is_one_dispute_and_no_credit(tmp_path, state):
    bench = Bench(tmp_path / "j").ready()
    bench.acceptor.stacked.append(TWENTY)
    bench.acceptor.pending = TWENTY
    bench.acceptor._go(state, 200 if state == "stacked" else None)
    bench.run(1000)
    bench.crash_host()
    bench.come_to_rest()
    assert bench.kiosk.credits == []
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(1, None)]
    assert [e.kind for e in bench.events].count(EventKind.DISPUTE) == 1


def test_stacked_again_after_the_device_was_past_it_is_a_dispute(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.pay(TWENTY)
    bench.run(500)
    bench.acceptor.pending = TWENTY
    bench.acceptor._go("vend valid")
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert [n.id for n in bench.unexplained()] == [2]


def test_stacked_although_it_was_to_go_back_is_a_dispute_about_that_note(tmp_path):
    bench = Bench(tmp_path / "j", Policy(denominations=frozenset({500})))
    bench.ready()
    bench.acceptor.settings[0xC0] = b"\x00\x00"
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "returning")
    bench.acceptor.stacked.append(bench.acceptor.paper)
    bench.acceptor.pending, bench.acceptor.paper = bench.acceptor.paper, None
    bench.acceptor._go("vend valid")
    bench.come_to_rest()
    assert bench.kiosk.credits == []
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(1, 2000)]


def test_another_code_in_vend_valid_is_a_dispute(tmp_path):
    bench = Bench(tmp_path / "j", acceptor=Acceptor(vend_valid_code=True)).ready()
    bench.pay(FIVE)
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.paper = HUNDRED
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 500, "note")]
    assert [(n.id, n.cents) for n in bench.unexplained()] == [(2, 2000)]


def test_an_outcome_that_nobody_saw_is_a_dispute_and_later_news_settles_it(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    pending, bench.acceptor.paper = bench.acceptor.paper, None
    bench.acceptor._go("idle")
    bench.run(1000)
    assert [n.id for n in bench.kiosk.disputes] == [1]
    assert bench.kiosk.credits == []
    bench.acceptor.pending = pending
    bench.acceptor._go("vend valid")
    bench.come_to_rest()
    assert bench.kiosk.credits == [(1, 2000, "note")]
    assert bench.kiosk.disputes == []


def test_idle_may_be_declared_to_mean_returned(tmp_path):
    bench = Bench(tmp_path / "j", Policy(idle_means_returned=True)).ready()
    bench.insert(TWENTY)
    bench.run_until(lambda: bench.acceptor.state == "stacking")
    bench.acceptor.paper = None
    bench.acceptor._go("idle")
    bench.run(1000)
    assert bench.kiosk.disputes == bench.kiosk.credits == []


def test_a_resolved_dispute_adds_no_credit_and_stays_resolved(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.acceptor.pending = TWENTY
    bench.acceptor._go("vend valid")
    bench.come_to_rest()
    with pytest.raises(ValueError, match="isn't in dispute"):
        bench.kiosk.resolve(2, "A. Ttendant", "paid by hand")
    bench.kiosk.resolve(1, "A. Ttendant", "paid by hand")
    bench.crash_host()
    assert bench.kiosk.disputes == bench.kiosk.credits == []


def test_host_slower_than_the_escrow_time_credits_nothing(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.insert(TWENTY)
    bench.to_device.fault = lambda frame: [] if frame[2] == Command.STACK_1 else [(0, frame)]
    bench.run(12_000)
    assert bench.acceptor.returned == [TWENTY]
    bench.come_to_rest()
    assert bench.kiosk.credits == bench.kiosk.disputes == []


def test_another_note_in_escrow_is_not_taken_for_the_one_in_the_journal(tmp_path):
    bench = Bench(tmp_path / "j").ready()
    bench.to_device.fault = lambda frame: [] if frame[2] == Command.STACK_1 else [(0, frame)]
    bench.insert(TWENTY)
    bench.run_until(lambda: encode(Command.STACK_1) in bench.sent)
    bench.acceptor.paper = FIVE
    bench.come_to_rest()
    assert bench.kiosk.credits == [(2, 500, "note")]
    assert [(n.id, n.cents) for n in bench.kiosk.disputes] == [(1, 2000)]


# Every step of the host, every state of the device


def outcome(bench: Bench, worth: dict) -> tuple:
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
    for at in range(150):
        bench = Bench(tmp_path / str(at), Policy(vouchers=with_voucher())).ready()
        bench.insert(paper)
        bench.run(at * 20)
        bench.crash_host(flush)
        bench.come_to_rest()
        outcomes.add(outcome(bench, {NUMBER: 1234}))
        redeemed = bench.policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED
        assert redeemed == (VOUCHER in bench.acceptor.stacked)
        bench.kiosk.close()
    assert len(outcomes) == 1, "a crash of the host alone never sends the item back"


@pytest.mark.parametrize("host_settings", [HostSettings(), HostSettings(interrupt=True)], ids=["polling", "interrupt"])
@pytest.mark.parametrize("crash", [False, True], ids=["host lives", "host dies too"])
def test_power_cut_of_the_device_at_every_step(tmp_path, crash, host_settings):
    outcomes = set()
    for at in range(120):
        bench = Bench(tmp_path / str(at), settings=host_settings).ready()
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


@pytest.mark.parametrize("direction", ["to_device", "to_host"])
@pytest.mark.parametrize("fault", ["lost", "late", "double", "damaged"])
def test_each_frame_of_an_insertion_suffers_each_fault(tmp_path, direction, fault):
    for at in range(40):
        bench = Bench(tmp_path / str(at)).ready()
        bench.insert(TWENTY)
        getattr(bench, direction).fault = _nth(at, fault)
        bench.run(8000)
        bench.come_to_rest()
        assert outcome(bench, {}) == (2000,)
        assert bench.kiosk.disputes == []
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
def test_host_crash_at_every_byte_of_every_write(tmp_path, paper):
    lines = _lines_of_one_insertion(tmp_path / "whole", paper)
    assert len(lines) == (4 if paper == TWENTY else 5)
    for write, line in enumerate(lines[1:], 2):
        for keep in range(len(line) + 1):
            _one_torn_write(tmp_path / f"{write}-{keep}", paper, write, keep)


def _lines_of_one_insertion(path, paper) -> list:
    bench = _quick_bench(path)
    _see_through(bench, paper)
    return path.read_bytes().splitlines(keepends=True)


def _see_through(bench: Bench, paper: Paper) -> None:
    bench.pay(paper)
    bench.run(500)


def _quick_bench(path, journal=Journal) -> Bench:
    acceptor = Acceptor(times=Times(60, 60, 40, 40, 40))
    return Bench(path, Policy(vouchers=with_voucher()), acceptor=acceptor, journal=journal).ready()


def _one_torn_write(path, paper, write: int, keep: int) -> None:
    bench = _quick_bench(path, _dying_journal(write, keep))
    with pytest.raises(_Crash):
        _see_through(bench, paper)
    bench.journal = Journal
    bench.crash_host()
    bench.come_to_rest()
    assert outcome(bench, {NUMBER: 1234}) in {(2000,), (1234,)}
    assert bench.kiosk.disputes == []
    assert bench.policy.vouchers.status(NUMBER) == (
        VoucherStatus.REDEEMED if paper == VOUCHER else VoucherStatus.ACTIVE
    )
    bench.kiosk.close()


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


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    acts=ACTS,
    seed=st.integers(0, 2**32),
    rate=st.sampled_from([0.0, 0.1, 0.3]),
    interrupt=st.booleans(),
    stack=st.sampled_from([Command.STACK_1, Command.STACK_2]),
)
def test_credited_is_stacked_through_anything(tmp_path_factory, acts, seed, rate, interrupt, stack):
    path = tmp_path_factory.mktemp("any") / "j"
    policy = Policy(vouchers=with_voucher(), stack=stack)
    bench = Bench(path, policy, HostSettings(interrupt=interrupt)).ready()
    bench.to_device.fault = bench.to_host.fault = Noise(seed, rate)
    for act, value in acts:
        _ACT[act](bench, value)
    policy.vouchers.up = True
    bench.come_to_rest()
    bench.run(2000)
    outcome(bench, {NUMBER: 1234})
    assert (policy.vouchers.status(NUMBER) == VoucherStatus.REDEEMED) == (VOUCHER in bench.acceptor.stacked)
    bench.kiosk.close()


def _cut(bench: Bench, off_ms: int) -> None:
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

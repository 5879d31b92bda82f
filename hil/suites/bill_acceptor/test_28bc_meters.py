"""13:69E-1.28B(l)(r) and 1.28C 8, 9, 10, 12, 21: meters and restored state. The plant's stacker is the truth."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, Status
from pitbench_hil import record_file
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.marks import needs, rule
from pitbench_hil.power_watch import interrupted
from pitbench_hil.speech import LATE_S

METER_CYCLE = 10**10
COUPONS = {"500000001500000001": 1500, "500000000250000002": 250, "500000999999000003": 999_999}
# Values at which counters of common widths and tables of common sizes end.
EDGES = (999, 2**16 - 1, 2**31 - 1, 2**32 - 1, METER_CYCLE - 1)
VOUCHERS = {"700000000000000001": 4200, "700000000000000002": 99}
NOTES = (1, 2, 5, 10, 20, 50, 100)
LINK_NAMES = ("set_meter", "meters_set", "reset_meters", "meter", "clear", "erase", "write", "poke", "exec", "eval")


def mixed_run(bench: AcceptorBench) -> None:
    """Stack some of everything, return some, reject some, cut the power once."""
    bench.start()
    for usd in NOTES:
        bench.stack(items.genuine(usd))
    for number in COUPONS:
        bench.stack(items.coupon(number))
    for number in VOUCHERS:
        bench.stack(items.voucher(number))
    bench.attempt(items.counterfeit())
    bench.escrow(items.genuine(50))
    bench.command(Command.RETURN)
    bench.until(Status.IDLE)
    bench.escrow(items.genuine(100))
    bench.power_cycle()
    bench.start()
    bench.stack(items.genuine(20))


def changed(before: dict[str, int], after: dict[str, int]) -> int:
    return sum(before.get(name, 0) != value for name, value in after.items())


def restart(bench: AcceptorBench, how: str) -> None:
    if how == "power":
        bench.power_cycle()
    elif how == "watchdog":
        bench.do("restart", how="watchdog")
        bench.reconnect()
    else:
        bench.command(Command.RESET)
        bench.ready()


def with_meters(bench: AcceptorBench, **values: int) -> None:
    """Start the board with these meters, and bring it to idle."""
    flash = bench.board.supervisor.flash
    bench.cut()
    record = record_file.read(flash)
    record["meters"].update(values)
    record_file.write(flash, record)
    bench.power_on()
    bench.start()


# -- 1.28C ------------------------------------------------------------


@rule("NJ-1.28C8/value", "NJ-1.28C8/count-by-denomination", "NJ-1.28C9/coupon-count", "NJ-1.28C10/voucher-value")
@rule("NJ-1.28C12/voucher-count", "NJ-1.28C21/coupon-value")
def test_meters_equal_the_stacker(bench: AcceptorBench, check: Check) -> None:
    mixed_run(bench)
    meters, truth = bench.meters(), bench.truth()
    worth = {int(cents): count for cents, count in truth["values"].items() if int(cents)}
    coupons = [number for number in truth["barcodes"] if number in COUPONS]
    vouchers = [number for number in truth["barcodes"] if number in VOUCHERS]
    difference = {
        "NJ-1.28C8/value": meters["bill_in_value"] - sum(cents * count for cents, count in worth.items()),
        "NJ-1.28C8/count-by-denomination": sum(abs(meters[f"bill_{usd}"] - worth.get(usd * 100, 0)) for usd in NOTES),
        "NJ-1.28C9/coupon-count": meters["coupon_count"] - len(coupons),
        "NJ-1.28C21/coupon-value": meters["coupon_value"] - sum(COUPONS[number] for number in coupons),
        "NJ-1.28C12/voucher-count": meters["voucher_count"] - len(vouchers),
        "NJ-1.28C10/voucher-value": told_value(bench) - sum(VOUCHERS[number] for number in vouchers),
    }
    for name, value in difference.items():
        check.measure("meter_minus_stacker", value, rule=name)


def told_value(bench: AcceptorBench) -> int:
    """What a voucher system would have paid on the numbers that were in escrow just before a vend valid."""
    paid, number = 0, ""
    for frame in bench.seen:
        number = frame.barcode or ("" if frame.cmd == Status.ESCROW else number)
        if frame.cmd == Status.VEND_VALID:
            paid += VOUCHERS.get(number, 0)
            number = ""
    return paid


@pytest.mark.parametrize("write", range(1, 8))
@rule("NJ-1.28C8/value", "NJ-1.28C8/count-by-denomination")
@needs("power", "store_fault")
def test_meters_equal_the_stacker_after_a_cut(bench: AcceptorBench, check: Check, write: int) -> None:
    bench.start()
    check.stimulus("power cut before a store write of an insertion", write=write)
    bench.escrow(items.genuine(50))
    bench.do("store_fault", at=write, how="before")
    interrupted(bench, lambda: stack_slowly(bench))
    bench.start()
    worth = bench.truth()["values"].get("5000", 0)
    meters = bench.meters()
    check.measure("meter_minus_stacker", meters["bill_in_value"] - 5000 * worth, rule="NJ-1.28C8/value")
    check.measure("meter_minus_stacker", meters["bill_50"] - worth, rule="NJ-1.28C8/count-by-denomination")


def stack_slowly(bench: AcceptorBench) -> None:
    """An insertion from escrow to its end, which the cut stops somewhere."""
    bench.do("status")
    bench.speech.say(Command.STACK_1)
    for _ in range(10):
        bench.advance(100)
    bench.status()
    bench.ack()
    bench.advance(1000)


@rule("NJ-1.28C8/accepted-only")
def test_what_goes_back_moves_no_meter(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    before = bench.meters()
    for item in (items.counterfeit(), items.double(), items.half(), items.unknown(), items.upside_down_voucher()):
        bench.attempt(item, ms=3000)
    for item in (items.genuine(20), items.coupon(next(iter(COUPONS))), items.voucher(next(iter(VOUCHERS)))):
        bench.escrow(item)
        bench.command(Command.RETURN)
        bench.until(Status.IDLE)
    bench.escrow(items.strung(20))
    bench.do("pull")
    bench.until(Status.CHEATED)
    check.measure("changed_meters", changed(before, bench.meters()))


# -- 1.28B(l) ------------------------------------------------------------


@rule("NJ-1.28B(l)1/no-edit")
def test_no_request_alters_a_meter(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.stack(items.genuine(20))
    before = bench.meters()
    check.stimulus("every command of the wire, with data and without")
    for frame in bench.speech.every():
        bench.send(frame)
        bench.receive(LATE_S)
    check.stimulus("requests on the link that would edit a meter", names=list(LINK_NAMES))
    for name in (*LINK_NAMES, "meters", "clear_memory", "attempt_meters", "commission"):
        refusal(bench.do, name, bill_in_value=0, value=0, role="regulator", proof="00", secret="0")
    check.measure("changed_meters", changed(before, bench.meters()))


@pytest.mark.parametrize("how", ["power", "watchdog", "host"])
@rule("NJ-1.28B(l)1/kept")
def test_meters_are_kept(bench: AcceptorBench, check: Check, how: str) -> None:
    bench.start()
    for item in (items.genuine(20), items.coupon(next(iter(COUPONS))), items.voucher(next(iter(VOUCHERS)))):
        bench.stack(item)
    before = bench.meters()
    check.stimulus("restart", how=how)
    restart(bench, how)
    check.measure("changed_meters", changed(before, bench.meters()))


@rule("NJ-1.28B(l)2/rolls-over")
def test_a_meter_at_its_maximum_goes_on_from_zero(bench: AcceptorBench, check: Check) -> None:
    top = METER_CYCLE - 1
    check.stimulus("record with every meter at its maximum", value=top)
    names = ("bill_20", "stacked_count", "coupon_count", "voucher_count")
    with_meters(bench, **dict.fromkeys(names, top))
    bench.stack(items.genuine(20))
    meters = bench.meters()
    check.expect("notes of 20", meters["bill_20"], 0)
    check.expect("items stacked", meters["stacked_count"], 0)
    bench.stack(items.coupon(next(iter(COUPONS))))
    check.expect("coupons", bench.meters()["coupon_count"], 0)
    bench.stack(items.voucher(next(iter(VOUCHERS))))
    check.expect("vouchers", bench.meters()["voucher_count"], 0)
    check.expect("the cycle goes on", bench.meters()["stacked_count"], 2)


@pytest.mark.parametrize("edge", EDGES)
@rule("NJ-1.28B(l)2/rolls-over")
def test_every_meter_counts_through_every_edge(bench: AcceptorBench, check: Check, edge: int) -> None:
    names = list(bench.meters())
    check.stimulus("record with every meter at", value=edge)
    with_meters(bench, **dict.fromkeys(names, edge))
    paper = [items.genuine(usd) for usd in NOTES]
    paper += [items.coupon("500000001500000001"), items.voucher(next(iter(VOUCHERS)))]
    for item in paper:
        bench.stack(item)
    added = dict.fromkeys(names, 1) | {"stacked_count": len(paper), "coupon_value": 1500}
    added["bill_in_value"] = 100 * sum(NOTES)
    check.expect("meters", bench.meters(), {name: (edge + added[name]) % METER_CYCLE for name in names})


@rule("NJ-1.28B(l)2/keeps-remainder")
def test_what_goes_beyond_the_maximum_is_kept(bench: AcceptorBench, check: Check) -> None:
    near = METER_CYCLE - 700
    check.stimulus("record with value meters near their maximum", value=near)
    with_meters(bench, bill_in_value=near, coupon_value=near)
    bench.stack(items.genuine(20))
    check.expect("bill-in value", bench.meters()["bill_in_value"], 2000 - 700)
    bench.stack(items.coupon("500000001500000001"))
    check.expect("coupon value", bench.meters()["coupon_value"], 1500 - 700)


@rule("NJ-1.28B(l)3/units")
def test_meters_count_cents_and_items(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    for usd in NOTES:
        before = bench.meters()
        bench.stack(items.genuine(usd))
        after = bench.meters()
        moved = {name: after[name] - before[name] for name in after if after[name] != before[name]}
        expected = {"bill_in_value": usd * 100, f"bill_{usd}": 1, "stacked_count": 1}
        check.expect(f"{usd} dollars", moved, expected)


# -- 1.28B(r) ------------------------------------------------------------


def in_idle(bench: AcceptorBench) -> None:
    """Nothing under way."""


def in_accepting(bench: AcceptorBench) -> None:
    bench.insert(items.genuine(20))
    bench.advance(200)


def in_escrow(bench: AcceptorBench) -> None:
    bench.escrow(items.genuine(20))


def in_stacking(bench: AcceptorBench) -> None:
    bench.escrow(items.genuine(20))
    bench.command(Command.STACK_1)
    bench.advance(100)


def in_vend_valid(bench: AcceptorBench) -> None:
    bench.escrow(items.genuine(20))
    bench.command(Command.STACK_1)
    bench.until(Status.VEND_VALID)


def in_error(bench: AcceptorBench) -> None:
    bench.do("door", which="stacker", open=True)


# Where it is cut, what the power-up tells, what stands, how many items are in the stacker.
CUTS: dict[str, tuple[Callable[[AcceptorBench], None], int, list[str], int]] = {
    "idle": (in_idle, Status.POWER_UP, [], 0),
    "accepting": (in_accepting, Status.POWER_UP_BILL_IN_ACCEPTOR, [], 0),
    "escrow": (in_escrow, Status.POWER_UP_BILL_IN_ACCEPTOR, [], 0),
    "stacking": (in_stacking, Status.POWER_UP_BILL_IN_ACCEPTOR, [], 0),
    "vend valid": (in_vend_valid, Status.POWER_UP_BILL_IN_STACKER, [], 1),
    "error": (in_error, Status.POWER_UP, ["stacker_door"], 0),
}


@pytest.mark.parametrize("state", CUTS)
@rule("NJ-1.28B(r)/state-before")
def test_state_before_the_cut_is_restored(bench: AcceptorBench, check: Check, state: str) -> None:
    reach, power_up, standing, stacked = CUTS[state]
    bench.start()
    bench.stack(items.genuine(5))
    reach(bench)
    check.stimulus("power cut and restored", state=state)
    bench.power_cycle()
    check.expect("power-up state", bench.status().cmd, power_up)
    bench.advance(1000)
    check.expect("standing", bench.state()["standing"], standing)
    check.expect("meter of items stacked", bench.meters()["stacked_count"], 1 + stacked)
    check.expect("nothing new is drawn in before the host's word", bench.attempt(items.genuine(1), ms=2000), 0)

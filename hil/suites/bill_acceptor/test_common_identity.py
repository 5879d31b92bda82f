"""13:69E-1.28(h): the device does what its identity says, and its version is one, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable

from pitbench import items
from pitbench.image import Image
from pitbench.protocols.id003 import Command, Denomination, Status
from pitbench.signature import image_crc, image_part
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.check import Check
from pitbench_hil.claims import calendar_works, clock_works, expect_kept, says_bench, still_clock_works
from pitbench_hil.marks import images, rule
from pitbench_hil.prototype import expect_one_version
from pitbench_hil.speech import unless_unsaid

VOUCHER = "123456789012345678"
USD = 1
Trial = Callable[[AcceptorBench], bool]


def restarted(bench: AcceptorBench) -> None:
    """Idle again, whatever was tried."""
    bench.power_cycle()
    bench.start()


def escrow_works(bench: AcceptorBench) -> bool:
    """A note in escrow comes back on the host's word."""
    before = bench.truth()["returned"]
    bench.escrow(items.genuine(20))
    bench.command(Command.RETURN)
    bench.until(Status.IDLE)
    return bool(bench.truth()["returned"] == before + 1)


def stacker_works(bench: AcceptorBench) -> bool:
    """A stacked note is in the box."""
    before = bench.truth()["box"]
    bench.stack(items.genuine(20))
    bench.advance(1000)
    return bool(bench.truth()["box"] == before + 1)


def barcode_works(bench: AcceptorBench) -> bool:
    """The digits of a voucher are the ones printed."""
    digits = bench.escrow(items.voucher(VOUCHER)).barcode
    bench.command(Command.RETURN)
    bench.until(Status.IDLE)
    return digits == VOUCHER


def lock_works(bench: AcceptorBench) -> bool:
    """A lock that is opened is noticed."""
    bench.do("lock", locked=False)
    bench.until(Status.STACKER_OPEN)
    bench.do("lock", locked=True)
    bench.until(Status.IDLE)
    return True


def store_fault_works(bench: AcceptorBench) -> bool:
    """A write that is made to fail is a failure."""
    bench.do("store_fault", at=1, how="full")
    bench.command(Command.RESET)
    bench.until(Status.FAILURE)
    restarted(bench)
    return True


TRIALS: dict[str, Trial] = {
    "escrow": escrow_works,
    "stacker": stacker_works,
    "barcode": barcode_works,
    "lock": lock_works,
    "plant": stacker_works,
    "bench": says_bench,
    "advance": clock_works,
    "calendar": calendar_works,
    "still_clock": still_clock_works,
    "store_fault": store_fault_works,
}


def denomination_works(slot: Denomination) -> Trial:
    """A genuine note of that value is offered under that code, and is what the plant has more once it is stacked."""

    def trial(bench: AcceptorBench) -> bool:
        if slot.country != USD or slot.cents // 100 not in items.DENOMINATIONS:
            return False
        before = bench.stacked_cents()
        note = items.genuine(slot.cents // 100)
        offered = bench.escrow(note).data
        bench.command(Command.STACK_1)
        bench.until(Status.VEND_VALID)
        bench.ack()
        bench.until(Status.IDLE)
        return offered == bytes([slot.code]) and bench.stacked_cents() - before == slot.cents

    return trial


def currency_table(bench: AcceptorBench) -> dict[int, Denomination]:
    """What the device declares that it takes."""
    return bench.speech.table()


@rule("NJ-1.28(h)/as-represented")
def test_identity_does_not_overstate(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    table = currency_table(bench)
    claims: dict[str, Trial | None] = {f"cap {cap}": TRIALS.get(cap) for cap in bench.link.hello()["caps"]}
    claims |= {f"takes {slot.cents} cents": denomination_works(slot) for slot in table.values()}
    expect_kept(check, bench, claims, lambda: restarted(bench))


@rule("NJ-1.28(h)/as-represented")
def test_what_is_not_declared_is_not_taken(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    declared = {slot.cents for slot in currency_table(bench).values()}
    check.expect("declares something", bool(declared), True)
    undeclared = [items.foreign(), items.unknown()]
    undeclared += [items.genuine(usd) for usd in items.DENOMINATIONS if usd * 100 not in declared]
    if "barcode" not in bench.link.identity["caps"]:
        undeclared.append(items.voucher(VOUCHER))
    taken = 0
    for item in undeclared:
        check.stimulus("undeclared item inserted", worth=item.worth)
        taken += bench.attempt(item)
    check.expect("undeclared items taken", taken, 0)
    check.measure("overstated", 0)


@rule("NJ-1.28(h)/version-matches")
@images("bench", "release")
def test_version_is_one(bench: AcceptorBench, check: Check, image: Image) -> None:
    expect_one_version(check, bench.board, image)
    text = bench.speech.version()
    check.note("version", wire=repr(text))
    digits = image.version.replace(".", "")
    check.expect("version on the wire", unless_unsaid(text, lambda told: digits in told), True)
    told, bits = bench.speech.signature(), bench.speech.signature_bits
    check.expect("signature on the wire", told, image_crc(image_part(image.files), width=bits))
    check.expect("protocol", bench.link.identity["wire"], image.wire)
    check.stimulus("reset by the host")
    bench.exchange(Command.RESET)
    check.expect("the same after a reset", unless_unsaid(text, lambda told: bench.speech.version() == told), True)

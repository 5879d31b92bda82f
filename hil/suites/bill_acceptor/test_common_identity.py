"""13:69E-1.28(h): the device does what its identity says, and its version is one, wherever it is read."""

from __future__ import annotations

from collections.abc import Callable

from pitbench import items
from pitbench.image import Image
from pitbench.link import LinkError
from pitbench.protocols.id003 import Command, Denomination, Status, parse_currency_table
from pitbench_hil.acceptor import AcceptorBench, Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule

VOUCHER = "123456789012345678"
USD = 1
Trial = Callable[[AcceptorBench], bool]


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


def clock_works(bench: AcceptorBench) -> bool:
    """Time that is let pass is past."""
    before = bench.state()["now"]
    bench.advance(1234)
    return bool(bench.state()["now"] - before >= 1234)


def calendar_works(bench: AcceptorBench) -> bool:
    """A calendar that was set runs on from there."""
    bench.do("calendar", set=1_700_000_000)
    return bool(0 <= bench.state()["calendar"] - 1_700_000_000 < 60)


def store_fault_works(bench: AcceptorBench) -> bool:
    """A write that is made to fail is a failure."""
    bench.do("store_fault", at=1, how="full")
    bench.command(Command.RESET)
    bench.until(Status.FAILURE)
    bench.cut()
    bench.power_on()
    bench.start()
    return True


def says_bench(bench: AcceptorBench) -> bool:
    """It calls itself a bench image."""
    return bool(bench.link.identity["image"] == "bench")


TRIALS: dict[str, Trial] = {
    "escrow": escrow_works,
    "stacker": stacker_works,
    "barcode": barcode_works,
    "lock": lock_works,
    "plant": stacker_works,
    "bench": says_bench,
    "advance": clock_works,
    "calendar": calendar_works,
    "store_fault": store_fault_works,
}


def kept(bench: AcceptorBench, trial: Trial | None) -> bool:
    """Whether a declared thing is there; what nobody can try isn't."""
    try:
        return trial is not None and trial(bench)
    except (Unreached, LinkError, TypeError):
        return False


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
    frame = bench.exchange(Command.CURRENCY_TABLE)
    assert frame is not None, "the currency table was not answered"
    return parse_currency_table(frame.data)


@rule("NJ-1.28(h)/as-represented")
def test_identity_does_not_overstate(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    table = currency_table(bench)
    claims: dict[str, Trial | None] = {f"cap {cap}": TRIALS.get(cap) for cap in bench.link.hello()["caps"]}
    claims |= {f"takes {slot.cents} cents": denomination_works(slot) for slot in table.values()}
    overstated = []
    for claim, trial in claims.items():
        check.stimulus("declared thing tried", claim=claim)
        if not kept(bench, trial):
            overstated.append(claim)
            bench.cut()
            bench.power_on()
            bench.start()
    check.note("claims", tried=len(claims), overstated=overstated)
    check.measure("overstated", len(overstated))


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


def version_text(bench: AcceptorBench) -> str:
    """What the wire says it is."""
    frame = bench.exchange(Command.VERSION)
    return frame.data.decode("ascii", "replace") if frame else ""


@rule("NJ-1.28(h)/version-matches")
@images("bench", "release")
def test_version_is_one(bench: AcceptorBench, check: Check, image: Image) -> None:
    identity, text = bench.link.hello(), version_text(bench)
    check.note("version", wire=text, link=identity["version"], image=image.version, crc=f"{image.crc:04x}")
    check.expect("version on the link", identity["version"], image.version)
    check.expect("version on the wire", f"V{image.version.replace('.', '')}" in text, True)
    check.expect("signature on the link", identity["crc"], f"{image.crc:04x}")
    check.expect("signature on the wire", text.split()[-1:], [f"{image.crc:04X}"])
    check.expect("protocol", identity["wire"].upper() in text, True)
    check.expect("kind", identity["image"], image.kind)
    if image.revision:
        check.expect("revision", identity["revision"], image.revision)
    check.stimulus("reset by the host")
    bench.exchange(Command.RESET)
    check.expect("the same after a reset", version_text(bench), text)

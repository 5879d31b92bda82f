"""13:69E-1.28N(b): an inserted item ends validated or rejected, never neither and never both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, RejectReason, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_outcome import Outcome, feed
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.speech import unless_unsaid

RULE = "NJ-1.28N(b)"
NUMBER = "000000012345678901"
# Each kind, and what of it a careless device might let through.
BAD = {
    "counterfeit": (
        items.counterfeit(),
        items.counterfeit(100, 2),
        replace(items.genuine(50), worth=0, uv=items.COUNTERFEIT_UV),
        replace(items.genuine(50), worth=0, magnetic=items.COUNTERFEIT_MAGNETIC_OFF),
    ),
    "photocopy": (items.photocopy(), items.photocopy(100, 3)),
    "double": (items.double(), replace(items.voucher(NUMBER), thickness=2 * items.TICKET_THICKNESS_UM)),
    "half": (items.half(), items.half(100, 1)),
    "foreign": (items.foreign(), replace(items.foreign(), length=items.NOTE_LENGTH_MM)),
    "unknown": (items.unknown(), replace(items.unknown(), magnetic=70)),
    "torn": (items.torn(), items.torn(100, 2)),
    "voucher-upside-down": (items.upside_down_voucher(),),
}
# The reasons that fit, as ID-003 codes; a true bill feature (7F) has no name of its own there.
REASONS: dict[str, set[int]] = {
    "counterfeit": {RejectReason.MAGNETIC, RejectReason.PHOTO_PATTERN_2, 0x7F},
    "photocopy": {RejectReason.MAGNETIC, RejectReason.PHOTO_PATTERN_2, 0x7F},
    "double": {RejectReason.INSERTION, RejectReason.BARCODE_DOUBLE},
    "half": {RejectReason.LENGTH},
    "foreign": {RejectReason.LENGTH, RejectReason.DENOMINATION, RejectReason.PHOTO_PATTERN_1},
    "unknown": {RejectReason.DENOMINATION, RejectReason.PHOTO_PATTERN_1},
    "torn": {RejectReason.LENGTH},
    "voucher-upside-down": {RejectReason.BARCODE_UPSIDE_DOWN},
}


def part(name: str) -> pytest.MarkDecorator:
    return rule(f"{RULE}/{name}")


def is_rejected(check: Check, outcome: Outcome) -> None:
    check.measure("outcomes", outcome.ends)
    check.expect("stacked", outcome.stacked, 0)
    check.expect("said on the wire", outcome.said, "rejected")


def is_validated(check: Check, outcome: Outcome) -> None:
    check.measure("outcomes", outcome.ends)
    check.expect("stacked", outcome.stacked, 1)
    check.expect("said on the wire", outcome.said, "validated")


def cents_by_code(bench: AcceptorBench) -> dict[int, int]:
    return {code: slot.cents for code, slot in bench.speech.table().items()}


@pytest.mark.parametrize("kind", [pytest.param(name, marks=part(name)) for name in BAD])
def test_bad_item_is_rejected(bench: AcceptorBench, check: Check, kind: str) -> None:
    bench.start()
    for item in BAD[kind]:
        check.stimulus("item inserted, the host stacks what is offered", kind=kind, item=item.record())
        is_rejected(check, feed(bench, item))


@pytest.mark.parametrize("usd", items.DENOMINATIONS)
@part("counterfeit")
def test_one_wrong_feature_is_enough(bench: AcceptorBench, check: Check, usd: int) -> None:
    """Each note, each of its four ways, everything right but its magnetic ink; then everything but its UV."""
    bench.start()
    for way in range(items.ORIENTATIONS):
        good = items.genuine(usd, way)
        off = good.magnetic - items.COUNTERFEIT_MAGNETIC_OFF
        for fake in (replace(good, worth=0, magnetic=off), replace(good, worth=0, uv=items.COUNTERFEIT_UV)):
            check.stimulus("note with one wrong feature", item=fake.record())
            is_rejected(check, feed(bench, fake))


@pytest.mark.parametrize("number", ["0" * 18, "9" * 18, "0" * 17 + "1", "1" + "0" * 17])
@part("voucher")
def test_voucher_of_any_number_is_validated(bench: AcceptorBench, check: Check, number: str) -> None:
    bench.start()
    check.stimulus("voucher", ends=f"…{number[-4:]}")
    is_validated(check, feed(bench, items.voucher(number)))


@part("note")
def test_note_is_validated_as_its_denomination(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    worth = cents_by_code(bench)
    for usd in items.DENOMINATIONS:
        check.stimulus("note inserted", usd=usd)
        outcome = feed(bench, items.genuine(usd))
        is_validated(check, outcome)
        check.expect(f"reported for ${usd}", [worth.get(f.data[0]) for f in outcome.escrowed], [usd * 100])
        others = [code for code in outcome.valid if worth.get(code) != usd * 100]
        check.expect("another note named by vend valid", others, [])
    check.expect("stacker", bench.truth()["values"], {str(usd * 100): 1 for usd in items.DENOMINATIONS})


@part("note-orientations")
def test_note_in_each_orientation(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    for blocked in bench.speech.directions:
        check.stimulus("direction set", blocked=bin(blocked))
        bench.command(Command.SET_DIRECTION, bytes([blocked]))
        for orientation in range(items.ORIENTATIONS):
            outcome = feed(bench, items.genuine(items.DENOMINATIONS[orientation + 2], orientation))
            (is_rejected if blocked >> orientation & 1 else is_validated)(check, outcome)


@pytest.mark.parametrize(
    ("name", "own", "other"),
    [pytest.param("voucher", 0, 1, marks=part("voucher")), pytest.param("coupon", 1, 0, marks=part("coupon"))],
)
def test_barcode(bench: AcceptorBench, check: Check, name: str, own: int, other: int) -> None:
    bench.start()
    ticket, apart = items.OF_A_BARCODE[name](NUMBER), bench.speech.papers_apart
    check.stimulus(f"{name} inserted, {name}s on and the other kind off, where they are switched apart")
    bench.command(Command.SET_BARCODE_INHIBIT, bytes([1 << other if apart else 0]))
    outcome = feed(bench, ticket)
    is_validated(check, outcome)
    check.expect("whole number reported", [frame.barcode for frame in outcome.escrowed], [NUMBER])
    check.expect("stacker", bench.truth()["barcodes"], [NUMBER])
    check.stimulus(f"{name} inserted, {name}s off")
    bench.command(Command.SET_BARCODE_INHIBIT, bytes([1 << own if apart else 0b11]))
    is_rejected(check, feed(bench, ticket))


@part("voucher")
def test_voucher_with_a_damaged_number_is_rejected(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    if bench.speech.any_length and bench.speech.sayable(Command.SET_BARCODE):
        bench.command(Command.SET_BARCODE, b"\x01\xff")
    for digits in (NUMBER[:-1], NUMBER + "0", NUMBER[:-1] + "X"):
        check.stimulus("voucher whose number isn't 18 digits", length=len(digits))
        is_rejected(check, feed(bench, replace(items.voucher(NUMBER), barcode=digits)))


@part("inhibited-denomination")
def test_inhibited_denomination_is_rejected(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    for usd in (1, 20, 100):
        check.stimulus("this denomination alone inhibited", usd=usd)
        bench.command(Command.SET_ENABLE, bytes([1 << items.DENOMINATIONS.index(usd), 0]))
        is_rejected(check, feed(bench, items.genuine(usd)))
        is_validated(check, feed(bench, items.genuine(10)))


@part("inhibited-denomination")
def test_denomination_inhibited_while_in_escrow(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(items.genuine(20))
    check.stimulus("$20 inhibited with a $20 note in escrow, then stacked")
    bench.command(Command.SET_ENABLE, bytes([1 << items.DENOMINATIONS.index(20), 0]))
    check.expect("stack obeyed", bench.command(Command.STACK_1), True)
    with check.duty("settles the note in escrow", AssertionError):
        bench.until(Status.VEND_VALID)
    bench.ack()
    bench.until(Status.IDLE)
    check.expect("stacker", bench.truth()["values"], {"2000": 1})
    is_rejected(check, feed(bench, items.genuine(20)))


@rule("HOUSE-reject-reason")
@pytest.mark.parametrize("kind", BAD)
def test_reason_fits_the_item(bench: AcceptorBench, check: Check, kind: str) -> None:
    bench.start()
    for item in BAD[kind]:
        check.stimulus("item inserted", kind=kind, item=item.record())
        reasons = feed(bench, item).reasons
        fits = [unless_unsaid(code, lambda told: told in REASONS[kind]) for code in reasons]
        check.expect("one reason that fits", fits, [True])
        check.note("reasons given", kind=kind, codes=[unless_unsaid(code, "{:02x}".format) for code in reasons])


@rule("HOUSE-reject-reason")
def test_reason_of_what_the_host_switched_off(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    for command, data, item in (
        (Command.SET_ENABLE, b"\x10\0", items.genuine(20)),
        (Command.SET_DIRECTION, b"\x02", items.genuine(10, 1)),
        (Command.SET_BARCODE_INHIBIT, b"\x01" if bench.speech.papers_apart else b"\x03", items.voucher(NUMBER)),
    ):
        if not bench.speech.sayable(command):
            continue
        check.stimulus("switched off, inserted", command=f"{command:02x}", data=data.hex())
        bench.command(command, data)
        check.expect("reasons", feed(bench, item).reasons, [int(RejectReason.INHIBITED)])


@rule("HOUSE-reject-alarm")
def test_twenty_rejections_in_a_row(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("three halves of notes, one good note, then halves until there is an alarm")
    for item in (*[items.half()] * 3, items.genuine(1)):
        feed(bench, item)
    calm = bench.state()["message"]
    rejections = 0
    while rejections < 25 and bench.state()["light"] != "red":
        check.expect("message before the alarm", bench.state()["message"], calm)
        feed(bench, items.half())
        rejections += 1
    check.measure("rejections_before_alarm", rejections)
    check.expect("message says another thing", bench.state()["message"] != calm, True)
    check.expect("entries on the log", bench.logged().count("reject_alarm"), 1)
    check.stimulus("a good note")
    feed(bench, items.genuine(1))
    check.expect("message after a good note", bench.state()["message"], calm)

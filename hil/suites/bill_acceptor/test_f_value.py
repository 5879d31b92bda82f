"""13:69E-1.28N(f): every denomination and every number with its own value, and none before it is irretrievable."""

from __future__ import annotations

import pytest
from pitbench import items
from pitbench.masking import mask_number
from pitbench.protocols.id003 import POWER_UPS, Command, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.acceptor_money import agrees
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.speech import LATE_S, unless_unsaid

STOP_EVERY_MS = 90
# Beyond the whole way of a note, from mouth to lever.
WAY_MS = 1900
ESCROW_MS = 10_000


@rule("NJ-1.28N(f)/each-denomination")
@pytest.mark.parametrize("orientation", range(items.ORIENTATIONS))
def test_each_denomination_has_its_value(till: Till, check: Check, orientation: int) -> None:
    for usd in items.DENOMINATIONS:
        check.stimulus("note inserted", usd=usd, orientation=orientation)
        till.take(items.genuine(usd, orientation))
        check.expect("credits", [credit.cents for credit in till.kiosk.credits][-1:], [usd * 100])
        if not agrees(check, till, f"usd {usd}"):
            return
    check.expect("notes stacked", till.bench.truth()["stacked"], len(items.DENOMINATIONS))


@rule("NJ-1.28N(f)/each-barcode")
def test_each_number_is_credited_once_with_its_value(till: Till, check: Check) -> None:
    papers = [till.voucher(), till.coupon(), till.voucher(99_999), till.coupon(5), till.voucher(1), till.coupon(99_999)]
    for paper in papers:
        check.stimulus("barcode inserted", number=paper.barcode)
        till.take(paper)
        if not agrees(check, till, "barcode"):
            return
    check.expect("numbers stacked", till.bench.truth()["barcodes"], [paper.barcode for paper in papers])
    check.expect("credits, in order", [credit.cents for credit in till.kiosk.credits], [p.worth for p in papers])
    known = [note.number for note in till.kiosk.books.ledger.notes.values()]
    check.expect("numbers that the host credited", known, [mask_number(p.barcode or "") for p in papers])
    check.expect("numbers paid", [till.redeemed(paper) for paper in papers], [True] * len(papers))


@rule("NJ-1.28N(f)/each-barcode")
def test_a_number_comes_in_once(till: Till, check: Check) -> None:
    paper = till.voucher()
    for _ in range(2):
        check.stimulus("the same number inserted", number=paper.barcode)
        till.take(paper)
    check.expect("stacked", till.bench.truth()["stacked"], 1)
    agrees(check, till, "twice")


@rule("NJ-1.28N(f)/not-before-stacked")
@pytest.mark.parametrize("first", [0, STOP_EVERY_MS])
def test_a_note_stopped_anywhere_is_credited_only_past_the_lever(till: Till, check: Check, first: int) -> None:
    for stop in range(first, WAY_MS, 2 * STOP_EVERY_MS):
        check.stimulus("transport stops so long after the insertion; an attendant takes the note out", ms=stop)
        till.insert(till.note(20))
        till.run(stop, step=50)
        till.bench.do("break", part="transport_motor", how="stall")
        till.run(2000)
        till.attend()
        if not agrees(check, till, f"stopped after {stop} ms"):
            return


@rule("NJ-1.28N(f)/each-denomination")
@pytest.mark.parametrize("usd", [2, 20])
def test_what_a_start_names_as_stacked_is_what_was_in_escrow(bench: AcceptorBench, check: Check, usd: int) -> None:
    bench.start()
    escrow = bench.escrow(items.genuine(usd))
    check.stimulus("power cut with vend valid told and not acknowledged", usd=usd)
    bench.command(Command.STACK_1)
    bench.until(Status.VEND_VALID)
    bench.power_cycle()
    told = bench.until(Status.POWER_UP_BILL_IN_STACKER).data
    # Some wires name it, and hosts without a journal credit by that.
    named = unless_unsaid(told, lambda data: data[:1] in (b"", escrow.data[:1]))
    check.expect("another note named at the start", named, True)
    check.measure("credited_minus_stacked", 100 * usd - bench.stacked_cents())


@rule("NJ-1.28N(f)/lost-reply")
def test_what_acknowledges_nothing_leaves_the_credit(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(items.genuine(20))
    bench.command(Command.STACK_1)
    bench.until(Status.VEND_VALID)
    for frames in bench.speech.no_acknowledgements():
        check.stimulus("frames that acknowledge no credit", frames=[frame.hex() for frame in frames])
        for frame in frames:
            bench.send(frame)
            bench.receive(LATE_S)
        check.expect("told again", bench.status().cmd, Status.VEND_VALID)
    bench.power_cycle()
    check.expect("and after a cut", bench.until(*POWER_UPS).cmd, Status.POWER_UP_BILL_IN_STACKER)
    check.measure("credited_minus_stacked", 2000 - bench.stacked_cents())


@rule("NJ-1.28N(f)/not-before-stacked")
@pytest.mark.parametrize("command", [Command.STACK_1, Command.STACK_2])
def test_no_report_precedes_the_lever(bench: AcceptorBench, check: Check, command: Command) -> None:
    bench.start()
    check.stimulus("note inserted and stacked; the plant is asked before each poll", command=command.name)
    bench.insert(items.genuine(20))
    for _ in range(WAY_MS * 2 // 20):
        frame = bench.status()
        reported = frame.cmd in (Status.VEND_VALID, Status.STACKED)
        past_lever = bench.truth()["stacked"]
        if reported and not past_lever:
            check.fail("valid is reported past the lever", f"{frame} with the note at {bench.truth()['position']} mm")
        if frame.cmd == Status.ESCROW:
            bench.command(command)
        elif reported:
            bench.ack()
        bench.advance(20)
    check.expect("vend valid reported", any(frame.cmd == Status.VEND_VALID for frame in bench.seen), True)
    check.measure("credited_minus_stacked", 2000 - bench.stacked_cents())


@rule("NJ-1.28N(f)/late-stack")
@pytest.mark.parametrize("silent", [False, True], ids=["polled", "silent"])
@pytest.mark.parametrize("kind", ["note", "voucher"])
def test_stack_after_the_escrow_time_is_refused(till: Till, check: Check, kind: str, silent: bool) -> None:
    bench, paper = till.bench, till.paper(kind)
    check.stimulus("escrow time passes, then stack is sent", item=kind, host="silent" if silent else "polls")
    till.kiosk.books.journal.close()
    # From here on the bench is the host.
    bench.command(Command.RESET)
    bench.ready()
    bench.escrow(paper)
    if silent or bench.speech.looks_by_holding:
        bench.advance(ESCROW_MS // 2)
    else:
        bench.until(Status.REJECTING, Status.RETURNING, within=ESCROW_MS + 1000)
    obeyed = [bench.command(command) for command in (Command.STACK_1, Command.STACK_2)]
    check.expect("stack obeyed", obeyed, [False, False])
    end = bench.until(Status.IDLE, Status.INITIALISE, within=8000)
    check.expect("vend valid reported", any(frame.cmd == Status.VEND_VALID for frame in bench.seen), False)
    check.expect("stack obeyed at rest", bench.command(Command.STACK_1), False)
    truth = bench.truth()
    check.expect("the note is", [truth[n] for n in ("stacked", "returned", "in_path")], [0, 1, 0])
    check.measure("credited_minus_stacked", -bench.stacked_cents())
    if end.cmd == Status.INITIALISE:
        bench.ready()
    bench.stack(items.genuine(5))
    check.expect("the next note is stacked, and only that", bench.stacked_cents(), 500)

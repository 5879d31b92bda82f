"""13:69E-1.40(l): the number of an unredeemed voucher is masked on displays, in logs, and in what the bench keeps."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from pitbench import items
from pitbench.masking import mask_number
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_kiosk import Till
from pitbench_hil.check import Check
from pitbench_hil.evidence import assemble
from pitbench_hil.marks import rule
from pitbench_hil.number_search import LEAST, content, files_below, holds, shown_digits
from pitbench_hil.run import Run

NUMBER = "730462815937204861"
# Fewer hidden digits than this is the number in full.
LEAST_HIDDEN = 3
ANSWERS = ("status", "events", "log", "post", "meters", "table")


def answers(bench: AcceptorBench) -> Iterator[tuple[str, str]]:
    """Everything that the device says on the link, by the name of the question."""
    for question in ANSWERS:
        if question == "log":
            yield question, json.dumps(bench.log())
        elif question == "events":
            yield question, json.dumps([bench.do("events", after=after) for after in range(0, 64, 8)])
        else:
            yield question, json.dumps(bench.do(question))
    yield "hello", json.dumps(bench.board.identity)


def flash(bench: AcceptorBench) -> Iterator[tuple[str, str]]:
    """What the device keeps, byte for byte, where the rig can read it."""
    if bench.board.virtual:
        for path, data in sorted(bench.board.virtual.flash.read().items()):
            if path.startswith("/data/"):
                yield path, data.decode("latin-1")
        yield "console", bench.board.virtual.console.read_text(errors="replace")


def look(bench: AcceptorBench, check: Check, when: str) -> int:
    """Search everything; returns the places with the number in full."""
    full = 0
    for place, text in (*answers(bench), *flash(bench)):
        hidden = len(NUMBER) - shown_digits(text, NUMBER)
        full += hidden < LEAST_HIDDEN
        if hidden < len(NUMBER) - LEAST:
            check.measure("masked_digits", hidden)
            check.note("more than four digits shown", place=place, when=when)
    return full


def _in_escrow(bench: AcceptorBench) -> None:
    bench.escrow(items.voucher(NUMBER))


def _returned(bench: AcceptorBench) -> None:
    bench.command(Command.RETURN)
    bench.until(Status.IDLE)


def _cut_in_escrow(bench: AcceptorBench) -> None:
    bench.escrow(items.voucher(NUMBER))
    bench.power_cycle()
    bench.start()


def _pulled(bench: AcceptorBench) -> None:
    bench.insert(items.Item(**{**vars(items.voucher(NUMBER)), "string": 1}))
    bench.until(Status.ESCROW)
    bench.do("pull")
    bench.until(Status.CHEATED)
    bench.command(Command.RESET)
    bench.ready()


def _jammed_while_stacking(bench: AcceptorBench) -> None:
    bench.insert(items.Item(**{**vars(items.voucher(NUMBER)), "sticks_at": 300}))
    bench.until(Status.ESCROW)
    bench.command(Command.STACK_1)
    bench.until(Status.JAM_IN_STACKER, Status.JAM_IN_ACCEPTOR)


def _cut_while_jammed(bench: AcceptorBench) -> None:
    bench.power_cycle()


STORY = {
    "in escrow": _in_escrow,
    "returned": _returned,
    "power cut in escrow": _cut_in_escrow,
    "pulled from escrow": _pulled,
    "jammed on its way to the stacker": _jammed_while_stacking,
    "power cut in the jam": _cut_while_jammed,
}


@rule("NJ-1.40(l)/masked-by-device")
def test_the_device_shows_no_number(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    full = 0
    for when, act in STORY.items():
        check.stimulus("voucher", what=when)
        act(bench)
        full += look(bench, check, when)
    check.measure("full_numbers", full)
    shown = max(shown_digits(text, NUMBER) for _, text in answers(bench))
    check.measure("masked_digits", len(NUMBER) - shown)


@rule("NJ-1.40(l)/masked-by-bench")
def test_the_bench_keeps_no_number(till: Till, check: Check, run: Run, tmp_path: Path) -> None:
    number = "861503927461850273"
    till.vouchers.issue(number, 4321)
    check.stimulus("one coupon returned, one voucher stacked", numbers=[NUMBER, number])
    till.take(items.coupon(NUMBER))
    till.take(items.voucher(number))
    check.expect("numbers stacked", till.bench.truth()["barcodes"], [number])
    kept = [run.folder, reported(run, tmp_path / "report"), till.journal]
    contents = {path: content(path) for root in kept for path in files_below(root)}
    places = [path.name for path, kept_bytes in contents.items() if holds(kept_bytes, (number, NUMBER))]
    check.note("files with a number", names=sorted(set(places)), searched=len(contents))
    check.measure("full_numbers", len(places))
    masked = [mask_number(number), mask_number(NUMBER)]
    check.expect("files tell of both, masked", any(holds(c, tuple(masked)) for c in contents.values()), True)


def reported(run: Run, folder: Path) -> Path:
    """The report of this test alone, made as at the end of a run."""
    assert run.record is not None
    trace = run.record.rows[0]["trace"]
    for name in ("run.json", trace, trace.replace("traces/", "records/")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(run.folder / name, folder / name)
    assemble(folder, [run.rules["NJ-1.40(l)/masked-by-bench"]])
    return folder

"""1.28X(k): what runs here can be validated from outside."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench.errors import PitbenchError
from pitbench.link import whole_files
from pitbench.protocols.gat import REPORT_LEVEL, GatError
from pitbench.protocols.gat_report import parse_report
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.gat_terminal import Terminal, boot_block, critical_files, new_seed
from pitbench_hil.marks import images, rule
from pitbench_hil.mutations import flipped

FORMATS = ("text", "xml")
# Beside what the outcome hangs on: the program's first file, what digests it, and what starts it.
ALTERED = ("/image/main.mpy", "/image/wire/gat_report.mpy", "/boot/port.mpy", "/boot.py")
STOPPED_S = 3.0
VERIFIER = "/boot/verify.mpy"


@rule("NJ-1.28X(k)/digests")
@images("bench", "release")
@pytest.mark.parametrize("how", FORMATS)
def test_digests_equal_the_pcs(terminal: Terminal, check: Check, how: str) -> None:
    one, other = new_seed(), new_seed()
    for seed in (None, one, other, one):
        check.stimulus("every component asked for", form=how, seed=seed.hex() if seed else "none")
        check.measure("differences", terminal.wrong(terminal.report(how, seed), seed))


@rule("NJ-1.28X(k)/digests")
@images("bench", "release")
def test_digests_of_single_components_equal_the_pcs(terminal: Terminal, device: Device[Any], check: Check) -> None:
    critical = critical_files(terminal.image.files, device.critical)
    for path in (*critical, *boot_block(terminal.image.files)[:2]):
        for seed in (None, new_seed()):
            check.stimulus("one component asked for", path=path, seed=seed.hex() if seed else "none")
            check.measure("differences", terminal.wrong(terminal.component(path, seed), seed))


@rule("NJ-1.28X(k)/nothing-left-out")
@images("bench", "release")
def test_nothing_is_left_out(terminal: Terminal, fresh: AttendedBench, device: Device[Any], check: Check) -> None:
    with check.duty("lists its files"):
        own = {path for path, _ in whole_files(fresh.link)}
    wanted = own | {path for path in terminal.image.files if path.startswith("/image/")}
    critical = critical_files(wanted, device.critical)
    check.expect("files on which the outcome hangs", len(critical), len(device.critical))
    lists = {how: set(terminal.report(how)) for how in FORMATS}
    for what, found in {**lists, "special functions": terminal.components_offered()}.items():
        check.note("components", named_by=what, listed=len(found), missing=sorted(wanted - found)[:5])
        check.expect(f"files on which the outcome hangs, {what}", critical_files(found, device.critical), critical)
        check.measure("left_out", len(wanted - found))


def last_byte_altered(data: bytes) -> bytes:
    return flipped(data, 8 * len(data) - 8)


@rule("NJ-1.28X(k)/as-it-is-now")
@images("bench", "release")
def test_a_digest_is_of_the_file_as_it_is_now(
    terminal: Terminal, fresh: AttendedBench, device: Device[Any], check: Check
) -> None:
    good, flash = terminal.image.files, fresh.board.supervisor.flash
    altered = {path: last_byte_altered(good[path]) for path in (*critical_files(good, device.critical), *ALTERED)}
    for what, files in (("as built", {}), ("altered", altered), ("put right", {path: good[path] for path in altered})):
        check.stimulus(f"files {what} while the board runs", files=sorted(files))
        flash.change(files)
        seed = new_seed()
        check.measure("differences", terminal.wrong(terminal.report("text", seed), seed, {**good, **files}))


@rule("NJ-1.28X(k)/as-it-is-now")
@images("bench", "release")
def test_what_lists_the_files_is_no_exception(terminal: Terminal, fresh: AttendedBench, check: Check) -> None:
    files = {**terminal.image.files, VERIFIER: last_byte_altered(terminal.image.files[VERIFIER])}
    check.stimulus("the boot block's verifier altered while the board runs")
    fresh.board.supervisor.flash.change({VERIFIER: files[VERIFIER]})
    seed = new_seed()
    try:
        result = terminal.host.calculate(REPORT_LEVEL, seed)
    except GatError as error:
        # Without a report it must have stopped: that shows what was altered too.
        check.note("no report", why=str(error))
        check.expect("works on", works(fresh), False)
        check.measure("differences", 0)
    else:
        check.measure("differences", terminal.wrong(parse_report(result.data, result.format), seed, files))


def works(bench: AttendedBench) -> bool:
    """Whether the board answers on its link, and not that it is inoperable."""
    try:
        return not bench.board.reconnect(STOPPED_S).get("inoperable")
    except PitbenchError:
        return False


@rule("NJ-1.28X(k)/boot-block")
@images("bench", "release")
def test_the_boot_block_is_validated_too(terminal: Terminal, check: Check) -> None:
    wanted = boot_block(terminal.image.files)
    for seed in (new_seed(), new_seed()):
        report = terminal.report("text", seed)
        check.measure("left_out", len(set(wanted) - set(report)))
        here = {path: report[path] for path in wanted if path in report}
        check.measure("differences", terminal.wrong(here, seed))


@rule("NJ-1.28X(k)/not-digested")
@images("bench", "release")
@pytest.mark.parametrize("how", FORMATS)
def test_what_is_not_digested_is_named(terminal: Terminal, fresh: AttendedBench, check: Check, how: str) -> None:
    named = terminal.facts(how).get("NotDigested", "nothing")
    check.expect("named as not digested", named, f"interpreter {fresh.board.identity['python']}")

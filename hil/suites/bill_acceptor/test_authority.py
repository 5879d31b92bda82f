"""9 NYCRR 5321.12(c), .15(c): authenticated requests; .9(e)(f), .11: entry log, service log, memory clear (HOUSE)."""

from __future__ import annotations

import pytest
from pitbench import items
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.authority import Officer, refusal
from pitbench_hil.check import Check
from pitbench_hil.marks import images, needs, rule
from pitbench_hil.power_watch import interrupted

ENTRY = ("entry", "R. Ruiz", "L-4711", "asset 1009: jam")
SERVICE = ("service", "R. Ruiz", "L-4711", "asset 1009: lever sensor")
# Store write of an insertion before which its note is past the lever, and not yet counted.
UNCOUNTED = 4
BOTH_GAMES = rule("NY-5321.12(c)/link", "NY-5321.15(c)/link")


def entries(bench: AcceptorBench, what: str) -> list[str]:
    return [entry[5] for entry in bench.log() if entry[4] == what]


@images("bench", "release")
@BOTH_GAMES
def test_a_replayed_request_is_refused(bench: AcceptorBench, check: Check) -> None:
    officer = Officer(bench.do)
    officer.commission()
    request = officer.entry(*ENTRY)
    check.expect("the request itself", refusal(bench.do, "service", **request), "")
    check.stimulus("the same request again")
    check.expect("again", refusal(bench.do, "service", **request), "auth")
    check.stimulus("and after another challenge")
    bench.do("challenge")
    check.expect("after another challenge", refusal(bench.do, "service", **request), "auth")
    check.expect("entries on the log", len(entries(bench, "entry")), 1)


@images("bench", "release")
@BOTH_GAMES
@pytest.mark.parametrize("name", ["what", "who", "licence", "reason", "role", "proof"])
def test_an_altered_request_is_refused(bench: AcceptorBench, check: Check, name: str) -> None:
    officer = Officer(bench.do)
    officer.commission()
    other = {"what": "service", "role": "regulator", "proof": "0" * 64}.get(name, "altered")
    check.stimulus("one argument altered", name=name)
    check.expect("answer", refusal(bench.do, "service", **{**officer.entry(*ENTRY), name: other}), "auth")
    check.expect("refused attempt on the log", len(entries(bench, "access_refused")), 1)
    check.expect("entries on the log", entries(bench, "entry") + entries(bench, "service"), [])


@images("bench", "release")
@BOTH_GAMES
def test_there_is_no_secret_by_default_and_none_is_overwritten(bench: AcceptorBench, check: Check) -> None:
    for secret in (b"", b"\0" * 16, b"pitbench", b"1234"):
        officer = Officer(bench.do, secret=secret)
        check.expect(f"secret {secret!r}", refusal(bench.do, "service", **officer.entry(*ENTRY)), "auth")
    officer = Officer(bench.do)
    check.expect("a short secret", refusal(bench.do, "commission", role="technician", secret="00" * 8), "bad_args")
    officer.commission()
    again = refusal(bench.do, "commission", role="technician", secret=b"another secret, as long".hex())
    check.expect("commissioned again", again, "refused")
    stranger = refusal(bench.do, "commission", role="stranger", secret=b"a stranger's own secret".hex())
    check.expect("a stranger lets himself in", stranger, "auth")
    check.expect("the first secret serves", refusal(bench.do, "service", **officer.entry(*ENTRY)), "")


@rule("HOUSE-entry-log")
def test_entry_log(bench: AcceptorBench, check: Check) -> None:
    bench.do("calendar", set=1_800_000_000)
    officer = Officer(bench.do)
    officer.commission()
    check.stimulus("door opened, name and reason given with authority")
    bench.do("door", which="acceptor", open=True)
    officer.record(*ENTRY)
    found = [entry for entry in bench.log() if entry[4] in ("acceptor_door", "entry")]
    check.expect("door and person", [entry[4] for entry in found], ["acceptor_door", "entry"])
    check.expect("name, licence, reason, asset", found[1][5], " ".join(ENTRY[1:]))
    check.expect("calendar", found[1][3], 1_800_000_000)
    without = refusal(bench.do, "service", **{**officer.entry(*ENTRY), "proof": ""})
    check.expect("without authority", without, "auth")


@rule("HOUSE-service-log")
def test_service_log(bench: AcceptorBench, check: Check) -> None:
    officer = Officer(bench.do)
    officer.commission()
    check.stimulus("service recorded with authority, then a power cut")
    officer.record(*SERVICE)
    bench.power_cycle()
    check.expect("kept", entries(bench, "service"), [" ".join(SERVICE[1:])])
    without = refusal(bench.do, "service", **{**officer.entry(*SERVICE), "proof": ""})
    check.expect("without authority", without, "auth")


@pytest.mark.parametrize("how", ["meters read", "attempt recorded"])
@rule("HOUSE-memory-clear")
@needs("wire")
def test_memory_clear(bench: AcceptorBench, check: Check, how: str) -> None:
    officer = Officer(bench.do)
    officer.commission()
    bench.start()
    bench.stack(items.genuine(20))
    check.expect("without authority", refusal(bench.do, "clear_memory", role="technician", proof="00"), "auth")
    check.expect("before the meters were read", refusal(officer.ask, "clear_memory"), "refused")
    check.stimulus(how)
    if how == "meters read":
        bench.meters()
    else:
        officer.ask("attempt_meters")
    check.expect("afterwards", refusal(officer.ask, "clear_memory"), "")
    check.expect("meters that are not zero", [name for name, value in bench.meters().items() if value], [])
    check.expect("on the log, by whom", entries(bench, "memory_cleared"), ["technician"])


@rule("HOUSE-memory-clear")
@needs("wire")
def test_a_new_item_asks_for_a_new_reading(bench: AcceptorBench, check: Check) -> None:
    officer = Officer(bench.do)
    officer.commission()
    bench.start()
    bench.meters()
    check.stimulus("an item stacked after the meters were read")
    bench.stack(items.genuine(20))
    check.expect("clear", refusal(officer.ask, "clear_memory"), "refused")


@rule("HOUSE-memory-clear")
@needs("wire", "power", "store_fault")
def test_an_item_counted_at_power_up_asks_for_a_new_reading(bench: AcceptorBench, check: Check) -> None:
    officer = Officer(bench.do)
    officer.commission()
    bench.start()
    bench.meters()
    check.stimulus("power cut with an item past the lever, after the meters were read", write=UNCOUNTED)
    bench.do("store_fault", at=UNCOUNTED, how="before")
    interrupted(bench, lambda: bench.stack(items.genuine(20)))
    bench.start()
    check.expect("counted since", told_since_power_up(bench).count("stacked"), 1)
    check.expect("clear", refusal(officer.ask, "clear_memory"), "refused")
    check.expect("value, read again", bench.meters()["bill_in_value"], 2000)
    check.expect("clear after that", refusal(officer.ask, "clear_memory"), "")


def told_since_power_up(bench: AcceptorBench) -> list[str]:
    """Names of the log's entries since the last start."""
    log = bench.log()
    return [entry[4] for entry in log if entry[1] == log[-1][1]]

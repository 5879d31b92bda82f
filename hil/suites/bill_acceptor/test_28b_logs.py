"""13:69E-1.28B(s): what leaves an entry in the historical log, and that the log lasts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest
from pitbench import items
from pitbench.protocols.id003 import Command, Status
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.power_watch import interrupted

OPEN_AND_CLOSE = {
    "stacker_door": (("door", {"which": "stacker", "open": True}), ("door", {"which": "stacker", "open": False})),
    "stacker_removed": (("box", {"present": False}), ("box", {"present": True})),
    "acceptor_door": (("door", {"which": "acceptor", "open": True}), ("door", {"which": "acceptor", "open": False})),
}
SEGMENT_ENTRIES = 128
HOW = ("before", "torn_prefix", "torn_zeros", "torn_ff", "after")


def chain_breaks(log: list[list[Any]]) -> list[int]:
    """Numbers of the entries that don't follow from the one before them (the first kept entry has none)."""
    breaks = []
    for before, entry in zip(log, log[1:], strict=False):
        text = before[6].encode() + json.dumps(entry[:6]).encode()
        if entry[0] != before[0] + 1 or entry[6] != hashlib.sha256(text).hexdigest()[:16]:
            breaks.append(entry[0])
    return breaks


def clear_jam(bench: AcceptorBench) -> None:
    """What an attendant and the host do after a jam."""
    bench.do("door", which="acceptor", open=True)
    bench.do("clear_path")
    bench.do("door", which="acceptor", open=False)
    bench.command(Command.RESET)
    bench.ready()


def entries_about(bench: AcceptorBench, word: str) -> list[str]:
    return [name for name in bench.logged() if name.startswith(word)]


@rule("NJ-1.28B(s)3/log")
def test_jam_is_logged(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    check.stimulus("an item sticks in the acceptor; later cleared", mm=100)
    bench.attempt(replace(items.genuine(20), sticks_at=100), ms=3000)
    check.expect("raised", entries_about(bench, "jam"), ["jam_acceptor"])
    clear_jam(bench)
    check.expect("cleared", entries_about(bench, "jam"), ["jam_acceptor", "jam_acceptor_cleared"])


@pytest.mark.parametrize("inserting", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("stacker_door", marks=rule("NJ-1.28B(s)4/log")),
        pytest.param("stacker_removed", marks=rule("NJ-1.28B(s)5/log")),
        pytest.param("acceptor_door", marks=rule("NJ-1.28B(s)9/log")),
    ],
)
def test_opening_is_logged(bench: AcceptorBench, check: Check, name: str, inserting: bool) -> None:
    bench.start()
    if inserting:
        bench.escrow(items.genuine(20))
    (raise_op, raising), (clear_op, clearing) = OPEN_AND_CLOSE[name]
    check.stimulus(raise_op, **raising)
    bench.do(raise_op, **raising)
    check.expect("when it opens", entries_about(bench, name), [name])
    bench.do(clear_op, **clearing)
    check.expect("when it closes", entries_about(bench, name), [name, f"{name}_cleared"])


@pytest.mark.parametrize("part", ["transport_motor", "stack_motor", "entry", "exit", "lever", "scanner"])
@rule("NJ-1.28B(s)6/log")
def test_malfunction_is_logged(bench: AcceptorBench, check: Check, part: str) -> None:
    bench.start()
    check.stimulus("part broken, reset", part=part)
    bench.do("break", part=part, how="stuck_0")
    bench.command(Command.RESET)
    bench.advance(2000)
    named = [entry[5] for entry in bench.log() if entry[4] == "post_failed"]
    step = "sensors" if part in ("entry", "exit", "lever") else part
    check.expect("entry names the part", named, [step])
    bench.do("mend", part=part)
    bench.command(Command.RESET)
    bench.ready()
    check.expect("and its end", entries_about(bench, "post_failed"), ["post_failed", "post_failed_cleared"])


@pytest.mark.parametrize("copies", ["a", "b", "ab"])
@rule("NJ-1.28B(s)10/log")
def test_memory_error_is_logged(bench: AcceptorBench, check: Check, copies: str) -> None:
    bench.start()
    for copy in copies:
        check.stimulus("copy of the record damaged", copy=copy)
        bench.do("damage", copy=copy)
    bench.power_cycle()
    wanted = "memory_error" if copies == "ab" else "memory_repaired"
    check.expect("entry", wanted in bench.logged(), True)


@rule("NJ-1.28B(s)11/log")
def test_low_battery_is_logged_each_time(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    for mv in (2000, 3000, 2000):
        check.stimulus("battery", mv=mv)
        bench.do("battery", mv=mv)
    check.expect("entries", entries_about(bench, "low_battery").count("low_battery"), 2)


@images("bench", "release")
@rule("NJ-1.28B(s)13/log")
def test_power_cycle_and_host_reset_are_logged(bench: AcceptorBench, check: Check) -> None:
    check.stimulus("power cycle")
    identity = bench.power_cycle()
    last = bench.log()[-1]
    check.expect("power cycle: boot and cause", (last[1], last[4], last[5]), (identity["boot"], "power_on", "power"))
    check.stimulus("host reset")
    bench.command(Command.RESET)
    check.expect("host reset", bench.logged()[-1], "host_reset")


@rule("NJ-1.28B(s)13/log")
def test_watchdog_start_is_logged(bench: AcceptorBench, check: Check) -> None:
    check.stimulus("watchdog reset")
    bench.do("restart", how="watchdog")
    bench.reconnect()
    check.expect("entry", bench.log()[-1][4:6], ["power_on", "watchdog"])


@pytest.mark.parametrize("how", HOW)
@rule("NJ-1.28B(s)/survives-power")
def test_log_survives_cuts_at_every_write(bench: AcceptorBench, check: Check, how: str) -> None:
    for write in range(1, 7):
        check.stimulus("power cut at a store write of two door events", write=write, how=how)
        # A cut leaves the door as it was: both of its events are news again.
        bench.do("door", which="stacker", open=False)
        before = bench.log()
        bench.do("store_fault", at=write, how=how)
        interrupted(bench, lambda: door_twice(bench))
        after = bench.log()
        kept = after[: len(before)] == before
        check.expect(f"write {write}: what was there is there", kept, True)
        check.expect(f"write {write}: breaks of number or chain", chain_breaks(after), [])


def door_twice(bench: AcceptorBench) -> None:
    bench.do("door", which="stacker", open=True)
    bench.do("door", which="stacker", open=False)


@rule("HOUSE-log-chain")
def test_an_altered_log_is_found_by_its_reader(bench: AcceptorBench, check: Check) -> None:
    for _ in range(4):
        door_twice(bench)
    log = bench.log()
    check.expect("breaks in what the board holds", chain_breaks(log), [])
    for at in range(1, len(log)):
        altered = [list(entry) for entry in log]
        altered[at][5] = "altered"
        check.expect(f"entry {log[at][0]} altered", chain_breaks(altered)[0], log[at][0])
        if at + 1 < len(log):
            check.expect(f"entry {log[at][0]} taken out", chain_breaks(log[:at] + log[at + 1 :]), [log[at + 1][0]])


@rule("HOUSE-log-bounded")
def test_a_full_log_drops_its_oldest_and_goes_on(bench: AcceptorBench, check: Check) -> None:
    rounds = SEGMENT_ENTRIES + 10
    check.stimulus("more events than the log holds", events=2 * rounds)
    for _ in range(rounds):
        door_twice(bench)
    log = bench.log()
    last = log[-1][0]
    # On a slow board the host's real silence is one more event.
    check.expect("numbers went on", last > 2 * rounds, True)
    check.expect("first number kept is not the first", log[0][0] > 1, True)
    check.expect("at least one segment is kept", last - log[0][0] >= SEGMENT_ENTRIES, True)
    check.expect("breaks", chain_breaks(log), [])
    bench.power_cycle()
    check.expect("number after a restart", bench.log()[-1][0], last + 1)
    check.expect("breaks after a restart", chain_breaks(bench.log()), [])


@rule("NJ-1.28B(s)13/log")
def test_power_cut_during_an_insertion_is_logged(bench: AcceptorBench, check: Check) -> None:
    bench.start()
    bench.escrow(items.genuine(20))
    bench.command(Command.STACK_1)
    bench.until(Status.VEND_VALID)
    check.stimulus("power cut in vend valid")
    bench.power_cycle()
    check.expect("entries", bench.logged()[-2:], ["stacked", "power_on"])

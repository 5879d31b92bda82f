"""13:69E-1.28P(g), (h), (k): a malfunction stops it with an alert, a silent host too, and a self-test comes first."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from pitbench.link import LinkError
from pitbench.protocols.gat_host import GatHost
from pitbench_hil.acts import Act, ask, crash
from pitbench_hil.check import Check
from pitbench_hil.dice_moves import MOMENTS, OPENINGS
from pitbench_hil.dice_shaker import DiceBench
from pitbench_hil.dice_shaker_common import lie
from pitbench_hil.marks import rule

TILT, SELF_TEST = "NJ-1.28P(g)/tilt", "NJ-1.28P(k)/self-test"
LONG_MS = 30_000
BUTTONS = ("shake", "next", "recall")


def broken(part: str) -> tuple[Act, Act]:
    return ask("break", part=part), ask("mend", part=part)


def lying(times: int = 1, **reading: Any) -> tuple[Act, Act]:
    """Raised by dice that lie so; put right by others in their place."""
    return lie(times, **reading), exchanged


def exchanged(bench: DiceBench) -> None:
    """Dice out, cleared, inspected, others filled in."""
    bench.take()
    bench.clear()
    bench.inspect()
    bench.place("fff")
    with suppress(LinkError):
        bench.fill()


# Condition: how it is brought about in a round, how it is put right, what it is called.
IN_A_ROUND: dict[str, tuple[tuple[Act, Act], str]] = {
    "shaker-stalled": (broken("shaker"), "shaker_stalled"),
    "reader-failed": (broken("look"), "reader_failed"),
    "die-impossible": (lying(above="354", below="424"), "die_impossible"),
    "dice-wrong": (lying(above="35"), "dice_wrong"),
    "no-result": (lying(3, above="304"), "no_result"),
}
# The cause is gone with the dice, or nobody but the key's holder can say.
CLEARED_BY_THE_KEY = ("shaker-stalled", "reader-failed", "no-result", "program-error")


def stands(bench: DiceBench, name: str) -> int:
    """1 unless light, message, state and log tell of it."""
    status = bench.status()
    shown = name in status["standing"] and status["light"] == "red" and status["state"] == "error"
    named = status["message"] not in ("error", "ready", "idle") and name in bench.logged()
    return 0 if shown and named else 1


def pressed(bench: DiceBench) -> int:
    """Every button but clear; results that come of it."""
    before = len(bench.results())
    for button in BUTTONS:
        bench.press(button)
        bench.advance(3000)
    return len(bench.results()) - before


@pytest.mark.parametrize("part", [pytest.param(part, marks=rule(f"{TILT}/{part}")) for part in IN_A_ROUND])
def test_raised_in_a_round(bench: DiceBench, check: Check, part: str) -> None:
    (cause, right), name = IN_A_ROUND[part]
    cause(bench)
    check.stimulus("a round in which it comes about", part=part)
    bench.press("shake")
    bench.advance(LONG_MS)
    check.measure("unshown", stands(bench, name))
    results = len(bench.results()) + pressed(bench)
    bench.clear(key=False)
    bench.do("battery", mv=2000)
    bench.clear(key=False)
    bench.do("battery", mv=3000)
    early = name not in bench.status()["standing"]
    if part not in CLEARED_BY_THE_KEY:
        bench.clear()
        early |= name not in bench.status()["standing"]
    check.measure("cleared_early", int(early))
    check.measure("results", results)
    right(bench)
    bench.clear()
    check.expect("plays again", bench.shake("261")["faces"], [2, 6, 1])


@rule(f"{TILT}/program-error")
@pytest.mark.parametrize("when", ["at rest", "in a shake"])
def test_program_error(bench: DiceBench, check: Check, when: str) -> None:
    if when == "in a shake":
        bench.press("shake")
        bench.advance(500)
    check.stimulus("program error", when=when)
    crash(bench)
    check.measure("unshown", stands(bench, "software_error"))
    check.measure("results", len(bench.results()) + pressed(bench))
    bench.clear(key=False)
    check.measure("cleared_early", int("software_error" not in bench.status()["standing"]))
    bench.clear()
    check.expect("plays again", bench.shake("261")["faces"], [2, 6, 1])


STEPS = {"sensors": "still", "readers": "reader_above", "drive": "drive"}
STARTS = ("power", "watchdog", "recovery")


def started(bench: DiceBench, how: str) -> None:
    """Another start, or a recovery from an error, with a part that is broken already."""
    if how == "power":
        bench.power_cycle()
    elif how == "watchdog":
        bench.do("restart", how="watchdog")
        bench.board.reconnect()
    else:
        bench.do("lock", locked=False)
        bench.do("lock", locked=True)
        bench.clear()
    bench.advance(3000)


@pytest.mark.parametrize("how", STARTS)
@pytest.mark.parametrize("step", [pytest.param(step, marks=rule(f"{SELF_TEST}/{step}")) for step in STEPS])
def test_self_test_that_fails(bench: DiceBench, check: Check, step: str, how: str) -> None:
    bench.do("break", part=STEPS[step])
    check.stimulus("a part that fails its self-test", part=STEPS[step], start=how)
    started(bench, how)
    post = bench.do("post")
    failed = [name for name, ok, _ in post["steps"] if not ok]
    check.measure("not_failed", int(failed != [step] or bench.status()["state"] != "error"))
    bench.clear()
    check.measure("results", len(bench.results()) + pressed(bench))
    bench.do("mend", part=STEPS[step])
    bench.clear()
    check.expect("plays again", bench.shake("261")["faces"], [2, 6, 1])


@rule(f"{TILT}/self-test")
def test_self_test_that_fails_is_a_malfunction(bench: DiceBench, check: Check) -> None:
    bench.do("break", part="reader_below")
    check.stimulus("a blind reader at the start")
    started(bench, "power")
    check.measure("unshown", stands(bench, "post_failed"))
    bench.clear()
    check.measure("cleared_early", int("post_failed" not in bench.status()["standing"]))
    check.measure("results", len(bench.results()) + pressed(bench))


@rule(f"{SELF_TEST}/memory")
def test_record_that_is_lost(bench: DiceBench, check: Check) -> None:
    bench.shake("354")
    for copy in ("a", "b"):
        bench.do("damage", copy=copy)
    check.stimulus("both copies of the record damaged, power off and on")
    started(bench, "power")
    failed = [name for name, ok, _ in bench.do("post")["steps"] if not ok]
    check.measure("not_failed", int(failed != ["memory"]))
    check.measure("results", len(bench.results()) + pressed(bench))
    check.expect("says so", bench.status()["standing"][:1], ["memory_error"])


@rule("NJ-1.28P(g)/each-its-message")
def test_each_has_a_message_of_its_own(still: DiceBench, check: Check) -> None:
    messages: dict[str, str] = {}
    for (cause, _), name in IN_A_ROUND.values():
        still.board.start_over()
        still.ready()
        cause(still)
        still.press("shake")
        still.advance(LONG_MS)
        messages[name] = still.status()["message"]
    for op, wrong, _, name in OPENINGS.values():
        still.board.start_over()
        still.ready()
        still.do(op, **wrong)
        still.advance(100)
        messages[name] = still.status()["message"]
    check.note("messages", **messages)
    check.measure("alike", len(messages) - len(set(messages.values())))


# -- the host

PATIENCE_S = 5


@rule("NJ-1.28P(h)/host-lost")
@pytest.mark.parametrize("when", MOMENTS)
def test_silent_host(still: DiceBench, check: Check, when: str) -> None:
    still.ready(host=PATIENCE_S)
    host = GatHost(still.board.wire, clock=still.board.clock)
    said = speak(still, host)
    check.stimulus("a host that falls silent", when=when, patience_s=PATIENCE_S)
    if when != "idle":
        # So late that the host is found lost at that moment.
        still.advance(PATIENCE_S * 1000 - {"shaking": 600, "resting": 1400, "reading": 1840, "shown": 3000}[when])
        still.lie("354")
        still.do("press", button="shake")
    before = len(still.results())
    while "host_lost" not in (status := still.status())["standing"] and status["now"] < said + 60_000:
        before = len(still.results())
        still.advance(20)
    check.measure("stopped_late", max(0, status["now"] - said - PATIENCE_S * 1000))
    check.expect("alert", stands(still, "host_lost"), 0)
    still.advance(5000)
    check.measure("results", len(still.results()) - before + pressed(still))
    still.clear()
    check.expect("cleared while it is silent", "host_lost" in still.status()["standing"], True)
    speak(still, host)
    still.clear()
    speak(still, host)
    if still.status()["state"] == "shown":
        still.next()
    check.expect("plays again", still.shake("261")["faces"], [2, 6, 1])


@rule("NJ-1.28P(h)/host-lost")
@pytest.mark.parametrize("patience_s", [1, 60])
def test_silent_host_at_the_limits_of_its_patience(still: DiceBench, check: Check, patience_s: int) -> None:
    still.ready(host=patience_s)
    said = speak(still, GatHost(still.board.wire, clock=still.board.clock))
    check.stimulus("a host that falls silent", patience_s=patience_s)
    still.advance(patience_s * 1000 - 500)
    check.expect("awaited until then", still.status()["standing"], [])
    still.advance(5000)
    lost = [row[1] for row in still.events() if row[2] == "host_lost"]
    check.measure("stopped_late", max(0, lost[0] - said - patience_s * 1000) if lost else LONG_MS)
    check.expect("alert", stands(still, "host_lost"), 0)
    check.measure("results", pressed(still))


def speak(bench: DiceBench, host: GatHost) -> int:
    """A status asked for over the wire; the device's time then, in ms."""
    host.status()
    return int(bench.status()["now"])


@rule("NJ-1.28P(h)/host-heard")
def test_a_host_that_speaks_is_not_lost(still: DiceBench, check: Check) -> None:
    still.ready(host=PATIENCE_S)
    host = GatHost(still.board.wire, clock=still.board.clock)
    check.stimulus("a host that asks every four seconds")
    stops = 0
    for _ in range(10):
        speak(still, host)
        still.advance(4000)
        stops += still.status()["standing"] != []
    check.measure("stops", stops)


@rule("NJ-1.28P(h)/host-heard")
def test_where_no_host_is_awaited_none_is_lost(bench: DiceBench, check: Check) -> None:
    check.stimulus("no host set, none that speaks, for two minutes")
    bench.advance(120_000)
    check.measure("stops", int(bench.status()["standing"] != []))

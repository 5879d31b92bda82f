"""13:69E-1.28K(f): the tower light shows every security event and malfunction until it is cleared."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import DECK, UNREADABLE, ShufflerBench
from pitbench_hil.shuffler_moves import BUTTONS, Act, ask, attend

ALARM, CALM = "red", "green"
LONG_MS = 60_000


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and how its cause is taken away; the attendant's clear comes after that.

    Args:
        name: as `standing` has it.
        by_clear: whether clearing it is the attendant's; a self-test or memory that failed needs another start.
    """

    name: str
    make: Act
    end: Act = lambda bench: None
    by_clear: bool = True


def broken(part: str, how: str = "dead", while_: str = "shuffling") -> Act:
    def make(bench: ShufflerBench) -> None:
        if while_ == "dealing":
            bench.shuffle()
        bench.do("break", part=part, how=how)
        if while_ == "dealing":
            bench.press("hand")
            bench.until("error", within=20_000)
        else:
            bench.shuffle()

    return make


def fed(cards: bytes) -> Act:
    return lambda bench: bench.shuffle(cards)


def mended_and_taken_out(part: str) -> Act:
    return lambda bench: attend(bench, (part,))


def cut_in_a_game(bench: ShufflerBench) -> None:
    bench.shuffle()
    bench.cut()
    bench.power_on()


def dead_source(bench: ShufflerBench) -> None:
    bench.do("entropy", how="stuck")
    bench.shuffle()


def live_source(bench: ShufflerBench) -> None:
    bench.do("entropy", how="board")
    restarted(bench)


def full_store(bench: ShufflerBench) -> None:
    bench.do("store_fault", at=1, how="full")
    bench.shuffle()


def broken_at_start(bench: ShufflerBench) -> None:
    bench.do("break", part="camera", how="dead")
    restarted(bench)
    bench.until("error", within=20_000)


def restarted(bench: ShufflerBench) -> None:
    bench.cut()
    bench.power_on()


FAULTS = (
    Fault("service_door", ask("door", which="service", open=True), ask("door", which="service", open=False)),
    Fault("shroud", ask("door", which="shroud", open=True), ask("door", which="shroud", open=False)),
    Fault("jam_feed", broken("feed", "stall"), mended_and_taken_out("feed")),
    Fault("jam_feed", broken("feed", "double"), mended_and_taken_out("feed")),
    Fault("jam_insert", broken("insert", "stall"), mended_and_taken_out("insert")),
    Fault("jam_exit", broken("eject", "stall", "dealing"), mended_and_taken_out("eject")),
    Fault("rack_stalled", broken("rack", "stall"), mended_and_taken_out("rack")),
    Fault("camera_failed", broken("camera"), mended_and_taken_out("camera")),
    Fault("card_damaged", fed(DECK[:9] + bytes([UNREADABLE]) + DECK[9:]), attend),
    Fault("cards_wrong", fed(DECK[:-1] + DECK[:1])),
    Fault("count_wrong", fed(DECK[:-1])),
    Fault("power_interrupted", cut_in_a_game),
    Fault("entropy_failed", dead_source, live_source),
    Fault("post_failed", broken_at_start, ask("mend", part="camera")),
    Fault("memory_error", full_store, restarted, by_clear=False),
)
EACH = [pytest.param(fault, id=f"{fault.name}-{number}") for number, fault in enumerate(FAULTS)]


def light(bench: ShufflerBench) -> str:
    return str(bench.status()["light"])


@rule("NJ-1.28K(f)/tower-light")
@pytest.mark.parametrize("fault", EACH)
def test_light_stands_until_cleared(bench: ShufflerBench, check: Check, fault: Fault) -> None:
    check.expect("light while idle", light(bench), CALM)
    check.stimulus("raised", fault=fault.name)
    fault.make(bench)
    check.expect("stands", fault.name in bench.status()["standing"], True)
    check.expect("light at once", light(bench), ALARM)
    for button in BUTTONS:
        bench.press(button)
    bench.advance(LONG_MS)
    check.expect("light, whatever is pressed, a minute later", light(bench), ALARM)
    check.stimulus("cause taken away")
    fault.end(bench)
    if fault.by_clear:
        check.expect("light before it is cleared", light(bench), ALARM)
        bench.clear(key=False)
        check.expect("light when cleared without the key", light(bench), ALARM)
    bench.clear()
    check.expect("light cleared", light(bench) == ALARM, False)
    if bench.status()["state"] != "idle":
        bench.unload()
    bench.advance(1000)
    check.expect("light of the idle device", light(bench), CALM)


@rule("NJ-1.28K(f)/tower-light")
@pytest.mark.parametrize("left", ["service", "shroud"])
def test_light_stays_for_the_other(bench: ShufflerBench, check: Check, left: str) -> None:
    other = "shroud" if left == "service" else "service"
    check.stimulus("both doors opened, one closed and cleared", left=left)
    for door in (left, other):
        bench.door(door, is_open=True)
    bench.door(other, is_open=False)
    bench.clear()
    check.expect("light with one left open", light(bench), ALARM)
    restarted(bench)
    check.expect("light after a power cycle", light(bench), ALARM)


@rule("NJ-1.28K(f)/tower-light")
def test_a_working_device_raises_no_alarm(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("a whole game without a fault")
    seen = {light(bench)}
    bench.load()
    bench.press("start")
    while bench.status()["state"] == "shuffling":
        seen.add(light(bench))
        bench.advance(500)
    seen.add(light(bench))
    bench.deal_all()
    seen.add(light(bench))
    check.expect("alarms", ALARM in seen, False)

"""13:69E-1.28X(j): in an error nothing moves, the indicator stands, the display names it."""

from __future__ import annotations

from itertools import permutations

import pytest
from pitbench.targets import Board
from pitbench_hil.acts import afresh, ask, in_turn, restart
from pitbench_hil.check import Check
from pitbench_hil.errors_raised import Error, named, raised, shown, told
from pitbench_hil.marks import images, rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_errors import ERRORS, SERVICE_DOOR, SHROUD
from pitbench_hil.shuffler_moves import WAIT_MS, moved, press_all, to_shuffling
from pitbench_hil.shuffler_pins import PinShuffler

CLAUSE = "NJ-1.28X(j)"
CEASES, INDICATOR, MESSAGE = f"{CLAUSE}/ceases", f"{CLAUSE}/indicator", f"{CLAUSE}/message"


def take_out_what_is_stuck(bench: ShufflerBench) -> None:
    """Through a door that is open, or opened for it."""
    shut = not {"service_door", "shroud"} & open_now(bench)
    if shut:
        bench.door("service", is_open=True)
    bench.do("mend", part="insert")
    bench.do("clear_path")
    if shut:
        bench.door("service", is_open=False)


def open_now(bench: ShufflerBench) -> set[str]:
    """Doors that the plant holds open, by their names on the log."""
    last: dict[str, str] = {}
    for entry in bench.log():
        if entry[4].startswith(("service_door", "shroud")) and not entry[4].endswith("cleared"):
            last[entry[4].removesuffix("_closed")] = entry[4]
    return {name for name, said in last.items() if not said.endswith("_closed")}


# Cause -> how it comes and how it goes, in the middle of a shuffle.
CAUSES = {
    "jam": (
        in_turn(ask("break", part="insert", how="stall"), lambda bench: bench.advance(2000)),
        take_out_what_is_stuck,
    ),
    "service door": (SERVICE_DOOR.ways["idle"], SERVICE_DOOR.end),
    "shroud": (SHROUD.ways["idle"], SHROUD.end),
}


def of_each() -> list[object]:
    cases = []
    for error in ERRORS:
        rules = [f"{row}/{error.name}" for row in ([CEASES] if error.stops else []) + [INDICATOR, MESSAGE]]
        cases.append(pytest.param(error, marks=rule(*rules), id=error.name))
    return cases


@pytest.mark.parametrize("error", of_each())
def test_error(still: ShufflerBench, check: Check, error: Error) -> None:
    undetected = cards = unshown = unnamed = without = 0
    for way in error.ways:
        check.stimulus(error.name, way=way)
        undetected += not raised(still, error, way)
        status, before = still.status(), still.truth()
        unshown += not shown(status, error)
        unnamed += not named(status, error)
        check.note("the device says", message=status["message"], light=status["light"], standing=status["standing"])
        if error.stops:
            still.advance(WAIT_MS)
            press_all(still)
            cards += moved(before, still.truth())
        unshown += not shown(still.status(), error)
        error.end(still)
        still.clear()
        status = still.status()
        without += status["light"] == "red"
        check.expect(f"{way}: cleared", status["standing"], [])
    if error.stops:
        check.measure("cards_moved", cards, rule=f"{CEASES}/{error.name}")
        check.measure("undetected", undetected, rule=f"{CEASES}/{error.name}")
    check.measure("unshown", unshown, rule=f"{INDICATOR}/{error.name}")
    check.measure("shown_without_error", without, rule=f"{INDICATOR}/{error.name}")
    check.measure("unnamed", unnamed, rule=f"{MESSAGE}/{error.name}")


@rule(f"{CLAUSE}/messages-differ", f"{CLAUSE}/kept-over-a-restart")
def test_each_in_turn(still: ShufflerBench, check: Check) -> None:
    """One way of each: its message; a restart with its cause there, and one with its cause gone, not cleared."""
    messages = [still.status()["message"]]
    cards = forgotten = 0
    for error in ERRORS:
        if not error.condition and error.stops:
            continue
        way = next(iter(error.ways))
        check.stimulus(error.name, way=way)
        raised(still, error, way)
        messages.append(still.status()["message"])
        if not error.stops:
            continue
        before = still.truth()
        for act in (restart, restart) if error.name == "memory-error" else (restart, error.end, restart):
            act(still)
            press_all(still, keys=(True,))
            forgotten += not told(still.status(), error)
        cards += moved_by_device(before, still.truth())
    check.note("messages", messages=messages)
    check.measure("shared_messages", len(messages) - len(set(messages)), rule=f"{CLAUSE}/messages-differ")
    check.measure("cards_moved", cards, rule=f"{CLAUSE}/kept-over-a-restart")
    check.measure("forgotten", forgotten, rule=f"{CLAUSE}/kept-over-a-restart")


def moved_by_device(before: dict[str, object], after: dict[str, object]) -> int:
    """Cards that moved, those not counted that a person took out."""
    return moved(before, {**after, "taken": before["taken"]})


@rule(f"{CLAUSE}/cleared-one-by-one")
def test_several_stand_together(still: ShufflerBench, check: Check) -> None:
    cards = unshown = 0
    for order in [order for count in (2, 3) for order in permutations(CAUSES, count)]:
        check.stimulus("all at once, in a shuffle; then the causes go one by one", order=order)
        afresh(still)
        to_shuffling(still)
        for name in CAUSES:
            if name in order:
                CAUSES[name][0](still)
        before = still.truth()
        for name in order:
            still.clear()
            press_all(still, keys=(True,))
            status = still.status()
            unshown += status["light"] != "red" or status["state"] != "error"
            CAUSES[name][1](still)
        cards += moved_by_device(before, still.truth())
        still.clear()
        check.expect("cleared", still.status()["standing"], [])
    check.measure("cards_moved", cards)
    check.measure("unshown", unshown)


@images("release")
@rule(f"{CLAUSE}/doors-on-a-release-image")
def test_doors_on_a_release_image(board: Board, check: Check) -> None:
    device = PinShuffler(board)
    with check.duty("comes to rest"):
        device.until(lambda status: status["light"] == "green", "a green light")
    unshown = 0
    for which, error in (("service_door", SERVICE_DOOR), ("shroud", SHROUD)):
        check.stimulus("pin of the door", which=which)
        device.pin(which, 1)
        with check.duty(f"tells of the {which}"):
            status = device.until(lambda status: bool(status["standing"]), "a condition")
        unshown += not (shown(status, error) and named(status, error) and told(status, error))
        device.pin(which, 0)
        with check.duty(f"comes back from the {which}"):
            device.clear()
            device.until(lambda status: status["light"] == "green", "a green light")
    check.measure("unshown", unshown)

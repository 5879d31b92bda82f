"""13:69E-1.28G(c) on the selector: the number drawn is the number shown, drawn once, and nothing else is told."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from pitbench_hil.acts import restart
from pitbench_hil.attended_bench import START_MS, TECHNICIAN
from pitbench_hil.check import Check
from pitbench_hil.fed import newly_fed, steps_before
from pitbench_hil.generator_checks import IDLE
from pitbench_hil.marks import rule
from pitbench_hil.selector import ASIA_POKER, SELECT_MS, SUPREME_PAI_GOW, SelectorBench
from pitbench_hil.selector_errors import DOOR, to_selecting
from pitbench_hil.selector_rounds import not_as_drawn, seen_as, told
from pitbench_hil.selector_walk import STIMULI, Walk
from pitbench_hil.walking import at_random

ROUNDS = 40

# -- (c)1


def by_select(bench: SelectorBench) -> None:
    """The next press ends the round."""


def by_done(bench: SelectorBench) -> None:
    """Taken away after each."""
    bench.press("done")


def by_recall(bench: SelectorBench) -> None:
    """Recalled, and as many presses as there are rounds until the round is shown again."""
    for _ in range(3):
        bench.press("recall")


def at_dates(bench: SelectorBench) -> None:
    """The calendar set to and fro."""
    bench.do("calendar", set=2_145_916_800 if bench.status()["round"] % 2 else None)


ENDS = (by_select, by_done, by_recall, at_dates)


@rule("NJ-1.28G(c)1/shown-as-drawn")
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_numbers_are_shown_as_drawn(still: SelectorBench, check: Check, end: Callable[[SelectorBench], None]) -> None:
    declared = newly_fed(still, end.__name__)
    check.stimulus("rounds", rounds=ROUNDS, how=end.__doc__)
    numbers, otherwise = [], 0
    for _ in range(ROUNDS):
        number = still.select()
        places = seen_as(still)
        if len(set(places.values())) > 1:
            otherwise += 1
            check.note("told otherwise", **places)
        numbers.append(number)
        end(still)
    check.measure("other_numbers", otherwise + not_as_drawn(declared, numbers))


@rule("NJ-1.28G(c)1/shown-as-drawn")
@pytest.mark.parametrize("game", [ASIA_POKER, SUPREME_PAI_GOW])
def test_no_game_has_a_part_in_a_number(still: SelectorBench, check: Check, game: str) -> None:
    found = []
    for name in (None, game):
        newly_fed(still, "games")
        still.commission(TECHNICIAN)
        still.configure(**({"game": name} if name else {"bonus": False}))
        check.stimulus("rounds", game=name or "pai gow poker")
        found.append([still.select() for _ in range(ROUNDS // 2)])
    check.note("numbers", one=found[0], other=found[1])
    check.measure("other_numbers", sum(one != other for one, other in zip(*found, strict=True)))


# -- (c)2

DRAWS = 200
ONE_DRAW = "NJ-1.28G(c)2/one-draw-a-round"


@rule(ONE_DRAW)
def test_numbers_drawn_in_a_row(fresh: SelectorBench, check: Check) -> None:
    declared = newly_fed(fresh, "once")
    check.stimulus("numbers drawn in a row", numbers=DRAWS)
    drawn = fresh.draws(DRAWS)
    first = steps_before(fresh, declared, drawn[: fresh.sample_draws], IDLE)
    rest = [fresh.draw_of(declared) for _ in drawn[fresh.sample_draws :]]
    other = sum(one != number for one, number in zip(rest, drawn[fresh.sample_draws :], strict=True))
    check.measure("other_numbers", DRAWS if first is None else other)
    check.measure("draws_beyond_one", abs(fresh.status()["draws"] - 1))
    check.measure("figures_beyond_one", len(fresh.figures()))


def impatiently(bench: SelectorBench) -> None:
    """Pressed again and again while it selects."""
    bench.press("select")
    for _ in range(3):
        bench.press("select")


def with_all_else(bench: SelectorBench) -> None:
    """Every other button pressed while it selects, the key turned."""
    bench.press("select")
    bench.do("key", turned=True)
    for button in ("done", "recall", "clear"):
        bench.press(button)
    bench.do("key", turned=False)


def twice_at_once(bench: SelectorBench) -> None:
    """Pressed again before the first press has ended."""
    bench.do("press", button="select")
    bench.do("press", button="select")
    bench.advance(100)


@rule(ONE_DRAW)
@pytest.mark.parametrize("press", [impatiently, with_all_else, twice_at_once], ids=lambda press: press.__name__)
def test_pressed_while_it_selects(still: SelectorBench, check: Check, press: Callable[[SelectorBench], None]) -> None:
    declared = newly_fed(still, press.__name__)
    check.stimulus("rounds", rounds=ROUNDS, how=press.__doc__)
    numbers, beyond, figures = [], 0, 0
    for number in range(1, ROUNDS + 1):
        before = len(still.figures())
        press(still)
        still.until("shown", within=SELECT_MS)
        still.advance(SELECT_MS)
        status = still.status()
        beyond += abs(status["draws"] - 1) + abs(status["round"] - number)
        # The plant remembers 64 of them.
        figures += abs(len(still.figures()) - before - 1)
        numbers.append(still.display())
    check.measure("draws_beyond_one", beyond)
    check.measure("figures_beyond_one", figures)
    check.measure("other_numbers", not_as_drawn(declared, numbers))


def shown_again(bench: SelectorBench) -> None:
    """Ended by a door, and cleared: the number comes back, and done takes it away."""
    DOOR.ways["idle"](bench)
    DOOR.end(bench)
    bench.clear()
    bench.press("done")


def cut_and_done(bench: SelectorBench) -> None:
    """Ended by a power cut, and done."""
    restart(bench)
    bench.press("done")


@rule("NJ-1.28G(c)2/every-selection-kept")
def test_every_number_that_was_shown_is_kept(bench: SelectorBench, check: Check) -> None:
    shown = []
    for end in (by_select, by_done, shown_again, cut_and_done, by_select, restart, by_select):
        shown.append(bench.select())
        check.stimulus("a round", ended=end.__doc__)
        end(bench)
    recalled = [row[3] for row in bench.rounds()]
    check.note("numbers", shown=shown, recalled=recalled)
    different = sum(one != other for one, other in zip(shown, recalled, strict=False))
    check.measure("numbers_lost", different + len(shown) - len(recalled))
    check.expect("numbered in order", [row[0] for row in bench.rounds()], list(range(1, len(shown) + 1)))


# -- (c)3

BEFORE = "NJ-1.28G(c)3/nothing-before"
LOOK_MS = 50


def untold(bench: SelectorBench, check: Check, before: dict[str, str]) -> int:
    """Places that tell something of a round that isn't shown."""
    now = told(bench)
    said = [place for place in ("display", "message", "number") if any(letter.isdigit() for letter in now[place])]
    said += ["rounds"] if now["rounds"] != before["rounds"] else []
    said += [place for place in ("events", "log") if _results(now[place]) != _results(before[place])]
    if said:
        check.note("told", places=said, message=now["message"])
    return len(said)


def _results(text: str) -> int:
    """How often a result is told of."""
    return text.count('"result"') + text.count('"shown"')


@rule(f"{BEFORE}/while-selecting")
def test_looked_at_in_small_steps(bench: SelectorBench, check: Check) -> None:
    check.stimulus("rounds looked at in small steps", ms=LOOK_MS)
    number_told = looks = 0
    for _ in range(10):
        before, figures = told(bench), len(bench.figures())
        bench.do("press", button="select")
        bench.advance(LOOK_MS)
        while bench.status()["state"] == "selecting":
            number_told += untold(bench, check, before) + (len(bench.figures()) > figures)
            looks += 1
            bench.advance(LOOK_MS)
        bench.until("shown", within=SELECT_MS)
        bench.advance(100)
        check.expect("shown then", bench.display() > 0, True)
    check.measure("told", number_told)
    check.expect("looks while it selects", looks >= 100, True)


def by_door(bench: SelectorBench) -> None:
    """The door is opened while it selects."""
    to_selecting(bench)
    DOOR.ways["idle"](bench)


def by_source(bench: SelectorBench) -> None:
    """There is no noise for it."""
    bench.do("entropy", how="stuck")
    bench.press("select")


def by_store(bench: SelectorBench) -> None:
    """Its number can't be stored."""
    bench.do("store_fault", at=1, how="full")
    bench.press("select")


def by_display(bench: SelectorBench) -> None:
    """The display stays dark."""
    bench.do("break", part="display", how="dark")
    bench.press("select")
    bench.advance(SELECT_MS)


@rule(f"{BEFORE}/failed-round")
@pytest.mark.parametrize("fail", [by_door, by_source, by_store, by_display], ids=lambda fail: fail.__name__)
def test_a_round_that_fails(bench: SelectorBench, check: Check, fail: Callable[[SelectorBench], None]) -> None:
    bench.select()
    before, figures = told(bench), len(bench.figures())
    check.stimulus("a round that fails", how=fail.__doc__)
    fail(bench)
    bench.advance(START_MS)
    check.expect("state", bench.status()["state"], "error")
    now = told(bench)
    number_told = sum(any(letter.isdigit() for letter in now[place]) for place in ("display", "message", "number"))
    check.measure("told", number_told + len(bench.figures()) - figures)
    if fail is not by_display:
        check.expect("recalled meanwhile", now["rounds"], before["rounds"])


@rule(f"{BEFORE}/self-test")
def test_a_start_shows_no_number(bench: SelectorBench, check: Check) -> None:
    bench.select()
    bench.press("done")
    before = bench.figures()
    check.stimulus("a start looked at in small steps")
    bench.power_cycle()
    number_told = 0
    for _ in range(START_MS // LOOK_MS):
        number_told += bench.display() in range(1, 10)
        bench.advance(LOOK_MS)
    check.measure("told", number_told + len(bench.figures()) - len(before))
    check.expect("state", bench.status()["state"], "idle")
    check.expect("self-test of the display", [row[0] for row in bench.do("post")["steps"]][-1], "display")


# -- any order

WALKS, LENGTH = 10, 18
PIECES = {
    "round": ["select", "wait 1200 ms"],
    "done": ["select", "wait 1200 ms", "done"],
    "cut while selecting": ["select", "power cut", "wait 1200 ms"],
    "cut while shown": ["select", "wait 1200 ms", "power cut", "wait 1200 ms", "select"],
    "door": ["select", "open housing", "wait 1200 ms", "close housing", "clear with the key"],
    "barred": ["done", "bonus wagers", "select", "wait 1200 ms", "no bonus wagers", "select"],
}


@rule(f"{BEFORE}/any-order")
def test_any_order_of_events(still: SelectorBench, check: Check) -> None:
    for piece in PIECES.values():
        hold(still, check, piece * 2)
    at_random(check, partial(hold, still, check), STIMULI, PIECES, walks=WALKS, length=LENGTH, begins=7)


def hold(bench: SelectorBench, check: Check, taken: list[str]) -> None:
    """One walk, and what must be so through it."""
    walk = Walk(bench)
    walk.along(taken)
    good = [
        check.measure("told", walk.told),
        check.expect("rounds lost", walk.lost, 0),
        check.expect("steps off the chart", walk.off_chart, []),
    ]
    if not all(good):
        check.note("the walk that fails", steps=taken)

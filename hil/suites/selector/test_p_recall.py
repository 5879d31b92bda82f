"""13:69E-1.28P(i): the last ten rounds with date, time and outcome, at once."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from pitbench_hil.acts import restart
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.selector import ASIA_POKER, PAI_GOW_POKER, SelectorBench
from pitbench_hil.selector_errors import DOOR

ROUNDS, WANTED = 16, 10
# The end of a leap year's February, of a year, of a century's first quarter, and days after one another.
DATES = (951_782_340, 1_709_164_799, 1_735_689_599, 4_107_542_399, 2_000_000_000)


def at(number: int) -> int:
    """The calendar's second at a round."""
    return DATES[number % len(DATES)] + number


def played(bench: SelectorBench) -> list[list[Any]]:
    """Rounds at known dates, in two games; what has to be recalled of them."""
    rows = []
    for number in range(1, ROUNDS + 1):
        game = ASIA_POKER if number > ROUNDS // 2 else PAI_GOW_POKER
        if number == ROUNDS // 2 + 1:
            bench.press("done")
            bench.configure(game=game)
        bench.do("calendar", set=at(number))
        rows.append([number, at(number), game, bench.select()])
    return rows


def on_the_link(bench: SelectorBench, check: Check, wanted: list[list[Any]]) -> None:
    found = bench.rounds()
    check.note("recalled on the link", rounds=found)
    due = wanted[-WANTED:]
    check.measure("rounds_missing", sum(row[0] not in [number for number, *_ in found] for row in due))
    check.measure("rounds_wrong", sum(not _alike(row, wanted) for row in found))


def _alike(found: list[Any], wanted: list[list[Any]]) -> bool:
    """The same round; a second may pass between the calendar set and the press."""
    number, second, *rest = found
    return any([number, *rest] == [row[0], *row[2:]] and second in (row[1], row[1] + 1) for row in wanted)


def on_the_message(bench: SelectorBench, check: Check, wanted: list[list[Any]]) -> None:
    """Press by press, the last one first."""
    missing = wrong = 0
    for number, second, game, outcome in reversed(wanted[-WANTED:]):
        bench.press("recall")
        said = bench.status()["message"]
        date = datetime.fromtimestamp(second, tz=timezone.utc).strftime("%Y-%m-%d %H:%M")
        missing += f"Round {number}," not in said
        wrong += not (date in said and game in said and said.endswith(f": {outcome}"))
    check.note("the last message", said=said)
    check.measure("rounds_missing", missing)
    check.measure("rounds_wrong", wrong)


@rule("NJ-1.28P(i)/recall")
def test_recalled_at_once(bench: SelectorBench, check: Check) -> None:
    wanted = played(bench)
    check.stimulus("asked for without a proof, and pressed for", rounds=ROUNDS)
    on_the_link(bench, check, wanted)
    on_the_message(bench, check, wanted)


@rule("NJ-1.28P(i)/recall")
def test_recalled_after_a_power_cycle(bench: SelectorBench, check: Check) -> None:
    wanted = played(bench)
    check.stimulus("power cycled")
    restart(bench)
    on_the_link(bench, check, wanted)
    on_the_message(bench, check, wanted)


@rule("NJ-1.28P(i)/recall")
def test_recalled_while_an_error_stands(bench: SelectorBench, check: Check) -> None:
    wanted = played(bench)
    check.stimulus("the service door opened; and power cycled like that")
    DOOR.ways["idle"](bench)
    on_the_link(bench, check, wanted)
    restart(bench)
    on_the_link(bench, check, wanted)


@rule("NJ-1.28P(i)/recall")
def test_recalled_while_the_next_is_selected(bench: SelectorBench, check: Check) -> None:
    wanted = played(bench)
    check.stimulus("asked for while a number is selected")
    bench.press("select")
    on_the_link(bench, check, wanted)

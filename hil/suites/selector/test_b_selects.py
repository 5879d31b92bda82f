"""13:69E-1.13B(f), T(e), W(e): it selects and displays 1 through 7, and not beside the wagers of 13:69F-11.17."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench_hil.access_rights import settings
from pitbench_hil.acts import restart
from pitbench_hil.attended_bench import TECHNICIAN
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.selector import ASIA_POKER, NUMBERS, PAI_GOW_POKER, SELECT_MS, SUPREME_PAI_GOW, SelectorBench
from pitbench_hil.selector_errors import DOOR, to_selecting, to_shown

CLAUSES = {PAI_GOW_POKER: "NJ-1.13B(f)", ASIA_POKER: "NJ-1.13T(e)", SUPREME_PAI_GOW: "NJ-1.13W(e)"}
# One of seven is missed in so many rounds once in 700,000; all others together once in a hundred thousand.
ROUNDS = 100
BARRED, FORGOTTEN = "NJ-1.13B(f)/not-with-bonus-wagers", "NJ-1.13B(f)/forgotten-settings"


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=rule(f"{clause}/selects-and-displays")) for game, clause in CLAUSES.items()]
)
def test_rounds_in_a_row(bench: SelectorBench, check: Check, game: str) -> None:
    bench.configure(game=game, bonus=game != PAI_GOW_POKER)
    check.stimulus("select pressed, and nothing else", game=game, rounds=ROUNDS)
    shown = []
    for _ in range(ROUNDS):
        bench.press("select")
        bench.advance(SELECT_MS)
        shown.append(bench.display())
    figures = set(shown) | set(bench.figures())
    check.note("figures", **{str(figure): shown.count(figure) for figure in sorted(figures)})
    check.measure("outside", sum(figure not in NUMBERS for figure in figures - {0}))
    check.measure("rounds_without_number", shown.count(0))
    check.measure("numbers_never_shown", len(set(NUMBERS) - figures))
    check.measure("rounds", bench.status()["round"])
    check.expect("the game in the recall", {row[2] for row in bench.rounds()}, {game})


# -- the bonus wagers


def selects_nothing(bench: SelectorBench, check: Check, rule_id: str | None = None) -> None:
    """Everything is pressed: nothing is selected, nothing displayed, and the message says why."""
    before, figures = bench.status()["round"], bench.figures()
    bench.press_all()
    status = bench.status()
    check.measure("selections", status["round"] - before, rule=rule_id)
    check.measure("figures", len(bench.figures()) - len(figures) + (bench.display() > 0), rule=rule_id)
    check.expect("the message says why", "13:69F-11.17" in status["message"], True)
    check.expect("state", status["state"], "locked")


@rule(f"{BARRED}/set")
def test_set_so(bench: SelectorBench, check: Check) -> None:
    check.stimulus("pai gow poker, with the bonus wagers", after="a round")
    bench.select()
    bench.press("done")
    bench.configure(game=PAI_GOW_POKER, bonus=True)
    selects_nothing(bench, check)
    check.expect("logged", bench.logged()[-1], "configured")


@rule(f"{BARRED}/after-restart")
@pytest.mark.parametrize("how", ["power", "watchdog"])
def test_after_a_restart(bench: SelectorBench, check: Check, how: str) -> None:
    bench.configure(bonus=True)
    check.stimulus("restarted", how=how)
    if how == "power":
        restart(bench)
    else:
        bench.do("restart", how=how)
        bench.board.reconnect()
        bench.start()
    selects_nothing(bench, check)


@rule(f"{BARRED}/after-error")
def test_after_an_error(bench: SelectorBench, check: Check) -> None:
    bench.configure(bonus=True)
    check.stimulus("the service door opened and closed, cleared")
    DOOR.ways["idle"](bench)
    DOOR.end(bench)
    bench.clear()
    selects_nothing(bench, check)


@rule(f"{BARRED}/in-turn")
def test_set_to_and_fro(bench: SelectorBench, check: Check) -> None:
    for game in CLAUSES:
        for bonus in (True, False, True):
            bench.configure(game=game, bonus=bonus)
            check.stimulus("set", game=game, bonus=bonus)
            if game == PAI_GOW_POKER and bonus:
                selects_nothing(bench, check)
            else:
                check.expect(f"selects in {game}, bonus {bonus}", bench.select() in NUMBERS, True)
                bench.press("done")


@rule(FORGOTTEN)
@pytest.mark.parametrize("memory", ["sound", "lost"])
def test_after_a_memory_clear(still: SelectorBench, check: Check, memory: str) -> None:
    check.stimulus("restarted, cleared with authority", memory=memory)
    if memory == "lost":
        for copy in ("a", "b"):
            still.do("damage", copy=copy)
    restart(still)
    check.expect("memory error", "memory_error" in still.status()["standing"], memory == "lost")
    still.commission(TECHNICIAN)
    still.do("meters")
    still.prove("clear_memory", TECHNICIAN, "clear_memory")
    still.clear()
    selects_nothing(still, check)
    still.configure(bonus=False)
    check.expect("selects once it is said", still.select() in NUMBERS, True)


# -- set between rounds

ASKED: dict[str, dict[str, object]] = {
    "the bonus wagers": {"bonus": True},
    "another game": {"game": ASIA_POKER},
    "both": {"game": SUPREME_PAI_GOW, "bonus": True},
    "the same again": {"game": PAI_GOW_POKER, "bonus": False},
}


@rule("NJ-1.13B(f)/set-between-rounds")
@pytest.mark.parametrize("reach", [to_selecting, to_shown], ids=["selecting", "shown"])
def test_set_in_a_round(bench: SelectorBench, check: Check, reach: Callable[[SelectorBench], None]) -> None:
    before = settings(bench)
    for what, asked in ASKED.items():
        reach(bench)
        selected = bench.status()["round"]
        check.stimulus("asked to set", what=what)
        check.expect(f"{what}: answer", refusal(bench.configure, TECHNICIAN, **asked), "refused")
        bench.until("shown", within=SELECT_MS)
        check.expect(f"{what}: the number stays", bench.display() or None, bench.status()["number"])
        check.measure("selections", bench.status()["round"] - selected)
        bench.press("done")
        check.measure("changed", sum(before[name] != value for name, value in settings(bench).items()))
    check.expect("set once it was taken away", refusal(bench.configure, TECHNICIAN, bonus=True), "")


@rule("NJ-1.13B(f)/set-between-rounds")
def test_a_game_that_it_is_not_for(bench: SelectorBench, check: Check) -> None:
    before = settings(bench)
    for asked in ({"game": "pai gow"}, {"game": ""}, {"bonus": 0}, {"bonus": "no"}, {"wagers": True}, {"game": True}):
        check.stimulus("asked to set", **asked)
        check.expect(f"{asked}: answer", refusal(bench.configure, TECHNICIAN, **asked), "refused")
    check.expect("without a proof", refusal(bench.do, "configure", role="technician", set={}, proof=""), "auth")
    check.measure("changed", sum(before[name] != value for name, value in settings(bench).items()))
    check.measure("selections", bench.status()["round"])

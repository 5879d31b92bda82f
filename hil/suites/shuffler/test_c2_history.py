"""13:69E-1.28X(c)2: the history of games played is for who proves a role with the right, and stands nowhere else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pitbench.link import LinkError
from pitbench_hil.access_rights import STRANGER, WRONG, asked_by, told_to_anybody
from pitbench_hil.acts import restart, until_truth
from pitbench_hil.attended_bench import ROLES
from pitbench_hil.authority import refusal
from pitbench_hil.card_search import orders_told
from pitbench_hil.check import Check
from pitbench_hil.marks import images, rule
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.shuffler_common import HISTORY, READERS, READS
from pitbench_hil.shuffler_moves import dealt, to_ready

# A name that stands nowhere by chance for each game, and how it ended.
NAMES = ("first-of-all", "second-game", "third-game")
ENDS = ("dealt", "unloaded", "aborted")
RUNNING = "running-now"
# Orders of these games as far as they were seen, and rows that history has to have.
Played = tuple[list[bytes], list[list[Any]]]


def play(bench: ShufflerBench) -> Played:
    """Three games, dealt to the end, unloaded after a hand, and aborted by a door."""
    orders, rows = [], []
    for number, (name, end) in enumerate(zip(NAMES, ENDS, strict=True), 1):
        bench.configure(game=name)
        bench.do("calendar", set=1_800_000_000 + 1000 * number)
        dealt = len(played_to(bench, end))
        orders.append(bench.tray())
        rows.append([number, name, dealt, end])
        if end == "aborted":
            bench.door("service", is_open=False)
            bench.clear()
            bench.unload()
        bench.do("take")
    return orders, rows


def played_to(bench: ShufflerBench, end: str) -> bytes:
    """One game that ends in this way; returns the cards that were dealt."""
    bench.shuffle()
    if end == "dealt":
        return bench.deal_all()
    bench.press("hand")
    bench.until("ready", within=20_000, step=1000)
    dealt = bench.tray()
    if end == "unloaded":
        bench.press("unload")
        bench.until("idle", within=400_000, step=5000)
    else:
        bench.door("service", is_open=True)
    return dealt


def shown(games: list[list[Any]]) -> list[list[Any]]:
    """Rows of the history without their calendar."""
    return [[number, game, dealt, end] for number, _, game, dealt, end in games]


def given(bench: ShufflerBench, **request: str) -> tuple[str, int]:
    """The error code of a request for the history, and the games that it was given."""
    try:
        return "", len(bench.do("history", **request)["games"])
    except LinkError as error:
        return error.code, 0


@pytest.fixture
def staffed(fresh: ShufflerBench, image_kind: str) -> ShufflerBench:
    """Commissioned; on a bench image it has a history, and who may reads it."""
    fresh.commission()
    if image_kind == "bench":
        fresh.start()
        for _ in NAMES:
            fresh.game()
        assert len(fresh.history()) == len(NAMES)
    return fresh


def expect_refused(bench: ShufflerBench, check: Check, asked: str, code: str, **request: str) -> int:
    check.stimulus("history asked for", how=asked)
    answer, games = given(bench, **request)
    check.expect(f"answer, {asked}", answer, code)
    return games


@rule("NJ-1.28X(c)2/refused/without-proof")
@images("bench", "release")
def test_history_without_a_proof(staffed: ShufflerBench, check: Check) -> None:
    games = 0
    for role in (*ROLES, STRANGER, "nobody"):
        staffed.do("challenge")
        games += expect_refused(staffed, check, f"{role}, an empty proof", "auth", role=role, proof="")
    for args in ({}, {"role": "technician"}, {"proof": "00" * 32}):
        games += expect_refused(staffed, check, f"with {sorted(args)}", "bad_args", **args)
    check.measure("games_given", games)


@rule("NJ-1.28X(c)2/refused/wrong-proof")
@images("bench", "release")
@pytest.mark.parametrize("role", READERS)
def test_history_with_a_wrong_proof(staffed: ShufflerBench, check: Check, role: str) -> None:
    other = next(reader for reader in READERS if reader != role)
    wrong = {
        "by another secret": lambda: staffed.proof(role, "history", WRONG),
        "cut short": lambda: staffed.proof(role, "history")[:-1],
        "made longer": lambda: staffed.proof(role, "history") + "0",
        "of another role": lambda: staffed.proof(other, "history"),
    }
    games = sum(expect_refused(staffed, check, how, "auth", role=role, proof=make()) for how, make in wrong.items())
    check.measure("games_given", games)


@rule("NJ-1.28X(c)2/refused/role-without-right")
@images("bench", "release")
def test_history_for_an_attendant(staffed: ShufflerBench, check: Check) -> None:
    proof = staffed.proof("attendant", "history")
    check.measure("games_given", expect_refused(staffed, check, "attendant", "right", role="attendant", proof=proof))


@rule("NJ-1.28X(c)2/refused/unknown-role")
@images("bench", "release")
@pytest.mark.parametrize("role", [STRANGER, "", "Technician", "technician ", "regulator|history"])
def test_history_for_a_role_never_commissioned(staffed: ShufflerBench, check: Check, role: str) -> None:
    code = "bad_args" if role == "" else "auth"
    proof = staffed.proof(role, "history", WRONG)
    check.measure("games_given", expect_refused(staffed, check, repr(role), code, role=role, proof=proof))


@rule("NJ-1.28X(c)2/refused/uncommissioned")
@images("bench", "release")
def test_history_on_a_board_that_nobody_commissioned(fresh: ShufflerBench, check: Check, image_kind: str) -> None:
    if image_kind == "bench":
        fresh.start()
        fresh.game()
    games = 0
    for role in (*ROLES, STRANGER):
        for how, secret in (("its bench's secret", None), ("another", WRONG)):
            check.stimulus("history asked for", role=role, secret=how)
            answer, told = given(fresh, role=role, proof=fresh.proof(role, "history", secret or "a0" * 16))
            check.expect(f"{role}, {how}", answer, "auth")
            games += told
    check.measure("games_given", games)


@rule("NJ-1.28X(c)2/given-to-the-right-role")
def test_history_for_who_has_the_right(bench: ShufflerBench, check: Check) -> None:
    bench.commission()
    _, rows = play(bench)
    check.stimulus("history asked for by each role with the right, before and after a restart")
    for when in ("at once", "after a restart"):
        for role in READERS:
            games = bench.history(role)
            check.expect(f"games, {role}, {when}", shown(games), rows)
            check.measure("games_missing", sum(row not in shown(games) for row in rows))
            calendars = [row[1] for row in games]
            check.expect("each later than the one before", calendars, sorted(set(calendars)))
        bench.power_cycle()
        bench.start()


@rule("NJ-1.28X(c)2/given-to-the-right-role")
@pytest.mark.parametrize("cards", [1, 3, 5])
def test_history_of_a_game_that_a_power_cut_ended(still: ShufflerBench, check: Check, cards: int) -> None:
    still.commission()
    still.game()
    to_ready(still)
    check.stimulus("power cut in a hand, so many cards on the table", cards=cards)
    still.do("press", button="hand")
    until_truth(still, lambda truth: dealt(truth) == cards)
    restart(still)
    games = shown(still.history())
    check.note("history", games=games)
    wanted = [[1, "blackjack", 52, "dealt"], [2, "blackjack", cards, "aborted"]]
    check.measure("games_missing", sum(row not in games for row in wanted))


@rule("NJ-1.28X(c)2/games-played-only")
def test_history_tells_nothing_of_the_running_game_and_no_card(bench: ShufflerBench, check: Check) -> None:
    bench.commission()
    orders, rows = play(bench)
    bench.configure(game=RUNNING)
    told = []
    check.stimulus("history asked for while a game runs, by each role with the right")
    bench.shuffle()
    for role in READERS:
        told.append(bench.history(role))
        bench.press("hand")
        bench.until("ready", within=20_000, step=1000)
    told.append(bench.history())
    check.expect("cards dealt meanwhile", len(bench.tray()), 10)
    check.measure("running_games_given", sum(len(games) - len(rows) for games in told))
    check.expect("the game's name told", RUNNING in json.dumps(told), False)
    orders.append(bench.deal_all())
    told.append(bench.history())
    check.measure("cards_told", orders_told([json.dumps(games) for games in told], orders))


@rule("NJ-1.28X(c)2/no-way-round")
def test_nothing_that_takes_no_proof_tells_the_history(bench: ShufflerBench, check: Check) -> None:
    bench.commission()
    before = len(bench.log())
    orders, _ = play(bench)
    bench.configure(game=RUNNING)
    check.stimulus("all read that takes no proof, three games played, a fourth dealt in part")
    bench.shuffle()
    bench.press("hand")
    bench.until("ready", within=20_000, step=1000)
    told = told_to_anybody(bench, READS)
    expected = ["configured"] * 4 + ["service_door", "service_door_closed", "service_door_cleared"]
    logged = [entry[4] for entry in bench.log()[before:]]
    check.note("read", **{name: f"{len(text)} letters" for name, text in told.items()})
    orders.append(bench.deal_all())
    by_op = {name: [game for game in NAMES if game in text] for name, text in told.items()}
    check.note("games told", **{name: games for name, games in by_op.items() if games})
    check.measure("games_told", sum(map(len, by_op.values())))
    check.measure("cards_told", orders_told(told.values(), orders))
    check.measure("entries_of_games", sum(what not in expected for what in logged))
    check.note("logged", entries=logged)


@rule("NJ-1.28X(c)2/refused/without-proof")
@images("bench", "release")
def test_no_other_operation_gives_it(staffed: ShufflerBench, check: Check) -> None:
    answers = {op: refusal(staffed.do, op) for op in ("games", "game", "recall", "last_games", "replay", "hands")}
    for op, answer in answers.items():
        check.expect(op, answer, "unknown_op")
    check.expect("for who may", asked_by(staffed, HISTORY, "regulator"), "")
    check.measure("games_given", list(answers.values()).count(""))

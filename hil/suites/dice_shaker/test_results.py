"""13:69E-1.28G(c)1, 1.15(a)8: what is shown is what both readers read, of this shake, and nothing is guessed."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from pitbench_hil.check import Check
from pitbench_hil.comparing import differing
from pitbench_hil.dice_moves import ROUND, UNREAD
from pitbench_hil.dice_shaker import REST_MS, ROUND_MS, DiceBench
from pitbench_hil.marks import rule
from pitbench_hil.run import Run

CLAUSE = "NJ-1.28G(c)1"
GUESS = f"{CLAUSE}/no-guess"
WAIT_MS = 60_000
LOOK_MS = 40
# By the first die: a game for each.
IN_GAMES = ("mini-dice", "sic bo", "pai gow", "pai gow poker", "asia poker", "supreme pai gow", "sic bo")
# What the lower reader alone can't tell.
LOWER_READER: dict[str, tuple[dict[str, Any], ...]] = {"leaning": ({"above": "354", "below": "420"},)}
# The same of two dice.
OF_TWO: dict[str, dict[str, Any]] = {
    "leaning": {"above": "60"},
    "stacked": {"above": "6", "below": "11"},
    "unsure": {"above": "66", "sure": 89},
}
READS = ("status", "heap", "rounds", "dice", "log", "table", "meters", "post")


def words(faces: tuple[int, ...]) -> str:
    return " ".join(map(str, faces))


@pytest.mark.parametrize("first", range(7))
@rule(f"{CLAUSE}/result-is-the-reading", "NJ-1.28G(c)2/no-void-without-fault")
def test_every_outcome_is_shown_as_it_was_read(still: DiceBench, check: Check, run: Run, first: int) -> None:
    """Those of three dice with that first face; at 0 those of two."""
    settings = {"game": IN_GAMES[first], "table": f"T {first}", "tries": 1 + first % 5, "host": 0}
    still.ready(**settings)
    if first % 2:
        still.power_cycle()
        still.start()
    check.stimulus("outcomes in a game, each known before", **settings, restarted=bool(first % 2))
    others = list(itertools.product(range(1, 7), repeat=2))
    every = [(first, *pair) for pair in others] if first else others
    wrong = 0
    tried = run.few(every)
    for faces in tried:
        status = still.shake(faces)
        told = still.events()[-1]
        seen = (status["faces"], status["message"], told[2:], still.rounds()[-1][2::2])
        right = (list(faces), f"Result {words(faces)}", ["result", words(faces)], [words(faces), "result"])
        if seen != right:
            check.note("another result", faces=faces, seen=list(seen))
            wrong += 1
        still.next()
    check.measure("wrong_results", wrong)
    voids = sum(value for name, value in still.do("meters").items() if name.startswith("void_"))
    check.measure("void_without_fault", voids)
    check.note("outcomes", of_dice=3 if first else 2, tried=len(tried))


@rule(f"{CLAUSE}/result-is-the-reading")
def test_after_a_recall_the_round_is_shown_as_its_own(bench: DiceBench, check: Check) -> None:
    """What is on the display is what is played: a round that was recalled makes way for the next."""
    bench.shake("354")
    bench.next()
    bench.press("recall")
    check.expect("recalled", bench.status()["message"].startswith("Round 1,"), True)
    check.stimulus("shaken while an earlier round is recalled")
    bench.lie("261")
    bench.do("press", button="shake")
    said = []
    for moment in (*ROUND, "shown"):
        said.append(bench.until(moment, within=ROUND_MS + REST_MS, step=20)["message"])
    check.note("messages", said=said)
    check.measure("wrong_results", sum(message.startswith("Round") for message in said) + (said[-1] != "Result 2 6 1"))


@rule(f"{CLAUSE}/nothing-before-rest")
def test_two_rounds_that_differ_only_in_their_dice(still: DiceBench, check: Check) -> None:
    told = {}
    for faces in ("354", "666"):
        check.stimulus("a round whose dice will lie so", faces=faces)
        told[faces] = until_the_result(still, faces)
    one, other = told.values()
    different = [place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]
    check.note("first difference", at=different[:1], answers=[one[n] for n in different[:1]])
    check.measure("differences", differing(one, other))
    check.measure("looks", len(one))


def until_the_result(bench: DiceBench, faces: str) -> list[str]:
    """Everything that a new board says, look by look, until it shows the result."""
    bench.board.start_over()
    bench.ready()
    bench.lie(faces)
    bench.do("press", button="shake")
    looks: list[str] = []
    while (answers := everything(bench))["status"]["state"] != "shown":
        looks.append(json.dumps(answers, sort_keys=True))
        bench.advance(LOOK_MS)
    return looks


def everything(bench: DiceBench) -> dict[str, Any]:
    return {op: bench.do(op) for op in READS} | {"events": bench.events()}


def no_result(bench: DiceBench, check: Check, **reading: Any) -> int:
    """Results of a round whose shakes all end so."""
    before = len(bench.results())
    for _ in range(3):
        bench.lie(**reading)
    check.stimulus("a round whose dice lie so", **reading)
    bench.do("press", button="shake")
    bench.advance(WAIT_MS // 4)
    shown = bench.status()
    check.expect("attendant called", shown["standing"], ["no_result"])
    bench.clear()
    return len(bench.results()) - before + (shown["faces"] is not None)


def at_each_die(reading: dict[str, Any]) -> list[dict[str, Any]]:
    """The same with the die in question at each place; where all are, as it is."""
    above, below = reading["above"], reading.get("below")
    turns = range(len(above)) if "0" in above else (0,)
    return [{**reading, "above": above[n:] + above[:n], **({"below": below} if below else {})} for n in turns]


@pytest.mark.parametrize("how", [pytest.param(how, marks=rule(f"{GUESS}/{how}")) for how in UNREAD])
def test_what_is_not_surely_read_has_no_face(still: DiceBench, check: Check, how: str) -> None:
    results = readings = 0
    still.ready()
    for reading in at_each_die(UNREAD[how]):
        results += no_result(still, check, **reading)
        readings += 1
    for sure in (0, 50, 89, [99, 99, 80], [99, 80, 99], [80, 99, 99]):
        results += no_result(still, check, above="126", sure=sure)
        readings += 1
    check.stimulus("the same after a restart")
    still.power_cycle()
    still.start()
    for reading in (UNREAD[how], *LOWER_READER.get(how, ())):
        results += no_result(still, check, **reading)
    still.board.start_over()
    still.ready(game="mini-dice")
    results += no_result(still, check, **OF_TWO[how])
    readings += 1
    check.measure("results", results)
    check.note("readings", tried=readings)


@pytest.mark.parametrize("game", ["sic bo", "mini-dice"])
@rule(f"{GUESS}/moved")
def test_moved_while_they_are_read(still: DiceBench, check: Check, game: str) -> None:
    still.ready(game=game)
    results, knocks = 0, 0
    for moment in (0, 20, 40, 60):
        still.do("press", button="shake")
        for _ in range(3):
            still.until("reading", within=6000, step=10)
            still.advance(moment)
            check.stimulus("knocked", ms_into_the_reading=moment)
            still.do("knock")
            knocks += 1
        still.advance(100)
        check.expect("attendant called", still.status()["standing"], ["no_result"])
        results += len(still.results())
        still.clear()
    check.measure("results", results)
    check.note("knocks", tried=knocks)


@rule(f"{GUESS}/restless")
def test_never_at_rest(bench: DiceBench, check: Check) -> None:
    bench.do("break", part="rest")
    check.stimulus("dice that never rest")
    bench.press("shake")
    bench.advance(WAIT_MS)
    check.measure("results", len(bench.results()))
    check.expect("attendant called", bench.status()["standing"], ["no_result"])


@rule(f"{GUESS}/restless")
def test_sensor_of_rest_that_sticks(bench: DiceBench, check: Check) -> None:
    bench.do("break", part="still")
    check.stimulus("the sensor of rest says always that they lie")
    bench.press("shake")
    bench.advance(WAIT_MS // 4)
    check.measure("results", len(bench.results()))
    check.expect("stopped", bench.status()["standing"], ["rest_unseen"])


@pytest.mark.parametrize("part", ["look", "reader_above", "reader_below"])
@rule(f"{GUESS}/blind")
def test_readers_that_see_nothing(bench: DiceBench, check: Check, part: str) -> None:
    bench.do("break", part=part)
    check.stimulus("a blind reader", part=part)
    bench.press("shake")
    bench.advance(WAIT_MS)
    check.measure("results", len(bench.results()))
    check.expect("stopped", bench.status()["standing"], ["reader_failed"])


@pytest.mark.parametrize("top", range(1, 7))
@rule("NJ-1.15(a)8/impossible-die")
def test_opposite_sides_make_seven(still: DiceBench, check: Check, run: Run, top: int) -> None:
    still.ready()
    results = 0
    wrong = [(bottom, place) for bottom in range(1, 7) if top + bottom != 7 for place in range(3)]
    for bottom, place in run.few(wrong):
        above, below = list("354"), list("423")
        above[place], below[place] = str(top), str(bottom)
        check.stimulus("a die whose opposite sides don't make seven", top=top, bottom=bottom, place=place)
        status = still.shake("".join(above), below="".join(below))
        results += len(still.results())
        check.expect("stopped, and by name", status["standing"], ["die_impossible"])
        still.clear()
        check.expect("cleared with the same dice", still.status()["standing"], ["die_impossible"])
        still.exchange()
    check.measure("results", results)


@rule("NJ-1.15(a)8/impossible-die")
def test_an_impossible_die_is_found_in_its_first_round(still: DiceBench, check: Check) -> None:
    still.ready("ffi")
    check.stimulus("a die with two sixes, opposite each other")
    still.shake()
    check.expect("stopped", still.status()["standing"], ["die_impossible"])
    check.measure("results", len(still.results()))


@pytest.mark.parametrize("how", ["nothing read", "motor stands", "power cut", "void"])
@rule(f"{CLAUSE}/new-reading")
def test_the_last_reading_is_no_result(bench: DiceBench, check: Check, how: str) -> None:
    bench.shake("354")
    bench.next()
    check.stimulus("a round without a reading of its own, after a good one", how=how)
    if how == "void":
        for _ in range(3):
            bench.lie("304")
    elif how != "power cut":
        bench.do("break", part="look" if how == "nothing read" else "shaker")
    bench.do("press", button="shake")
    if how == "power cut":
        bench.advance(1500)
        bench.power_cycle()
    bench.advance(WAIT_MS // 4)
    check.expect("nothing is shown", bench.status()["faces"], None)
    check.measure("results", len(bench.results()) - 1)


@rule(f"{CLAUSE}/new-reading")
def test_two_alike_are_two_rounds(bench: DiceBench, check: Check) -> None:
    check.stimulus("the same dice in two rounds")
    for _ in range(2):
        bench.shake("354")
        bench.next()
    check.expect("rounds", [row[0:3:2] for row in bench.rounds()], [[1, "3 5 4"], [2, "3 5 4"]])
    check.measure("results", len(bench.results()) - 2)

"""13:69E-1.16(f), 1.16A(b), as a house profile: who fills it, who inspects it, what was found."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench.link import LinkError
from pitbench.proof import asked
from pitbench_hil.acts import NOON
from pitbench_hil.attended_bench import TECHNICIAN
from pitbench_hil.authority import refusal
from pitbench_hil.check import Check
from pitbench_hil.dice_shaker import ATTENDANT, BOSS, PEOPLE, DiceBench, words_of
from pitbench_hil.marks import rule

ALONE: dict[str, dict[str, str]] = {
    "one person twice": {"witness": PEOPLE["who"], "witness_licence": PEOPLE["licence"]},
    "one name twice": {"witness": PEOPLE["who"]},
    "one licence twice": {"witness_licence": PEOPLE["licence"]},
    "one person, written otherwise": {"witness": PEOPLE["who"].upper() + " "},
    "one licence, written otherwise": {"witness_licence": PEOPLE["licence"].lower()},
    **{f"no {word}": {word: ""} for word in ("who", "licence", "witness", "witness_licence")},
}


@pytest.fixture
def empty(still: DiceBench) -> DiceBench:
    """Staffed, three dice in, nobody answers for them."""
    still.staffed(table="SB-7")
    still.place("fff")
    return still


@pytest.mark.parametrize("how", ALONE)
@rule("HOUSE-fill-by-two")
def test_nobody_fills_it_alone(empty: DiceBench, check: Check, how: str) -> None:
    check.stimulus("asked to fill it", how=how)
    check.expect("refused", empty.refused_fill(**ALONE[how]), "refused")
    check.measure("filled", int(empty.status()["filled"]))


@rule("HOUSE-fill-by-two")
def test_nobody_fills_it_without_proof(empty: DiceBench, check: Check) -> None:
    given: dict[str, Any] = {"people": words_of(PEOPLE)}
    words = asked("fill", given)
    tries = {
        "no proof": "",
        "another secret": empty.proof(ATTENDANT, words, "99" * 32),
        "of another request": empty.proof(ATTENDANT, "fill"),
        "of other persons": empty.proof(ATTENDANT, asked("fill", {"people": words_of({**PEOPLE, "who": "C. Other"})})),
    }
    for how, proof in tries.items():
        check.stimulus("asked to fill it", proof=how)
        check.expect(f"refused, {how}", refusal(empty.do, "fill", role=ATTENDANT, proof=proof, **given), "auth")
    check.measure("filled", int(empty.status()["filled"]))


@rule("HOUSE-fill-by-two")
def test_both_are_on_the_log(empty: DiceBench, check: Check) -> None:
    check.stimulus("filled by two", **PEOPLE)
    check.expect("filled", empty.fill()["state"], "idle")
    lines = [entry[5] for entry in empty.log() if entry[4] == "filled"]
    check.expect("on the log", lines, ["A. Floor L-4711, B. Dealer L-815"])
    record = empty.do("dice")["filled"]
    check.expect("who answers for them", {name: record[name] for name in PEOPLE}, PEOPLE)
    check.measure("filled", sum(line.count(", ") != 1 for line in lines))


@rule("HOUSE-inspection")
def test_inspected_before_it_is_filled_again(empty: DiceBench, check: Check) -> None:
    empty.fill()
    empty.shake("354")
    empty.take()
    empty.clear()
    empty.place("fff")
    check.stimulus("used, emptied, asked to fill it again")
    check.measure("filled", int(not empty.refused_fill()))
    with_proof = empty.proof(ATTENDANT, "inspect|x|y|")
    check.expect("an inspection bent to other words", refusal(
        empty.do, "inspect", role=ATTENDANT, **BOSS, found="", proof=with_proof), "auth")  # fmt: skip
    empty.inspect()
    check.expect("inspected", empty.refused_fill(), "")
    lines = [entry[5] for entry in empty.log() if entry[4] == "inspected"]
    check.expect("on the log", lines, ["P. Boss L-99"])


@rule("HOUSE-inspection")
def test_a_cleared_memory_knows_of_no_inspection(empty: DiceBench, check: Check) -> None:
    empty.do("meters")
    check.stimulus("memory cleared with dice in that nobody answers for, asked to fill it")
    empty.prove("clear_memory", TECHNICIAN, "clear_memory")
    check.measure("filled", int(not empty.refused_fill()))
    empty.inspect()
    check.expect("inspected", empty.refused_fill(), "")


@rule("HOUSE-inspection")
def test_an_inspection_of_dice_that_stay_is_not_the_last_one(empty: DiceBench, check: Check) -> None:
    empty.fill()
    check.stimulus("inspected at once, used, emptied, asked to fill it again")
    empty.inspect()
    empty.shake("354")
    empty.take()
    empty.clear()
    empty.place("fff")
    check.measure("filled", int(not empty.refused_fill()))


@pytest.mark.parametrize("calendar", [NOON, None])
@rule("HOUSE-tamper-report")
def test_tampering_is_reported(empty: DiceBench, check: Check, calendar: int | None) -> None:
    empty.fill()
    empty.do("calendar", set=calendar)
    check.stimulus("inspected, with something found", calendar=calendar)
    empty.inspect("shaved corner")
    right = {"when": calendar, "table": "SB-7", **BOSS, "found": "shaved corner"}
    expect_report(empty, check, right)
    stopped = empty.status()
    check.expect(
        "locked out", [stopped["state"], stopped["light"], stopped["standing"]], ["error", "red", ["tampered"]]
    )
    empty.press("shake")
    empty.advance(3000)
    empty.clear()
    check.expect("cleared with the dice in", empty.status()["standing"], ["tampered"])
    empty.power_cycle()
    empty.advance(2000)
    expect_report(empty, check, right)
    empty.take()
    empty.clear()
    empty.inspect()
    expect_report(empty, check, right)
    check.stimulus("memory cleared")
    empty.do("meters")
    empty.prove("clear_memory", TECHNICIAN, "clear_memory")
    expect_report(empty, check, right)
    check.measure("results", len(empty.results()))


def expect_report(bench: DiceBench, check: Check, right: dict[str, Any]) -> None:
    try:
        report = bench.prove("tamper_report", ATTENDANT, "tamper_report")
    except LinkError as error:
        check.note("no report", why=error.why)
        report = {}
    check.measure("missing_fields", len(right.keys() - report.keys()))
    wrong = [name for name in right if name in report and not alike(report[name], right[name])]
    check.note("report", fields=report, wrong=wrong)
    check.measure("wrong_fields", len(wrong))


def alike(found: Any, right: Any) -> bool:
    """Times to the second or two that a request takes."""
    return 0 <= found - right <= 2 if isinstance(right, int) and isinstance(found, int) else found == right


@rule("HOUSE-tamper-report")
def test_what_was_found_in_an_empty_shaker_stands_too(empty: DiceBench, check: Check) -> None:
    check.stimulus("something found before it is filled, cleared with the key, filled")
    empty.inspect("shaved corner")
    expect_report(empty, check, {"table": "SB-7", **BOSS, "found": "shaved corner"})
    empty.clear()
    check.expect("cleared with the dice in", empty.status()["standing"], ["tampered"])
    empty.take()
    empty.clear()
    empty.place("fff")
    check.expect("filled without another inspection", empty.refused_fill(), "refused")
    check.measure("results", len(empty.results()))


@rule("HOUSE-tamper-report-protected")
def test_nobody_reads_it_without_proof(empty: DiceBench, check: Check) -> None:
    empty.let_in("clerk")
    empty.inspect("shaved corner")
    check.stimulus("the report asked for")
    codes = {
        "without a proof": refusal(empty.do, "tamper_report", role=ATTENDANT, proof=""),
        "by a role without the right": refusal(
            empty.do, "tamper_report", role="clerk", proof=empty.proof("clerk", "tamper_report", "d3" * 16)
        ),
    }
    check.expect("refused", codes, {"without a proof": "auth", "by a role without the right": "right"})
    check.measure("read", list(codes.values()).count(""))

"""13:69E-1.28X(c)1: nothing that a shuffler tells depends on which card is where."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pitbench_hil.check import Check
from pitbench_hil.comparing import differing
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.shuffler_outputs import Told, at_other_times, different, jam, play, recycle

CLAUSE = "NJ-1.28X(c)1"
PHASES = ("shuffling", "ready", "rest", "dealt-face-down", "unloading")
PLAYED = ("shuffling", "ready", "dealt-face-down", "rest")
OPS = ("status", "post", "meters", "receipt", "events", "log", "wire")
# Another order: red and black, high and low change places.
OTHER = bytes(card * 23 % 52 for card in reversed(DECK))


@rule(*(f"{CLAUSE}/no-information/{phase}" for phase in PHASES), f"{CLAUSE}/no-login-opens-the-running-game")
def test_output_does_not_depend_on_the_order_that_went_in(still: ShufflerBench, check: Check) -> None:
    runs = []
    for cards in (DECK, OTHER):
        check.stimulus("a game with the same raw words, clock and buttons", cards=cards.hex())
        runs.append(play(still, cards, "words"))
        check.expect("unloaded", (still.status()["state"], still.truth()["rack"]), ("idle", 0))
    one, other = runs
    for phase in PHASES:
        compare(check, one, other, phase)
    told = [moment for moment, given in one.rights.items() if given != other.rights[moment]]
    check.note("given to roles", moments=sorted(one.rights), differ=told)
    check.measure("cards_told", len(told), rule=f"{CLAUSE}/no-login-opens-the-running-game")


def compare(check: Check, one: Told, other: Told, phase: str) -> None:
    """What two runs told in a phase."""
    name = f"{CLAUSE}/no-information/{phase}"
    a, b = one.phases[phase], other.phases[phase]
    check.measure("different_outputs", different(a, b), rule=name)
    check.measure("outputs_at_other_times", at_other_times(a, b), rule=name)
    check.measure("outputs", min(len(a), len(b)), rule=name)
    check.note(
        "first that differ", phase=phase, pairs=[(x.text, y.text) for x, y in zip(a, b, strict=False) if x != y][:2]
    )


@pytest.mark.parametrize(
    ("phase", "play_it"),
    [
        pytest.param("recycling", recycle, marks=rule(f"{CLAUSE}/no-information/recycling"), id="recycling"),
        pytest.param("fault", jam, marks=rule(f"{CLAUSE}/no-information/fault"), id="fault"),
    ],
)
@needs("access")
def test_nor_while_cards_come_back_or_one_is_stuck(
    still: ShufflerBench, check: Check, phase: str, play_it: Callable[[ShufflerBench, bytes, str], Told]
) -> None:
    runs = []
    for cards in (DECK, OTHER):
        check.stimulus("a game with the same raw words, clock and buttons", phase=phase, cards=cards.hex())
        runs.append(play_it(still, cards, "words"))
    check.expect("ends", still.status()["state"], {"recycling": "ready", "fault": "error"}[phase])
    compare(check, *runs, phase)


@rule(f"{CLAUSE}/no-places")
def test_output_does_not_depend_on_the_places_that_were_drawn(still: ShufflerBench, check: Check) -> None:
    runs = []
    for words in ("some", "others"):
        check.stimulus("a game with the same deck and other raw words", words=words)
        runs.append(play(still, DECK, words, unload=False))
    unlike = outputs = 0
    for op in OPS:
        one, other = (run.sequence(op, PLAYED) for run in runs)
        found = differing(one, other)
        unlike += found
        outputs += min(len(one), len(other))
        check.note("sequence", op=op, outputs=len(one), differ=found)
    check.measure("different_outputs", unlike)
    check.measure("outputs", outputs)

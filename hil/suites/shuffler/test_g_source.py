"""13:69E-1.28G(b)2: without a sound source there is no shuffle."""

from __future__ import annotations

import pytest
from pitbench_hil.attended_bench import OWN_NOISE, START_MS
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.source_checks import (
    LATEST,
    fails_at_the_start,
    fails_between_games,
    said_to_be_unavailable,
    spoiled,
)

# -- (b)2

WAYS = [pytest.param(how, marks=rule(f"NJ-1.28G(b)2/no-source-no-shuffle/{how}")) for how in LATEST]


def pressed(bench: ShufflerBench, check: Check) -> None:
    """Load, press start: no card may move, and the machine has to say why."""
    nothing_moved(bench, check)
    said_to_be_unavailable(bench, check)


def nothing_moved(bench: ShufflerBench, check: Check) -> None:
    """Load, press start: no card may move."""
    shuffles, moved = started(bench)
    check.measure("shuffles", shuffles)
    check.measure("cards_moved", moved)


def shuffles_again(bench: ShufflerBench, check: Check) -> None:
    """With a sound source, and cleared with the key."""
    bench.clear()
    bench.press("start")
    ended = bench.until("ready", "error", within=60_000, step=1000)
    check.expect("state with a sound source again", ended["state"], "ready")


def started(bench: ShufflerBench) -> tuple[int, int]:
    """Load, press start: games that began, cards that moved."""
    before, cards = bench.status()["games"], bench.truth()["hopper"]
    bench.load(DECK)
    bench.press("start")
    bench.advance(START_MS)
    return bench.status()["games"] - before, cards + len(DECK) - bench.truth()["hopper"]


@rule("HOUSE-known-answer")
def test_a_generator_that_computes_wrongly(bench: ShufflerBench, check: Check) -> None:
    spoiled(bench, check)
    nothing_moved(bench, check)


@pytest.mark.parametrize("how", WAYS)
def test_source_that_fails_between_games(fresh: ShufflerBench, check: Check, how: str) -> None:
    fails_between_games(fresh, check, how)
    pressed(fresh, check)
    # A source that failed once isn't trusted again before a restart.
    fresh.restart_with(OWN_NOISE)
    fresh.advance(START_MS)
    shuffles_again(fresh, check)


@pytest.mark.parametrize("how", WAYS)
def test_source_that_fails_at_the_start(fresh: ShufflerBench, check: Check, how: str) -> None:
    fails_at_the_start(fresh, check, how)
    pressed(fresh, check)
    check.stimulus("cleared with the key, the source as it is")
    fresh.clear()
    pressed(fresh, check)

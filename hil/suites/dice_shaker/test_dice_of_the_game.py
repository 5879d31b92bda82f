"""13:69E-1.13A to W, 1.16(f): the game's dice, and no other number of them."""

from __future__ import annotations

from typing import Any

import pytest
from pitbench_hil.check import Check
from pitbench_hil.dice_shaker import GAMES, DiceBench
from pitbench_hil.marks import rule

CLAUSES = {
    "sic bo": "NJ-1.13A(d)1i",
    "mini-dice": "NJ-1.13I(d)1",
    "automated craps": "NJ-1.16(f)1iii(3)",
    "pai gow": "NJ-1.13C(d)1",
    "pai gow poker": "NJ-1.13B(e)1",
    "asia poker": "NJ-1.13T(d)1",
    "supreme pai gow": "NJ-1.13W(d)1",
}
MOST = 5


def locked_out(bench: DiceBench, status: dict[str, Any]) -> bool:
    """Whether it stands in the error that names it, and a shake does nothing."""
    turned = bench.truth()["turned"]
    bench.press("shake")
    bench.advance(3000)
    named = status["standing"] == ["dice_wrong"] and "number of dice" in status["message"]
    return named and not bench.results() and bench.truth()["turned"] == turned


@pytest.mark.parametrize("game", [pytest.param(game, marks=rule(f"{CLAUSES[game]}/dice")) for game in GAMES])
def test_any_other_number_is_locked_out(still: DiceBench, check: Check, game: str) -> None:
    still.staffed(game=game)
    not_locked_out = 0
    for count in (number for number in range(MOST + 1) if number != GAMES[game]):
        check.stimulus("filled", game=game, dice=count)
        not_locked_out += not locked_out(still, still.exchange("f" * count))
    check.measure("not_locked_out", not_locked_out)
    check.stimulus("filled", game=game, dice=GAMES[game])
    check.expect("with the game's dice", still.exchange("f" * GAMES[game])["state"], "idle")
    check.expect("faces of a result", len(still.shake()["faces"] or ()), GAMES[game])


@pytest.mark.parametrize("game", [pytest.param(game, marks=rule(f"{CLAUSES[game]}/dice")) for game in GAMES])
@pytest.mark.parametrize("seen", ["one less", "one more"])
def test_a_die_gone_or_one_more_in_a_round(still: DiceBench, check: Check, game: str, seen: str) -> None:
    still.ready(game=game)
    count = GAMES[game] + (1 if seen == "one more" else -1)
    check.stimulus("a round whose readers see another number", game=game, dice=count)
    status = still.shake("6" * count)
    check.measure("not_locked_out", int(not locked_out(still, status)))

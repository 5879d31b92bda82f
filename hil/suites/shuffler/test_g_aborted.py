"""13:69E-1.28G(c)3, 1.28X(a): what wasn't shuffled to the end is never called shuffled, and no card of it is lost."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import pytest
from pitbench.link import LinkError
from pitbench_hil.acts import afresh, restart, until_truth
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.marks import rule
from pitbench_hil.power_watch import until_power_goes
from pitbench_hil.shuffler import DECK, RECEIPT, ShufflerBench

NOT_CALLED, WHOLE = "NJ-1.28G(c)3/not-called-shuffled", "NJ-1.28X(a)/whole-deck"
# Cards in the rack when a shuffle ends: none, some, all but the last.
CARDS = (0, 3, 20, 37, 51)
SHUFFLE_MS = 30_000
# A card takes twice as long at least.
LOOK_MS = 60


def begun(bench: ShufflerBench, cards: int) -> None:
    """So many cards into a shuffle, the next one on its way."""
    bench.load(DECK)
    bench.do("press", button="start")
    bench.advance(130)
    until_truth(bench, lambda truth: truth["rack"] >= cards, within=SHUFFLE_MS, step=LOOK_MS)


def false_reports(bench: ShufflerBench) -> list[str]:
    """What calls the cards shuffled."""
    status = bench.status()
    said = [f"state {status['state']}"] if status["state"] in ("ready", "dealing") else []
    said += [f"message '{status['message']}'"] if "ready" in status["message"].lower() else []
    said += ["light green with cards inside"] if status["light"] == "green" and _inside(bench) else []
    said += ["event"] if "ready" in bench.told() else []
    said += ["log"] if "shuffled" in bench.logged() else []
    with suppress(LinkError):
        said += ["receipt"] if bench.do("receipt", **RECEIPT)["shuffled"] else []
    return said


def _inside(bench: ShufflerBench) -> int:
    truth = bench.truth()
    return truth["rack"] + truth["gate"] + truth["exit"]


def judged(bench: ShufflerBench, check: Check, part: str) -> None:
    """After the end of a shuffle: attend to it, try to deal, unload; what was said, what came out."""
    name = f"{NOT_CALLED}/{part}"
    said = false_reports(bench)
    bench.clear()
    said += false_reports(bench)
    for button in ("deal", "hand"):
        bench.press(button)
        bench.advance(3000)
    check.note("called shuffled by", said=said)
    check.measure("false_reports", len(said), rule=name)
    check.measure("cards_dealt", len(bench.tray()), rule=name)
    came_out_whole(bench, check)


def came_out_whole(bench: ShufflerBench, check: Check) -> None:
    """Unload: tray and hopper hold the deck, and nothing else does."""
    if bench.status()["state"] == "error":
        bench.clear()
    if bench.status()["state"] in ("spoiled", "ready"):
        bench.press("unload")
        bench.until("idle", "error", within=400_000, step=5000)
    truth = bench.truth()
    check.expect("state after unloading", bench.status()["state"], "idle", rule=WHOLE)
    tray = Counter(bytes.fromhex(truth["tray"]))
    # Which cards lie in the hopper or were taken out by hand the plant doesn't tell: only how many.
    different = (tray - Counter(DECK)).total() + abs(len(DECK) - tray.total() - truth["hopper"] - truth["taken"])
    check.measure("different_cards", different, rule=WHOLE)
    check.measure("cards_left_behind", _inside(bench), rule=WHOLE)


def right_or_unknown(bench: ShufflerBench, check: Check) -> None:
    """How many cards are inside is said rightly, or not at all."""
    said = bench.status()["inside"]
    check.note("cards inside", said=said, there=_inside(bench))
    check.expect("right, or unknown", said in (None, _inside(bench)), True, rule=WHOLE)


def cleared_by_hand(bench: ShufflerBench) -> None:
    """What stands in the path is taken out, through the door."""
    bench.door("service", is_open=True)
    bench.do("clear_path")
    bench.door("service", is_open=False)
    bench.advance()


@rule(WHOLE)
def test_a_deck_that_is_dealt(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("shuffled, dealt")
    bench.shuffle()
    bench.deal_all()
    came_out_whole(bench, check)


@rule(f"{NOT_CALLED}/opened", WHOLE)
@pytest.mark.parametrize("which", ["service", "shroud"])
def test_opened(bench: ShufflerBench, check: Check, which: str) -> None:
    for cards in CARDS[which == "shroud" :: 2]:
        begun(bench, cards)
        check.stimulus("opened and closed", which=which, cards_in_the_rack=cards)
        bench.door(which, is_open=True)
        bench.advance()
        bench.door(which, is_open=False)
        bench.advance()
        judged(bench, check, "opened")
        afresh(bench)


FAULTS = {"feed": "stall", "rack": "stall", "insert": "stall", "camera": "dead"}


@rule(f"{NOT_CALLED}/error", WHOLE)
@pytest.mark.parametrize("part", FAULTS)
def test_error(bench: ShufflerBench, check: Check, part: str) -> None:
    begun(bench, 15)
    check.stimulus("a part breaks, and is mended", part=part, how=FAULTS[part])
    bench.do("break", part=part, how=FAULTS[part])
    with check.duty("goes into an error", Unreached):
        bench.until("error", within=8000)
    bench.do("mend", part=part)
    cleared_by_hand(bench)
    judged(bench, check, "error")


@rule(f"{NOT_CALLED}/error", WHOLE)
def test_a_card_too_few(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("51 cards shuffled")
    bench.shuffle(DECK[:-1])
    bench.load(DECK[-1:])
    judged(bench, check, "error")


@rule(f"{NOT_CALLED}/power-cut", WHOLE)
def test_power_cut(bench: ShufflerBench, check: Check) -> None:
    for cards in CARDS:
        begun(bench, cards)
        check.stimulus("power cut", cards_in_the_rack=cards)
        restart(bench)
        right_or_unknown(bench, check)
        judged(bench, check, "power-cut")
        afresh(bench)


@rule(WHOLE)
def test_power_cut_under_the_last_card(bench: ShufflerBench, check: Check) -> None:
    bench.shuffle()
    while bench.truth()["rack"] > 1:
        bench.press("deal")
        bench.until("ready", within=3000)
    bench.do("press", button="deal")
    until_truth(bench, lambda truth: truth["exit"] == 1)
    check.stimulus("power cut, the last card in the exit")
    restart(bench)
    right_or_unknown(bench, check)
    came_out_whole(bench, check)


# More writes than a shuffle has; each way for the first few, where they matter.
MOST_WRITES = 40
CUTS = ("before", "torn_prefix", "torn_zeros", "torn_ff", "after")


@rule(f"{NOT_CALLED}/cut-at-every-write")
@pytest.mark.parametrize("how", ["torn", "after"])
def test_cut_at_every_write(bench: ShufflerBench, check: Check, how: str) -> None:
    name = f"{NOT_CALLED}/cut-at-every-write"
    for write in range(1, MOST_WRITES):
        way = CUTS[1 + write % 3] if how == "torn" else how
        check.stimulus("power cut at a store write of a shuffle", write=write, how=way)
        if not cut_at(bench, write, way):
            break
        restart(bench)
        whole = bench.truth()["rack"] == len(DECK)
        # A log that says so may stand once all cards are in their slots; the cut made a game's end of it.
        said = [word for word in false_reports(bench) if word != "log" or not whole]
        bench.clear()
        said += [word for word in false_reports(bench) if word != "log" or not whole]
        bench.press("hand")
        bench.advance(3000)
        check.note("called shuffled by", said=said)
        check.measure("false_reports", len(said), rule=name)
        check.measure("cards_dealt", len(bench.tray()), rule=name)
        afresh(bench)
    check.expect("store writes of a shuffle were cut", write > 1, True)


def cut_at(bench: ShufflerBench, write: int, how: str) -> bool:
    """Shuffle with the power cut at that store write; whether it was."""
    bench.load(DECK)
    bench.do("store_fault", at=write, how=how)
    with until_power_goes(bench.board):
        bench.press("start")
        while bench.status()["state"] == "shuffling":
            bench.advance(100)
    return not bench.board.has_power

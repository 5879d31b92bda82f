"""13:69E-1.28G(c) and 1.28X(g) in the mode in which dealt cards come back: every card by a draw of its own."""

from __future__ import annotations

from pitbench_hil.check import Check
from pitbench_hil.fed import newly_fed, set_as_declared
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.shuffler_continuous import Act, cards_off
from pitbench_hil.shuffler_fed import dealt_as_drawn

# Hands, each of five; behind some of them what was dealt goes back.
HANDS = 6
BACK_AFTER = (0, 2, 3)


@rule("NJ-1.28G(c)1/out-as-drawn", "NJ-1.28X(g)/order-is-the-generators")
@needs("access")
def test_cards_that_come_back_go_and_come_as_drawn(still: ShufflerBench, check: Check) -> None:
    declared = newly_fed(still, "continuous")
    still.commission("technician")
    set_as_declared(still, declared, continuous=True)
    still.shuffle()
    acts = [Act("shuffle", DECK)]
    for hand in range(HANDS):
        check.stimulus("a hand dealt", back_afterwards=hand in BACK_AFTER)
        still.press("hand")
        still.until("ready", "error", within=10_000)
        dealt = still.tray()
        still.do("take")
        acts.append(Act("deal", dealt))
        check.expect(f"cards of hand {hand}", len(dealt), 5)
        if hand in BACK_AFTER:
            still.load(dealt)
            still.press("start")
            still.until("ready", "error", within=10_000)
            acts.append(Act("recycle", dealt))
    dealt_as_drawn(check, cards_off(declared, acts))


@rule("NJ-1.28G(c)1/out-as-drawn", "NJ-1.28X(g)/order-is-the-generators")
@needs("access")
def test_a_deck_dealt_to_its_last_card_comes_as_drawn(still: ShufflerBench, check: Check) -> None:
    """Of few cards each is drawn, too: the last occupied slot, and the only one."""
    declared = newly_fed(still, "last")
    still.commission("technician")
    set_as_declared(still, declared, continuous=True, hand=13)
    check.stimulus("a deck dealt card by card from slots that are drawn")
    still.shuffle()
    acts = [Act("shuffle", DECK)]
    while still.status()["state"] == "ready":
        before = len(still.tray())
        still.press("hand")
        still.until("ready", "idle", "error", within=20_000, step=1000)
        acts.append(Act("deal", still.tray()[before:]))
    check.expect("all cards dealt", sorted(still.tray()), sorted(DECK))
    dealt_as_drawn(check, cards_off(declared, acts))

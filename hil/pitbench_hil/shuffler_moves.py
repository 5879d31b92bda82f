"""What people do at a shuffler, the states that they bring it to, and where its cards are.

`STATES` and the steps of a card are data: the suites pair every door and every error with them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pitbench_hil.acts import Act, until_truth
from pitbench_hil.attended_bench import STEP_MS
from pitbench_hil.board_bench import Unreached
from pitbench_hil.shuffler import DECK, ShufflerBench

# Enough for a first, a middle and a last card.
FEW = DECK[:5]
DOORS = {"service": "service_door", "shroud": "shroud"}
BUTTONS = ("start", "deal", "hand", "unload")
PLACES = ("hopper", "gate", "rack", "exit", "taken")
WAIT_MS = 10_000
CARD_AT_LEAST_MS = 120  # fed, and put into its slot


# -- states, from idle ------------------------------------------------------------------------


def to_idle(bench: ShufflerBench) -> None:
    """Nothing is under way."""


def to_shuffling(bench: ShufflerBench) -> None:
    """A card on its way, others behind it."""
    bench.load(FEW)
    bench.press("start")
    bench.advance(STEP_MS)


def to_ready(bench: ShufflerBench) -> None:
    """A whole deck is shuffled."""
    _must(bench.shuffle(), "ready")


def to_dealing(bench: ShufflerBench) -> None:
    """In the middle of a hand."""
    to_ready(bench)
    bench.press("hand")
    _must(bench.status(), "dealing")


def to_spoiled(bench: ShufflerBench) -> None:
    """Cards inside whose shuffle was aborted."""
    to_shuffling(bench)
    bench.door("service", is_open=True)
    bench.door("service", is_open=False)
    bench.clear()
    _must(bench.status(), "spoiled")


def to_unloading(bench: ShufflerBench) -> None:
    """Cards on their way out, unshuffled."""
    to_spoiled(bench)
    bench.press("unload")
    _must(bench.status(), "unloading")


def to_continuous(bench: ShufflerBench) -> None:
    """Shuffled, in the mode in which dealt cards come back."""
    bench.commission("technician")
    bench.configure(continuous=True)
    to_ready(bench)


def hand_back(bench: ShufflerBench, change: Callable[[bytes], bytes] = bytes) -> None:
    """From ready, a hand dealt and taken away, in the hopper again as `change` makes of it."""
    bench.press("hand")
    bench.until("ready", within=5000)
    cards = bench.tray()
    bench.do("take")
    bench.load(change(cards))


def recycle(change: Callable[[bytes], bytes] = bytes) -> Act:
    """The same, and started."""

    def act(bench: ShufflerBench) -> None:
        hand_back(bench, change)
        bench.press("start")

    return act


def to_recycling(bench: ShufflerBench) -> None:
    """Dealt cards on their way back into the rack."""
    to_continuous(bench)
    recycle()(bench)
    _must(bench.status(), "recycling")


STATES: dict[str, Act] = {
    "idle": to_idle,
    "shuffling": to_shuffling,
    "ready": to_ready,
    "dealing": to_dealing,
    "unloading": to_unloading,
    "spoiled": to_spoiled,
    "recycling": to_recycling,
}


def _must(status: dict[str, Any], state: str) -> None:
    if status["state"] != state:
        raise Unreached(f"{state} not reached: {status['state']}, {status['message']}")


# -- steps of one card while shuffling ----------------------------------------------------------

# Step -> whether the plant is in it, by its truth now and one look before.
SHUFFLE_STEPS: dict[str, Callable[[dict[str, Any], dict[str, Any]], bool]] = {
    "feeding": lambda now, before: "feed" in now["running"],
    "reading": lambda now, before: now["gate"] > before["gate"],
    "rack-moving": lambda now, before: "rack" in now["running"],
    "inserting": lambda now, before: "insert" in now["running"],
    "between-cards": lambda now, before: now["rack"] > before["rack"],
}


def to_step(bench: ShufflerBench, step: str, cards_before: int) -> None:
    """From idle into a step of the card that so many others went before. Raises Unreached."""
    bench.load(FEW)
    _start_to(bench, step, cards_before)


def to_step_of_recycling(bench: ShufflerBench, step: str, cards_before: int = 1) -> None:
    """From ready into that step of a card that comes back. Raises Unreached."""
    hand_back(bench)
    _start_to(bench, step, cards_before, bench.truth()["rack"])


def _start_to(bench: ShufflerBench, step: str, cards_before: int, racked: int = 0) -> None:
    bench.do("press", button="start")
    if step == "loading":
        return
    bench.advance(CARD_AT_LEAST_MS * cards_before)
    before = bench.truth()

    def is_there(truth: dict[str, Any]) -> bool:
        nonlocal before
        seen, before = before, truth
        return seen["rack"] >= racked + cards_before and SHUFFLE_STEPS[step](truth, seen)

    until_truth(bench, is_there)


# -- moments of a deal, from ready ----------------------------------------------------------------


def dealt(truth: dict[str, Any]) -> int:
    """Cards in the tray."""
    return len(truth["tray"]) // 2


# Moment -> button, and whether the plant is in it.
DEAL_MOMENTS: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    "ready": ("deal", lambda truth: True),
    "next-card-coming": ("deal", lambda truth: "rack" in truth["running"]),
    "card-in-exit": ("deal", lambda truth: truth["exit"] == 1),
    "between-two-cards": ("hand", lambda truth: dealt(truth) == 1),
    "hand-pending": ("hand", lambda truth: dealt(truth) == 2 and "eject" in truth["running"]),
}


def to_moment(bench: ShufflerBench, moment: str) -> None:
    """From ready into a moment of a deal. Raises Unreached."""
    button, is_there = DEAL_MOMENTS[moment]
    bench.do("press", button=button)
    until_truth(bench, is_there)


# -- what people try ------------------------------------------------------------------------------


def press_all(bench: ShufflerBench, keys: tuple[bool, ...] = (False, True)) -> None:
    """Press every button but clear, without the key and with it turned, and let five seconds pass each time."""
    for turned in keys:
        bench.do("key", turned=turned)
        for button in BUTTONS:
            bench.press(button)
        bench.advance(WAIT_MS // 2)
    bench.do("key", turned=False)


def moved(before: dict[str, Any], after: dict[str, Any]) -> int:
    """How many cards came to another place."""
    come = sum(max(0, after[place] - before[place]) for place in PLACES)
    return come + max(0, dealt(after) - dealt(before))


def attend(bench: ShufflerBench, parts: tuple[str, ...] = ()) -> None:
    """What a technician does at an open door: mend parts, take out what is stuck or still to be fed, close."""
    for part in parts:
        bench.do("mend", part=part)
    bench.door("service", is_open=True)
    bench.do("clear_path")
    for which in DOORS:
        bench.door(which, is_open=False)


# -- what the device tells ------------------------------------------------------------------------


def last_event(bench: ShufflerBench) -> int:
    """Number of the last event."""
    told = bench.events()
    return int(told[-1][0]) if told else 0

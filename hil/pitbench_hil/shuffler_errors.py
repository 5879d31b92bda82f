"""The errors of a shuffler: how each comes up, how its cause is taken away, what names it.

Rows are data: the suites raise each in each of its ways, pair them, keep them over a restart. A new error is a new row.
"""

from __future__ import annotations

from pitbench_hil.acts import Act, ask, crash, in_turn, restart
from pitbench_hil.attended_bench import OWN_NOISE, START_MS
from pitbench_hil.errors_raised import Error
from pitbench_hil.shuffler import BOXED, DECK, FOREIGN_BACK, JOKER, UNREADABLE, ShufflerBench
from pitbench_hil.shuffler_moves import (
    FEW,
    STATES,
    attend,
    recycle,
    to_continuous,
    to_dealing,
    to_ready,
    to_recycling,
    to_shuffling,
    until_truth,
)

LOW_MV, GOOD_MV = 2000, 3000
PARTS = ("feed", "rack", "insert", "eject", "camera", "gate", "exit")
WRONG_AT_END = DECK[:-1] + DECK[:1]
TOO_MANY = DECK + FEW + FEW
SPOILED = (JAM_FEED, JAM_INSERT, JAM_EXIT, RACK, CAMERA) = (
    "Jam at the feeder", "Jam at the rack", "Jam at the exit", "Rack does not move", "Camera failed",
)  # fmt: skip


def mend(bench: ShufflerBench) -> None:
    """Every part is sound again, the board's own noise is back, nothing is stuck, all doors are closed."""
    bench.do("entropy", how=OWN_NOISE)
    attend(bench, PARTS)


def start_with(*acts: Act) -> Act:
    """Broken before a cold start, and the self-test run."""

    def act(bench: ShufflerBench) -> None:
        in_turn(*acts)(bench)
        restart(bench)

    return act


def loaded(cards: bytes, within: int = 0) -> Act:
    """Start with these cards; let so much time pass."""

    def act(bench: ShufflerBench) -> None:
        bench.load(cards)
        bench.press("start")
        bench.advance(within)

    return act


def recycled(mark: int) -> Act:
    """The middle one of five dealt cards comes back as another one: of a foreign make, turned over, unreadable."""

    def change(cards: bytes) -> bytes:
        return cards[:2] + bytes([UNREADABLE if mark == UNREADABLE else cards[2] | mark]) + cards[3:]

    return in_turn(to_continuous, recycle(change))


def another_of_the_rack(cards: bytes) -> bytes:
    """One of a hand exchanged for a card of which the game's only one is inside."""
    return cards[:2] + bytes([next(card for card in DECK if card not in cards)]) + cards[3:]


def one_more(cards: bytes) -> bytes:
    """A hand, and its first card once more behind it."""
    return cards + cards[:1]


def counted_only(bench: ShufflerBench) -> None:
    """Shuffled in continuous mode, faces not looked at."""
    bench.commission("technician")
    bench.configure(continuous=True, recognise=False)
    to_ready(bench)


def stuck_in_exit(bench: ShufflerBench) -> None:
    """The roller stands while a card is in the exit."""
    to_dealing(bench)
    _stuck(bench)


def stuck_in_exit_continuous(bench: ShufflerBench) -> None:
    """The same where each card is drawn."""
    to_continuous(bench)
    bench.press("hand")
    _stuck(bench)


def _stuck(bench: ShufflerBench) -> None:
    until_truth(bench, lambda truth: truth["exit"] == 1)
    bench.do("break", part="eject", how="stall")


def store_full_at_the_end(bench: ShufflerBench) -> None:
    """The store fails when the shuffle is to be called complete."""
    bench.load(DECK)
    bench.press("start")
    bench.do("store_fault", at=1, how="full")
    bench.until("ready", "error", within=30_000, step=1000)


def store_full_while_idle(bench: ShufflerBench) -> None:
    """The store fails when someone without the key wants to clear."""
    bench.do("store_fault", at=1, how="full")
    bench.press("clear")


def clear_memory(bench: ShufflerBench) -> None:
    """Room in the store again, and a technician clears the memory where it is lost."""
    restart(bench)
    if "memory_error" in bench.status()["standing"]:
        bench.commission("technician")
        bench.do("meters")
        bench.prove("clear_memory", "technician", "clear_memory")


def broken(part: str, how: str = "stall") -> Act:
    """A part breaks."""
    return ask("break", part=part, how=how)


def pressed(button: str) -> Act:
    """A button is pressed."""
    return lambda bench: bench.press(button)


def opened(which: str) -> dict[str, Act]:
    """A door, in every state."""
    return {state: in_turn(reach, ask("door", which=which, open=True)) for state, reach in STATES.items()}


SERVICE_DOOR = Error(
    "service-door", "service_door", ("Service door open",), opened("service"), ask("door", which="service", open=False)
)
SHROUD = Error("shroud", "shroud", ("Shroud open",), opened("shroud"), ask("door", which="shroud", open=False))
CAMERA_FAILED = Error(
    "camera-failed",
    "camera_failed",
    (CAMERA,),
    {
        "shuffling": in_turn(to_shuffling, broken("camera", "dead")),
        "recycling": in_turn(to_recycling, broken("camera", "dead")),
    },
    mend,
)
JAM_AT_EXIT = Error(
    "jam-exit",
    "jam_exit",
    (JAM_EXIT,),
    {
        "dealing": stuck_in_exit,
        "before": in_turn(to_ready, broken("eject"), pressed("deal")),
        "continuous": stuck_in_exit_continuous,
        "continuous, before": in_turn(to_continuous, broken("eject"), pressed("deal")),
        "continuous, before a hand": in_turn(to_continuous, broken("eject"), pressed("hand")),
    },
    mend,
)
ERRORS = (
    SERVICE_DOOR,
    SHROUD,
    Error(
        "jam-feed",
        "jam_feed",
        (JAM_FEED,),
        {
            "shuffling": in_turn(to_shuffling, broken("feed")),
            "two at once": in_turn(to_shuffling, broken("feed", "double")),
            "recycling": in_turn(to_recycling, broken("feed")),
        },
        mend,
    ),
    Error(
        "jam-insert",
        "jam_insert",
        (JAM_INSERT,),
        {
            "shuffling": in_turn(to_shuffling, broken("insert")),
            "recycling": in_turn(to_recycling, broken("insert")),
        },
        mend,
    ),
    JAM_AT_EXIT,
    Error(
        "rack-stalled",
        "rack_stalled",
        (RACK,),
        {state: in_turn(STATES[state], broken("rack")) for state in ("shuffling", "dealing", "unloading", "recycling")},
        mend,
    ),
    CAMERA_FAILED,
    Error(
        "card-damaged",
        "card_damaged",
        ("Damaged card",),
        {"shuffling": loaded(FEW[:2] + bytes([UNREADABLE])), "recycling": recycled(UNREADABLE)},
        mend,
    ),
    Error(
        "count-wrong",
        "count_wrong",
        ("Wrong number of cards",),
        {
            "one missing": loaded(DECK[1:], 8000),
            "many too many": loaded(TOO_MANY, 8000),
            "one too many, recycling": in_turn(to_continuous, recycle(one_more)),
            "one too many, recycling, counted only": in_turn(counted_only, recycle(one_more)),
        },
        mend,
    ),
    Error(
        "cards-wrong",
        "cards_wrong",
        ("Wrong cards",),
        {
            "one twice": loaded(WRONG_AT_END, 8000),
            "foreign back": loaded(FEW[:2] + bytes([FOREIGN_BACK])),
            "foreign back, recycling": recycled(FOREIGN_BACK),
            "boxed, recycling": recycled(BOXED),
            "one twice, recycling": in_turn(to_continuous, recycle(another_of_the_rack)),
            "a joker, recycling": in_turn(to_continuous, recycle(lambda cards: cards[:4] + bytes([JOKER]))),
        },
        mend,
    ),
    Error(
        "entropy-failed",
        "entropy_failed",
        ("Random number source failed",),
        {
            **{how: in_turn(ask("entropy", how=how, seed="x"), loaded(FEW)) for how in ("stuck", "slow")},
            "from the start": lambda bench: dead_from_the_start(bench),
        },
        lambda bench: alive_again(bench),
    ),
    Error(
        "memory-error",
        "memory_error",
        ("Memory error",),
        {
            "both copies": start_with(ask("damage", copy="a"), ask("damage", copy="b")),
            "shuffled": store_full_at_the_end,
            "idle": store_full_while_idle,
        },
        clear_memory,
    ),
    Error(
        "post-failed",
        "post_failed",
        ("Self-test failed",),
        {
            f"{part} {how}": start_with(broken(part, how))
            for part, how in (("camera", "dead"), ("gate", "stuck_0"), ("exit", "stuck_0"), ("rack", "stall"))
        },
        mend,
    ),
    Error(
        "software-error",
        "software_error",
        ("Program error",),
        {state: in_turn(STATES[state], crash) for state in ("shuffling", "idle", "dealing")},
        mend,
    ),
    Error(
        "power-interrupted",
        "power_interrupted",
        ("Power failed",),
        {state: in_turn(STATES[state], restart) for state in ("shuffling", "ready", "dealing")},
        mend,
    ),
    Error(
        "sensor-failed",
        "",
        SPOILED,
        {
            **{f"gate {how}": in_turn(to_shuffling, broken("gate", how)) for how in ("stuck_0", "stuck_1")},
            **{f"{part} dead": in_turn(to_shuffling, broken(part, "dead")) for part in ("feed", "rack", "insert")},
            **{
                f"exit {how}": in_turn(to_ready, broken("exit", how), pressed("deal")) for how in ("stuck_0", "stuck_1")
            },
            "eject dead": in_turn(to_continuous, broken("eject", "dead"), pressed("deal")),
        },
        mend,
    ),
    Error(
        "low-battery",
        "",
        ("Battery low",),
        {"idle": ask("battery", mv=LOW_MV)},
        ask("battery", mv=GOOD_MV),
        stops=False,
    ),
)


def dead_from_the_start(bench: ShufflerBench) -> None:
    """No noise from the first word on."""
    bench.restart_with("stuck")
    bench.advance(START_MS)


def alive_again(bench: ShufflerBench) -> None:
    """The board's own noise again, which a failed health test looks at from the next start on."""
    bench.restart_with(OWN_NOISE)
    bench.advance(START_MS)

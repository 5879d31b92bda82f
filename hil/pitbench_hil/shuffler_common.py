"""A card shuffler, as the suite of all attended devices needs to know it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pitbench_hil.access_rights import Request
from pitbench_hil.acts import Act, ask
from pitbench_hil.attended_bench import OWN_NOISE, STEP_MS, TECHNICIAN
from pitbench_hil.board_bench import Unreached
from pitbench_hil.common_device import Device, Game, Settings
from pitbench_hil.errors_raised import Fault
from pitbench_hil.fed import DRAWS_LATE, GENERATOR_FILES, the_same_again
from pitbench_hil.shuffler import CARD_MS, DECK, RECEIPT, UNREADABLE, ShufflerBench
from pitbench_hil.shuffler_errors import CAMERA_FAILED, JAM_AT_EXIT, SERVICE_DOOR, SHROUD
from pitbench_hil.shuffler_moves import BUTTONS, attend

SHUFFLE_MS = CARD_MS * (len(DECK) + 8) * 2
HAND_MS = 20_000
# A deck goes in within 13 s.
MIDDLE_MS = 6000

# -- what it does


def work(bench: ShufflerBench) -> None:
    """A whole deck on its way in."""
    bench.load()
    bench.press("start")


def play(bench: ShufflerBench, meanwhile: Callable[[], object]) -> Game:
    """Shuffle and deal a deck, with something done at each step of time. Raises Unreached."""
    work(bench)
    _let_pass(bench, SHUFFLE_MS, meanwhile)
    lasted = {"shuffle": _lasted(bench, "shuffling")}
    bench.press("hand")
    _let_pass(bench, HAND_MS, meanwhile)
    lasted["hand"] = _lasted(bench, "dealing")
    while bench.status()["state"] == "ready":
        bench.press("hand")
        _let_pass(bench, HAND_MS, meanwhile)
    order = bench.tray()
    bench.do("take")
    return Game(order, sorted(order) == sorted(DECK), lasted)


def _let_pass(bench: ShufflerBench, within: int, meanwhile: Callable[[], object]) -> None:
    """Until the device is at rest. Raises Unreached."""
    for _ in range(within // STEP_MS):
        if bench.status()["state"] in ("ready", "idle"):
            return
        meanwhile()
        bench.advance(STEP_MS)
    raise Unreached(f"not at rest after {within} ms: {bench.status()}")


def _lasted(bench: ShufflerBench, state: str) -> int:
    """Device ms of the last time in this state, by the device's events. Raises Unreached."""
    events = bench.events()
    began = max((event[1] for event in events if event[2] == state), default=0)
    ended = [event[1] for event in events if event[1] >= began and event[2] in ("ready", "idle")]
    if not began or not ended:
        raise Unreached(f"it was to be {state}, and was not, or not to the end: {events[-3:]}")
    return int(min(ended) - began)


def to_idle(bench: ShufflerBench) -> None:
    """Whatever is inside is taken out."""
    if bench.status()["state"] != "idle":
        bench.unload()


# -- what its light has to show


def _broken(part: str, how: str = "dead", *, dealing: bool = False) -> Act:
    def make(bench: ShufflerBench) -> None:
        if dealing:
            bench.shuffle()
        bench.do("break", part=part, how=how)
        if dealing:
            bench.press("hand")
            bench.until("error", within=HAND_MS)
        else:
            bench.shuffle()

    return make


def _fed(cards: bytes) -> Act:
    return lambda bench: bench.shuffle(cards)


def _mended_and_taken_out(part: str) -> Act:
    return lambda bench: attend(bench, (part,))


def _cut_in_a_game(bench: ShufflerBench) -> None:
    bench.shuffle()
    bench.power_cycle()


def _dead_source(bench: ShufflerBench) -> None:
    bench.do("entropy", how="stuck")
    bench.shuffle()


def _live_source(bench: ShufflerBench) -> None:
    bench.do("entropy", how=OWN_NOISE)
    bench.power_cycle()


def _full_store(bench: ShufflerBench) -> None:
    bench.do("store_fault", at=1, how="full")
    bench.shuffle()


def _broken_at_start(bench: ShufflerBench) -> None:
    bench.do("break", part="camera", how="dead")
    bench.power_cycle()
    bench.until("error", within=20_000)


FAULTS = (
    Fault("service_door", SERVICE_DOOR.ways["idle"], SERVICE_DOOR.end),
    Fault("shroud", SHROUD.ways["idle"], SHROUD.end),
    Fault("jam_feed", _broken("feed", "stall"), _mended_and_taken_out("feed")),
    Fault("jam_feed", _broken("feed", "double"), _mended_and_taken_out("feed")),
    Fault("jam_insert", _broken("insert", "stall"), _mended_and_taken_out("insert")),
    Fault("jam_exit", _broken("eject", "stall", dealing=True), _mended_and_taken_out("eject")),
    Fault("rack_stalled", _broken("rack", "stall"), _mended_and_taken_out("rack")),
    Fault("camera_failed", _broken("camera"), _mended_and_taken_out("camera")),
    Fault("card_damaged", _fed(DECK[:9] + bytes([UNREADABLE]) + DECK[9:]), attend),
    Fault("cards_wrong", _fed(DECK[:-1] + DECK[:1])),
    Fault("count_wrong", _fed(DECK[:-1])),
    Fault("power_interrupted", _cut_in_a_game),
    Fault("entropy_failed", _dead_source, _live_source),
    Fault("post_failed", _broken_at_start, ask("mend", part="camera")),
    Fault("memory_error", _full_store, ShufflerBench.power_cycle, by_clear=False),
)
# Cleared without a mend, it is the self-test that finds it again.
MALFUNCTION = replace(CAMERA_FAILED, says=(*CAMERA_FAILED.says, "Self-test failed"))
SIGNALS = {
    "service-door": (SERVICE_DOOR, "shuffling", SHROUD),
    "shroud": (SHROUD, "shuffling", SERVICE_DOOR),
    "malfunction": (MALFUNCTION, "shuffling", SHROUD),
    "jam": (JAM_AT_EXIT, "dealing", SHROUD),
}

# -- what its identity declares


def _cards_work(bench: ShufflerBench) -> bool:
    """A deck comes out whole, in another order."""
    dealt = bench.game()
    return sorted(dealt) == sorted(DECK) and dealt != DECK


def _camera_works(bench: ShufflerBench) -> bool:
    """Of a deck with two aces of spades and no king of clubs, both are named."""
    status = bench.shuffle(DECK[:-1] + DECK[:1])
    bench.clear()
    bench.unload()
    return "KC" in status["message"] and "AS" in status["message"]


def _receipt_works(bench: ShufflerBench) -> bool:
    """A game's cards have a receipt."""
    bench.game()
    made = bench.do("receipt", **RECEIPT)
    return bool(made["total"] == len(DECK) and made["result"] == "passed")


def _draw_works(bench: ShufflerBench) -> bool:
    """Orders are drawn without a card, each whole."""
    return all(sorted(order) == list(DECK) for order in bench.orders(3).tolist()) and len(bench.words(8)) == 8


def _rescaling_works(bench: ShufflerBench) -> bool:
    """Of 256 words six outcomes come 42 times each, and four are rejected."""
    found = bench.rescale(6, range(256))
    return [found.count(outcome) for outcome in range(6)] == [42] * 6 and found.count(None) == 4


SETTINGS = Settings(
    most={"game": "g" * 24, "decks": 8, "jokers": 2, "hand": 13, "recognise": False, "continuous": True},
    least={"game": "g", "decks": 1, "jokers": 0, "hand": 1, "recognise": True, "continuous": False},
    between={"game": "acme 21", "decks": 2, "jokers": 1, "hand": 7, "recognise": True, "continuous": False},
    beyond=(("decks", 0), ("decks", 9), ("jokers", 3), ("hand", 0), ("hand", 14), ("speed", 1)),
)

# -- access


def _decks_and_hand(bench: ShufflerBench) -> dict[str, int]:
    now = bench.configure()
    return {name: now[name] for name in ("decks", "hand")}


READERS = (TECHNICIAN, "regulator")
CONFIGURE = Request(
    "configure", "configure", "settings", "configure|decks=2,hand=7", (TECHNICIAN,), {"set": {"decks": 2, "hand": 7}},
    other={"set": {"decks": 8, "hand": 7}}, seen=_decks_and_hand, expected={"decks": 2, "hand": 7},
)  # fmt: skip
# Of the history of games there are rules of its own.
HISTORY = Request("history", "history", "history", "history", READERS)
READS = {"receipt": RECEIPT}

DEVICE = Device[ShufflerBench](
    bench=ShufflerBench,
    buttons=BUTTONS,
    work=work,
    busy=("shuffling",),
    rests=("ready",),
    work_ms=SHUFFLE_MS,
    middle_ms=MIDDLE_MS,
    play=play,
    repeat=the_same_again,
    to_idle=to_idle,
    openings=(SERVICE_DOOR, SHROUD),
    faults=FAULTS,
    signals=SIGNALS,
    settings=SETTINGS,
    configure=CONFIGURE,
    other_settings=({"decks": 2}, {"decks": 2, "hand": 7, "jokers": 2}, {"hand": 7, "game": "x"}, {}),
    critical=GENERATOR_FILES,
    proven=(HISTORY,),
    reading=HISTORY,
    reads=READS,
    late={"link/cards": ("receipt", RECEIPT), **DRAWS_LATE},
    trials={
        "cards": _cards_work,
        "camera": _camera_works,
        "receipt": _receipt_works,
        "plant": _cards_work,
        "draw": _draw_works,
        "rescaling": _rescaling_works,
    },
)

"""A selector, as the suite of all attended devices needs to know it."""

from __future__ import annotations

from collections.abc import Callable

from pitbench_hil.access_rights import Request
from pitbench_hil.acts import ask, in_turn, restart
from pitbench_hil.attended_bench import TECHNICIAN
from pitbench_hil.common_device import Device, Game, Settings
from pitbench_hil.errors_raised import Fault
from pitbench_hil.fed import DRAWS_LATE, GENERATOR_FILES, the_same_again
from pitbench_hil.selector import ASIA_POKER, BUTTONS, MOST, NUMBERS, PAI_GOW_POKER, SUPREME_PAI_GOW, SelectorBench
from pitbench_hil.selector_errors import DISPLAY, DOOR, HOUSING, HOW_BROKEN, SOURCE

# The moment without a number takes .8 s.
SELECTED_MS, MIDDLE_MS, STEP_MS = 1500, 500, 100
ROUNDS = 5


def work(bench: SelectorBench) -> None:
    """A number on its way."""
    bench.press("select")


def play(bench: SelectorBench, meanwhile: Callable[[], object]) -> Game:
    """Rounds, each taken away, with something done at each step of time. Raises Unreached."""
    numbers, lasted = [], 0
    for _ in range(ROUNDS):
        work(bench)
        while bench.status()["state"] == "selecting":
            meanwhile()
            bench.advance(STEP_MS)
        bench.until("shown", within=0)
        bench.advance(STEP_MS)
        numbers.append(bench.display())
        lasted += _lasted(bench)
        bench.press("done")
    return Game(numbers, set(numbers) <= set(NUMBERS), {"selecting": lasted})


def _lasted(bench: SelectorBench) -> int:
    """Device ms that the last selection took, by the device's events."""
    times = {event[2]: event[1] for event in bench.events() if event[2] in ("selecting", "shown")}
    return int(times["shown"] - times["selecting"])


def to_idle(bench: SelectorBench) -> None:
    """A number that stands is taken away."""
    if bench.status()["state"] == "shown":
        bench.press("done")


def _full_store(bench: SelectorBench) -> None:
    bench.do("store_fault", at=1, how="full")
    bench.press("select")


FAULTS = (
    Fault("service_door", DOOR.ways["idle"], DOOR.end),
    Fault("housing", HOUSING.ways["idle"], HOUSING.end),
    *(Fault("display_failed", DISPLAY.ways[f"{how}, idle"], DISPLAY.end) for how in HOW_BROKEN),
    Fault("entropy_failed", SOURCE.ways["idle"], SOURCE.end),
    Fault("post_failed", in_turn(ask("break", part="display", how="dark"), restart), ask("mend", part="display")),
    Fault("memory_error", _full_store, SelectorBench.power_cycle, by_clear=False),
)
SIGNALS = {
    "service-door": (DOOR, "selecting", HOUSING),
    "housing": (HOUSING, "selecting", DOOR),
    "malfunction": (DISPLAY, "dark, shown", DOOR),
}


def _selector_works(bench: SelectorBench) -> bool:
    """A number from 1 through 7, on the display and in the recall."""
    number = bench.select()
    return number in NUMBERS and bench.rounds()[-1][3] == number


def _draw_works(bench: SelectorBench) -> bool:
    """Numbers are drawn without a round."""
    return set(bench.draws(200)) == set(NUMBERS) and not bench.rounds() and len(bench.words(8)) == 8


def _rescaling_works(bench: SelectorBench) -> bool:
    """Of 256 words seven outcomes come 36 times each, and four are rejected."""
    found = bench.rescale(MOST, range(256))
    return [found.count(outcome) for outcome in range(MOST)] == [36] * MOST and found.count(None) == 4


SETTINGS = Settings(
    most={"game": SUPREME_PAI_GOW, "bonus": True},
    least={"game": ASIA_POKER, "bonus": False},
    between={"game": ASIA_POKER, "bonus": True},
    beyond=(("game", "pai gow"), ("game", ""), ("bonus", 1), ("decks", 1)),
)


WANTED = {"bonus": True, "game": ASIA_POKER}
CONFIGURE = Request(
    "configure", "configure", "settings", f'configure|bonus=true,game="{ASIA_POKER}"', (TECHNICIAN,), {"set": WANTED},
    other={"set": {"bonus": False, "game": ASIA_POKER}}, seen=SelectorBench.configure, expected=WANTED,
)  # fmt: skip

DEVICE = Device[SelectorBench](
    bench=SelectorBench,
    buttons=BUTTONS,
    work=work,
    busy=("selecting",),
    rests=("shown",),
    work_ms=SELECTED_MS,
    middle_ms=MIDDLE_MS,
    play=play,
    repeat=the_same_again,
    to_idle=to_idle,
    openings=(DOOR, HOUSING),
    faults=FAULTS,
    signals=SIGNALS,
    settings=SETTINGS,
    configure=CONFIGURE,
    other_settings=({"bonus": False}, {"game": PAI_GOW_POKER, "bonus": True}, {"game": ASIA_POKER}, {}),
    critical=GENERATOR_FILES,
    reads={"rounds": {}},
    late={"link/rounds": ("rounds", {}), **DRAWS_LATE},
    trials={
        "selector": _selector_works,
        "plant": _selector_works,
        "draw": _draw_works,
        "rescaling": _rescaling_works,
    },
)

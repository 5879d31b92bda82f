"""What people bring a selector to, and what may go wrong there, as rows."""

from __future__ import annotations

from pitbench_hil.acts import Act, ask, crash, in_turn, nothing, restart
from pitbench_hil.attended_bench import OWN_NOISE, TECHNICIAN
from pitbench_hil.errors_raised import Error
from pitbench_hil.selector import SELECT_MS, SelectorBench

# How a display fails: it stays as it is, it is dark, one of its lines doesn't light.
HOW_BROKEN = ("stuck", "dark", "segment")
# Rounds until a number has come up that a broken display shows otherwise: for all of them to miss it, once in 10^7.
TRIES = 20


def to_selecting(bench: SelectorBench) -> None:
    """A number is drawn, and not shown yet."""
    bench.press("select")
    bench.until("selecting", within=0)


def to_shown(bench: SelectorBench) -> None:
    """A number is on the display."""
    bench.select()


def to_done(bench: SelectorBench) -> None:
    """It was taken away."""
    bench.select()
    bench.press("done")


def to_locked(bench: SelectorBench) -> None:
    """Set, on a new board, for a table where it may not be used."""
    bench.commission(TECHNICIAN)
    bench.configure(bonus=True)


OPEN: dict[str, Act] = {"idle": nothing, "selecting": to_selecting, "shown": to_shown}
STATES: dict[str, Act] = {**OPEN, "done": to_done, "locked": to_locked}


def broken(how: str) -> Act:
    """The display breaks, and shows a number's lines no more as it is told."""

    def act(bench: SelectorBench) -> None:
        bench.do("break", part="display", how=how)
        # A display that is dark or stuck at nothing is only seen to be once there is something to show.
        for _ in range(TRIES):
            if bench.status()["standing"]:
                return
            bench.press("select")
            bench.advance(SELECT_MS)

    return act


def dead_source(bench: SelectorBench) -> None:
    """No noise any more, noticed when a round asks for it."""
    bench.do("entropy", how="stuck")
    bench.until("idle", "shown", within=SELECT_MS)
    bench.press("select")


def live_source(bench: SelectorBench) -> None:
    """The board's own noise again; a source that failed is trusted after a start alone."""
    bench.do("entropy", how=OWN_NOISE)
    restart(bench)


def full_store(bench: SelectorBench) -> None:
    """The store fails at the next write."""
    bench.do("store_fault", at=1, how="full")
    bench.do("key", turned=False)
    bench.press("clear")


def clear_memory(bench: SelectorBench) -> None:
    """Room in the store again; a technician clears the memory where it is lost, and sets it."""
    restart(bench)
    if "memory_error" in bench.status()["standing"]:
        bench.do("meters")
        bench.commission(TECHNICIAN)
        bench.prove("clear_memory", TECHNICIAN, "clear_memory")
        bench.configure(bonus=False)


DOOR = Error(
    "service-door",
    "service_door",
    ("Service door open",),
    {state: in_turn(reach, ask("door", which="service", open=True)) for state, reach in STATES.items()},
    ask("door", which="service", open=False),
)
HOUSING = Error(
    "housing",
    "housing",
    ("Housing open",),
    {state: in_turn(reach, ask("door", which="housing", open=True)) for state, reach in STATES.items()},
    ask("door", which="housing", open=False),
)
DISPLAY = Error(
    "display",
    "display_failed",
    # Cleared without a mend, it is the self-test that finds it again.
    ("Display failed", "Self-test failed"),
    {f"{how}, {state}": in_turn(reach, broken(how)) for state, reach in OPEN.items() for how in HOW_BROKEN},
    ask("mend", part="display"),
)
SOURCE = Error(
    "source",
    "entropy_failed",
    ("Random number source failed",),
    {state: in_turn(reach, dead_source) for state, reach in OPEN.items()},
    live_source,
)
STORE = Error(
    "store",
    "memory_error",
    ("Memory error",),
    {state: in_turn(reach, full_store) for state, reach in OPEN.items()},
    clear_memory,
)
PROGRAM = Error(
    "program",
    "software_error",
    ("Program error",),
    {state: in_turn(reach, crash) for state, reach in STATES.items()},
    nothing,
)
ERRORS = (DOOR, HOUSING, DISPLAY, SOURCE, STORE, PROGRAM)

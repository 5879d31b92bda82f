"""What may go wrong at a selector: how it comes, how it is seen, and how its cause is taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pitbench_hil.drawing_bench import START_MS
from pitbench_hil.selector import SELECT_MS, SelectorBench

Act = Callable[[SelectorBench], object]
# Due at the latest.
NOTICED_MS = 500


def to_idle(bench: SelectorBench) -> None:
    """Nothing is under way."""


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
    """Set for a table where it may not be used."""
    bench.configure(bonus=True)


OPEN: dict[str, Act] = {"idle": to_idle, "selecting": to_selecting, "shown": to_shown}
STATES: dict[str, Act] = {**OPEN, "done": to_done, "locked": to_locked}


@dataclass(frozen=True)
class Malfunction:
    """Something that goes wrong.

    Args:
        part: of the rule, and its condition's name on the device.
        says: words of the message that names it.
        ways: how it comes up, by name.
        end: takes the cause away, as a person does.
    """

    part: str
    condition: str
    says: str
    ways: Mapping[str, Act]
    end: Act


def asked(op: str, **args: object) -> Act:
    """One operation of the bench."""
    return lambda bench: bench.do(op, **args)


def broken(how: str) -> Act:
    """The display breaks, and shows a number's lines no more as it is told."""

    def act(bench: SelectorBench) -> None:
        bench.do("break", part="display", how=how)
        # A display that is dark or stuck at nothing is only seen to be once there is something to show.
        while "display_failed" not in bench.status()["standing"]:
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
    bench.do("entropy", how="board")
    restart(bench)


def crash(bench: SelectorBench) -> None:
    """A program error, and the start that follows from it."""
    bench.do("crash")
    bench.board.reconnect()
    bench.advance(START_MS)


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
        bench.prove("clear_memory", "technician", "clear_memory")


def restart(bench: SelectorBench) -> None:
    """Power off and on, and a self-test's time."""
    bench.cut()
    bench.power_on()
    bench.advance(START_MS)


DOOR = Malfunction(
    "door",
    "service_door",
    "Service door open",
    {"opened": asked("door", which="service", open=True)},
    asked("door", which="service", open=False),
)
SOURCE = Malfunction("source", "entropy_failed", "Random number source failed", {"stuck": dead_source}, live_source)
STORE = Malfunction("store", "memory_error", "Memory error", {"full": full_store}, clear_memory)
DISPLAY = Malfunction(
    "display",
    "display_failed",
    "Display failed",
    {how: broken(how) for how in ("stuck", "dark", "segment")},
    asked("mend", part="display"),
)
PROGRAM = Malfunction("program", "software_error", "Program error", {"crash": crash}, to_idle)
MALFUNCTIONS = (DOOR, DISPLAY, SOURCE, STORE, PROGRAM)

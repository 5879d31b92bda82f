"""What a selector costs: numbers in bulk over the link, rounds by button to the display, heap."""

from __future__ import annotations

import time

from measure_shuffler import Row, seconds
from pitbench.targets import open_target
from pitbench_hil.drawing_bench import DRAWN_AT_ONCE
from pitbench_hil.selector import SELECT_MS, SelectorBench

DEVICE = "selector"
NUMBERS = 6400
ROUNDS = 100


def measure(row: Row) -> None:
    """Print a line a figure, all on one virtual board."""
    with open_target("virtual", device=DEVICE) as board:
        bench = SelectorBench(board)
        bench.start()
        row("heap free, selector started", f"{bench.do('heap')['free'] // 1024} KB", "of 192 KB", "≥ 48 KB")
        numbers(row, bench)
        rounds(row, bench)
        row("heap free, afterwards", f"{bench.do('heap')['free'] // 1024} KB", "", "≥ 40 KB")


def numbers(row: Row, bench: SelectorBench) -> None:
    """Numbers drawn where a round draws its own."""
    took = seconds(lambda: bench.draws(NUMBERS))
    row("numbers drawn", f"{NUMBERS / took:.0f} numbers/s", f"{DRAWN_AT_ONCE} a request", "")


def rounds(row: Row, bench: SelectorBench) -> None:
    """Selections from the button to the figure on the display, stored before they are shown."""
    start = time.perf_counter()
    shown = [selected(bench) for _ in range(ROUNDS)]
    took = time.perf_counter() - start
    link = seconds(lambda: [bench.do("post") for _ in range(3 * ROUNDS)])
    recalled = [outcome for *_, outcome in bench.rounds()]
    right = "every one as displayed" if recalled == shown[-len(recalled) :] else "OTHERS THAN DISPLAYED"
    row("selections by button", f"{ROUNDS / took:.0f} rounds/s", f"the link alone {link:.2f} s of {took:.2f} s", "")
    row("of device time", f"{SELECT_MS / 1000:.1f} s a round", right, "")


def selected(bench: SelectorBench) -> int:
    """One round, in three requests."""
    bench.do("press", button="select")
    bench.do("advance", ms=SELECT_MS)
    return bench.display()

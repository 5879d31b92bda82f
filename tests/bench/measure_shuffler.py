"""What a shuffler costs: decks drawn on the board, over the link and judged, a whole game, heap, the check's pauses."""

from __future__ import annotations

import time
from collections.abc import Callable

from pitbench.targets import open_target
from pitbench_hil.drawing_bench import DRAWN_AT_ONCE
from pitbench_hil.shuffler import ShufflerBench
from pitbench_hil.statistics import shuffles

DEVICE = "shuffler"
DECKS = 10_000
# Orders of 52 cards that fit into a reply.
DECKS_A_REQUEST = DRAWN_AT_ONCE // 52
GAMES = 10
Row = Callable[..., None]


def measure(row: Row) -> None:
    """Print a line a figure, all on one virtual board."""
    with open_target("virtual", device=DEVICE) as board:
        bench = ShufflerBench(board)
        bench.start()
        row("heap free, shuffler started", f"{bench.do('heap')['free'] // 1024} KB", "of 192 KB", "≥ 48 KB")
        decks(row, bench)
        games(row, bench)
        check(row, bench)
        row("heap free, afterwards", f"{bench.do('heap')['free'] // 1024} KB", "", "≥ 40 KB")


def decks(row: Row, bench: ShufflerBench) -> None:
    """Ten thousand decks; as many requests that draw nothing are what the link alone takes."""
    link = seconds(lambda: [bench.do("post") for _ in range(DECKS // DECKS_A_REQUEST)])
    start = time.perf_counter()
    orders = bench.orders(DECKS)
    drawn = time.perf_counter() - start
    judged = seconds(lambda: shuffles.judge(orders))
    row("10,000 decks drawn and judged", f"{drawn + judged:.2f} s", "", "≤ 3 s")
    row("of it drawn", f"{DECKS / drawn:.0f} decks/s", f"the link alone {link:.2f} s of {drawn:.2f} s", "")
    row("of it judged", f"{DECKS / judged:.0f} decks/s", "ten statistics", "")


def games(row: Row, bench: ShufflerBench) -> None:
    """Whole games on the plant."""
    took = seconds(lambda: [bench.game() for _ in range(GAMES)])
    row("a game of 52 cards, dealt to the end", f"{1000 * took / GAMES:.0f} ms", "18 s of device time", "")


def check(row: Row, bench: ShufflerBench) -> None:
    """How long the link waits at most while every file is read again."""
    bench.do("authenticate")
    waits = []
    while bench.do("authenticity")["running"]:
        waits.append(seconds(lambda: bench.status()))
    idle = sorted(seconds(lambda: bench.status()) for _ in range(50))[-1]
    row("longest answer in a file check", f"{1000 * max(waits):.1f} ms", f"idle {1000 * idle:.1f} ms", "≤ 100 ms")


def seconds(call: Callable[[], object]) -> float:
    """Wall time of a call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start

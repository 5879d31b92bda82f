"""How much of what a generator gives is fresh, and how it is rescaled: 13:69E-1.28G(b)1 and 6.

The same for every device that draws; each suite has the tests, and these are what they do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pitbench_hil.check import Check
from pitbench_hil.declared_generator import SEED, STATE, TESTED
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.fed import again, newly_fed

# Idle seconds before a draw, at most: of games in a row, of the bench's own waits, of a slow PC.
IDLE = 600
# That the calendar is set to where a date may have no part.
ONE_SECOND = 2_000_000_000

# -- (b)1


def bits_turned(bench: DrawingBench, check: Check) -> tuple[int, int]:
    """Turn over a bit in each byte that a game's fresh entropy has; how many were turned, and how many did nothing."""
    newly_fed(bench, "turned")
    plain = bench.sample()
    first = 8 * (TESTED + SEED)
    places = [first + 8 * byte + byte % 8 for byte in range(STATE)]
    without = 0
    for place in places:
        bench.board.rig.entropy_at_start("fixed", f"turned~{place}")
        again(bench)
        without += bench.sample() == plain
    check.stimulus("bits of the fresh entropy turned over, each from a new start", bits=len(places), first=first)
    return len(places), without


# -- (b)6


def unequal(outcomes: Iterable[int | None], n: int) -> int:
    """Outcomes that another number of words leads to than to outcome 0, one beyond the range among them."""
    counts = Counter(outcome for outcome in outcomes if outcome is not None)
    return sum(counts[outcome] != counts[0] for outcome in range(n)) + sum(not 0 <= outcome < n for outcome in counts)

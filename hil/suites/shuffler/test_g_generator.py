"""13:69E-1.28G(b)1 and 6: how much the generator holds, and how it is rescaled."""

from __future__ import annotations

import math

from pitbench_hil.check import Check
from pitbench_hil.declared_generator import cycles_before
from pitbench_hil.fed import newly_fed, set_as_declared
from pitbench_hil.generator_checks import (
    bits_turned,
    unequal,
)
from pitbench_hil.marks import needs, rule
from pitbench_hil.shuffler import ShufflerBench

# -- (b)1

GAMES = [(decks, jokers) for decks in range(1, 9) for jokers in range(3)]
# Idle seconds that pass meanwhile, at most: by the bench's own waits, or a slow PC.
IDLE = 120


def log2_orders(decks: int, jokers: int) -> float:
    """Distinct orders: cards of one face are one another's equal."""
    alike = 52 * math.lgamma(decks + 1) + math.lgamma(decks * jokers + 1)
    return (math.lgamma(decks * (52 + jokers) + 1) - alike) / math.log(2)


@rule("NJ-1.28G(b)1/room", "HOUSE-fresh-entropy")
@needs("access")
def test_bits_of_every_game(fresh: ShufflerBench, check: Check) -> None:
    turned, without = bits_turned(fresh, check)
    part = 1 - without / turned
    declared = newly_fed(fresh, "room")
    fresh.commission("technician")
    margins = {}
    for decks, jokers in GAMES:
        set_as_declared(fresh, declared, decks=decks, jokers=jokers)
        order = fresh.orders(1, decks * (52 + jokers))[0].tolist()
        told = fresh.status()["bits"]
        known = cycles_before(declared, order, IDLE) is not None
        gathered = min(told, declared.bits) if known else told
        margins[f"{decks} decks, {jokers} jokers"] = round(part * gathered - log2_orders(decks, jokers), 1)
    least = min(margins, key=lambda game: margins[game])
    check.note("bits gathered for an order, less log2 of the orders", **margins)
    check.note("the least", game=least, part_of_turned_bits_with_effect=part)
    # What the state holds beside them (256 bits) isn't counted: it is known to who knew the order before.
    check.measure("fresh_bits_above_log2_orders", margins[least], rule="HOUSE-fresh-entropy")
    check.measure("bits_above_log2_orders", margins[least], rule="NJ-1.28G(b)1/room")
    check.measure("bits_without_effect", without, rule="NJ-1.28G(b)1/room")


# -- (b)6

EIGHT_DECKS, WIDEST = 416, 432


@rule("NJ-1.28G(b)6/rescaled/8-bit")
def test_every_byte(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("all 256 bytes, for each range", ranges="2 to 256")
    found = {n: unequal(bench.rescale(n, range(256)), n) for n in range(2, 257)}
    wrong = {n: number for n, number in found.items() if number}
    check.note("ranges with unequal outcomes", ranges=sorted(wrong))
    check.measure("unequal_outcomes", sum(wrong.values()))
    check.measure("ranges_not_tried", 255 - len(found))


@rule("NJ-1.28G(b)6/rescaled/16-bit")
def test_words_of_16_bits(bench: ShufflerBench, check: Check) -> None:
    check.stimulus("all 65,536 words", range=EIGHT_DECKS)
    wrong = unequal(bench.rescale(EIGHT_DECKS, range(65536)), EIGHT_DECKS)
    check.stimulus("words at both ends of what is kept, for each range", ranges=f"257 to {WIDEST}")
    edges = {n: edge_counts(bench, n) for n in range(257, WIDEST + 1)}
    wrong += sum(edges.values())
    check.note("ranges that keep another number of words", ranges=[n for n, number in edges.items() if number])
    check.measure("unequal_outcomes", wrong)
    check.measure("ranges_not_tried", WIDEST - 256 - len(edges))


def edge_counts(bench: ShufflerBench, n: int) -> int:
    """The declared method keeps the words below the last whole multiple of the range: what differs from that."""
    end = 65536 - 65536 % n
    words = sorted({0, 1, n - 1, n, end - 1, min(end, 65535), 65535})
    expected = [word % n if word < end else None for word in words]
    found = bench.rescale(n, words)
    return sum(one != other for one, other in zip(found, expected, strict=True))

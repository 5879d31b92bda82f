"""The continuous mode by the declared generator: where each card goes, and which one comes out.

A deck goes into the slots of an order; a dealt card that comes back goes into one of the free slots, and each card that
is dealt leaves one of the occupied slots: the n-th from the first on, n drawn, one draw a card. Idle steps of the
machine between two such acts are found by trying.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from pitbench_hil.declared_generator import Declared

SLOTS = 440
# Idle seconds between two acts, at most: of the bench's own waits.
IDLE = 30


@dataclass(frozen=True)
class Act:
    """What was done: "shuffle" or "recycle" with the cards as they were fed, "deal" with the cards that came out."""

    name: str
    cards: bytes


@dataclass
class World:
    """One way in which it may have gone: the generator, and the face in each slot."""

    declared: Declared
    rack: dict[int, int]

    def does(self, act: Act) -> bool:
        """Do it as declared; whether the cards fit."""
        if act.name == "shuffle":
            self.rack = dict(zip(self.declared.order(len(act.cards)), act.cards, strict=True))
            return True
        return all(self._recycles(card) if act.name == "recycle" else self._deals(card) for card in act.cards)

    def _recycles(self, card: int) -> bool:
        free = [slot for slot in range(SLOTS) if slot not in self.rack]
        self.rack[free[self.declared.below(len(free))]] = card
        return True

    def _deals(self, card: int) -> bool:
        occupied = sorted(self.rack)
        return self.rack.pop(occupied[self.declared.below(len(occupied))]) == card


def _after_idling(world: World, act: Act) -> Iterator[World]:
    declared = deepcopy(world.declared)
    for _ in range(IDLE + 1):
        found = World(deepcopy(declared), dict(world.rack))
        if found.does(act):
            yield found
        declared.cycle()


def cards_off(declared: Declared, acts: list[Act]) -> int:
    """Cards dealt that the declared generator doesn't draw: those of the first act that doesn't fit, and behind."""
    worlds = [World(declared, {})]
    for at, act in enumerate(acts):
        worlds = [found for world in worlds for found in _after_idling(world, act)]
        if not worlds:
            return sum(len(later.cards) for later in acts[at:] if later.name == "deal")
    return 0

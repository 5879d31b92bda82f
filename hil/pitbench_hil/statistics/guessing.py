"""A deck dealt face up, and somebody who guesses each card before it is turned: how many guesses are right.

Against a fair deck no guess is better than another: the card is one of those that are left, so the number of right ones
is the sum of chances 1/52, 1/51, … 1, whoever guesses. Against a shelf machine the best guess follows from the cards
seen: a completed deck's chance depends on its valleys alone, so what counts is whether the last step led down, how many
of the cards that are left are lower than the last, and the valleys so far. The optimum over these states is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pitbench_hil.statistics.harmonic import harmonic_chances
from pitbench_hil.statistics.result import Result
from pitbench_hil.statistics.samples import Columns, decks_of, in_columns
from pitbench_hil.statistics.scores import total_test
from pitbench_hil.statistics.shelves import order_chances

UP, DOWN = 0, 1
State = NDArray[np.float64]
"""Shape (last step, lower cards left, valleys so far)."""


@dataclass(frozen=True)
class Player:
    """The best guesser at a machine.

    Args:
        expected: right guesses a deck.
        guesses: by number of cards left, an array by last step, lower cards left and valleys so far; each guess is a
            rank among the cards left, 0 the lowest.
    """

    expected: float
    guesses: tuple[NDArray[np.int16], ...]


def fair_guesses(cards: int = 52) -> float:
    """Right guesses expected on a fair deck: 1 + 1/2 + … + 1/n."""
    return float((1 / np.arange(1, cards + 1)).sum())


def shelf_guesses(shelves: int, cards: int = 52) -> float:
    """Right guesses expected of the best player at a shelf machine."""
    return shelf_player(shelves, cards).expected


@cache
def shelf_player(shelves: int, cards: int = 52) -> Player:
    """The best player at a machine with so many shelves, computed from the last card to the first."""
    chances = order_chances(shelves, cards)
    highest = max(chances)
    weight = np.zeros((2, 1, len(chances) + 1))
    weight[:, 0, :-1] = [float(chance / highest) for chance in chances]
    right, guesses = np.zeros_like(weight), [np.zeros((2, 1, 1), np.int16)]
    for _ in range(cards):
        best, guess = _best(weight)
        right = _summed(right) + best
        weight = _summed(weight)
        guesses.append(guess)
        # Only their ratio counts; without this the numbers leave the range of a float.
        scale = weight.max()
        weight, right = weight / scale, right / scale
    # Before the first card there is no step and no lower card: as if a step had led up from below all.
    return Player(float(right[UP, 0, 0] / weight[UP, 0, 0]), tuple(guesses))


def _summed(after: State) -> State:
    """The weight of a state: that of all the states that the next card leads to."""
    none = np.zeros_like(after[DOWN][:1])
    lower = np.concatenate([none, np.cumsum(after[DOWN], axis=0)])
    higher = np.concatenate([np.cumsum(after[UP][::-1], axis=0)[::-1], none])
    return np.stack([lower + higher, lower + _valley(higher)])


def _best(after: State) -> tuple[State, NDArray[np.int16]]:
    """The weight of the next card that is likeliest, and its rank."""
    down, down_rank = _highest_so_far(after[DOWN])
    up, up_rank = (part[::-1] for part in _highest_so_far(after[UP][::-1]))
    none = np.zeros_like(down[:1])
    lower, higher = np.concatenate([none, down]), np.concatenate([up, none])
    lower_rank = np.concatenate([none, down_rank])
    higher_rank = np.concatenate([len(up) - 1 - up_rank, none])
    best = np.stack([np.maximum(lower, higher), np.maximum(lower, _valley(higher))])
    rank = [
        np.where(lower >= higher, lower_rank, higher_rank),
        np.where(lower >= _valley(higher), lower_rank, _valley(higher_rank)),
    ]
    return best, np.stack(rank).astype(np.int16)


def _highest_so_far(weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    highest = np.maximum.accumulate(weights, axis=0)
    rows = np.arange(len(weights))[:, None]
    return highest, np.maximum.accumulate(np.where(weights == highest, rows, 0), axis=0)


def _valley(higher: NDArray[Any]) -> NDArray[Any]:
    """A step up after one down: what is read is the state with one valley more."""
    return np.concatenate([higher[:, 1:], np.zeros_like(higher[:, :1])], axis=1)


def right_guesses(decks: ArrayLike, shelves: int) -> NDArray[Any]:
    """How often the best player at a machine with so many shelves is right in each deck."""
    found = decks_of(decks)
    player = shelf_player(shelves, found.shape[1])
    return np.concatenate([_right(columns, player) for columns in in_columns(found)])


def _right(columns: Columns, player: Player) -> NDArray[Any]:
    cards, decks = columns.shape
    right, seen = np.zeros(decks, np.uint16), np.zeros(decks, np.intp)
    lower, step = np.zeros(decks, np.intp), np.zeros(decks, np.intp)
    for at in range(cards):
        rank = np.add.reduce(columns[at + 1 :] < columns[at], axis=0, dtype=np.uint16).astype(np.intp)
        right += rank == player.guesses[cards - at][step, lower, seen]
        down = (rank < lower).astype(np.intp)
        seen += (step == DOWN) & (down == UP)
        step, lower = down, rank
    return right


def guessing_test(decks: ArrayLike, shelves: int = 10) -> Result:
    """Whether the best player at a shelf machine does as well on these decks as on fair ones. Exact."""
    found = decks_of(decks)
    return total_test(
        f"right guesses, {shelves} shelves", right_guesses(found, shelves), harmonic_chances(found.shape[1])
    )

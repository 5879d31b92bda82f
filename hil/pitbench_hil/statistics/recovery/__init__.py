"""Whether outputs give away the state of their generator. "Unpredictable" is claimed in vain if they do.

Each module here has one function, `predict(words, count)`: outputs of 32 bits in, from the first on and without a gap;
the `count` words that follow out, or None when this generator didn't make them or they are too few. Only two or three
words say little: a generator counts as solved when words that were held back are met (`solved_by`).
"""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from pitbench_hil.statistics.recovery import congruential, mersenne_twister, xorshift, yasmarang
from pitbench_hil.statistics.samples import SampleError, words_of

# Name, as a report prints it → its predictor.
PREDICTORS: dict[str, Callable[[ArrayLike, int], list[int] | None]] = {
    "linear congruential, modulo 2^32": congruential.predict,
    "xorshift32": xorshift.predict,
    "yasmarang (MicroPython's random), from its seed": yasmarang.predict,
    "MT19937": mersenne_twister.predict,
}


def solved_by(words: ArrayLike, held_back: int = 4) -> str | None:
    """The name of the generator that gives the last `held_back` words from those before them, or None.

    A chance hit takes 2^(−32·held_back). Raises SampleError when nothing is left to predict from.
    """
    row = words_of(words)
    known, held = row[:-held_back], row[-held_back:]
    if held_back < 1 or len(known) < 2:
        raise SampleError("There are too few words to predict from.", "Take two words more than are held back.")
    return next((name for name, predict in PREDICTORS.items() if predict(known, held_back) == held), None)

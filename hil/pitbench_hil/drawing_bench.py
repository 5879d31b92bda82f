"""The bench of an attended device whose outcomes the generator draws: outcomes in bulk, words, and their rescaling."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.declared_generator import Declared

# Bytes of outcomes or words that one line of the link can carry.
DRAWN_AT_ONCE = 640


class DrawingBench(AttendedBench):
    """Bench for one board.

    Args:
        board: an open target that runs such a device.
    """

    # Draws in a row that no two generators make alike by chance.
    sample_draws = 1

    def draws(self, count: int, at: int | None = None, step: int = 0) -> list[Any]:
        """Outcomes of so many games, drawn where a game draws its own.

        Args:
            count: how many.
            at, step: the calendar's second at the first and how much later at each other, each seeded anew.
        """
        raise NotImplementedError

    def draw_of(self, declared: Declared) -> Any:
        """The outcome of its next game, by the declared generator."""
        raise NotImplementedError

    def sample(self) -> list[Any]:
        """`sample_draws` of them in a row."""
        return self.draws(self.sample_draws)

    def sample_of(self, declared: Declared) -> list[Any]:
        """The same by the declared generator."""
        return [self.draw_of(declared) for _ in range(self.sample_draws)]

    def drawn_bytes(self, count: int, size: int, at: int | None = None, step: int = 0) -> bytes:
        """The outcomes of so many games as the link packs them, `size` bytes each; `at`, `step` as for `draws`."""
        at_once, parts = DRAWN_AT_ONCE // size, []
        for done in range(0, count, at_once):
            dates = {} if at is None else {"at": at + done * step, "step": step}
            games = min(at_once, count - done)
            parts.append(base64.b64decode(self.do("draw", games=games, **dates)["drawn"]))
        return b"".join(parts)

    def words(self, count: int) -> bytes:
        """Bytes of the generator's own output."""
        sizes = [min(DRAWN_AT_ONCE, count - at) for at in range(0, count, DRAWN_AT_ONCE)]
        return b"".join(base64.b64decode(self.do("words", n=size)["words"]) for size in sizes)

    def rescale(self, n: int, words: Iterable[int]) -> list[int | None]:
        """The outcome, of `n`, of each word, None where it is rejected. Words are bytes, or 16 bits where n > 256."""
        width = 1 if n <= 256 else 2
        data = b"".join(word.to_bytes(width, "big") for word in words)
        found: list[int | None] = []
        for at in range(0, len(data), 90):
            found += self.do("rescale", n=n, words=data[at : at + 90].hex())["outcomes"]
        return found

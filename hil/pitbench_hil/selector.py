"""A selector on the bench: a press, a number on the plant's display, and the rounds that it recalls.

Device time moves by `advance` and hardly by itself: every wait here is in device milliseconds.
"""

from __future__ import annotations

from typing import Any

from pitbench_hil.declared_generator import Declared
from pitbench_hil.drawing_bench import DrawingBench

PAI_GOW_POKER, ASIA_POKER, SUPREME_PAI_GOW = ("pai gow poker", "asia poker", "supreme pai gow")
MOST = 7
NUMBERS = range(1, MOST + 1)
# Enough for the moment without a number, and for the display.
SELECT_MS = 1200
BUTTONS = ("select", "done", "recall")
# Numbers that no two generators draw alike by chance: 7^48 is 2^135.
SAMPLE = 48


class SelectorBench(DrawingBench):
    """Bench for one board.

    Args:
        board: an open target that runs a selector.
    """

    idle = ("idle", "locked", "shown")
    sample_draws = SAMPLE

    # -- what people see -----------------------------------------------------------------------

    def display(self) -> int:
        """The figure on the display, 0 for none."""
        return int(self.truth()["display"])

    def figures(self) -> list[int]:
        """The last 64 figures that were ever on it, in order, whatever power cuts came between."""
        return list(self.truth()["figures"])

    def rounds(self) -> list[list[Any]]:
        """The rounds that it recalls: [number, calendar, game, outcome]."""
        return list(self.do("rounds")["rounds"])

    # -- what people do ------------------------------------------------------------------------

    def select(self) -> int:
        """A round; returns the figure on the display. Raises Unreached where none is shown."""
        self.press("select")
        self.until("shown", within=SELECT_MS)
        self.advance(100)
        return self.display()

    def press_all(self, keys: tuple[bool, ...] = (False, True)) -> None:
        """Press every button but clear, without the key and with it turned, a round's time each."""
        for turned in keys:
            self.do("key", turned=turned)
            for button in BUTTONS:
                self.press(button)
                self.advance(SELECT_MS)
        self.do("key", turned=False)

    # -- randomness ----------------------------------------------------------------------------

    def draws(self, count: int, at: int | None = None, step: int = 0) -> list[Any]:
        """Numbers of so many rounds, drawn where a round draws its own; see DrawingBench."""
        return list(self.drawn_bytes(count, 1, at, step))

    def draw_of(self, declared: Declared) -> int:
        """The number of its next round, by the declared generator."""
        return declared.number(MOST)

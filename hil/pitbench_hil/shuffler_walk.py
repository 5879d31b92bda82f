"""A random walk through everything that can happen to a shuffler, held against cards, chart and plant.

Cards are followed by the bench's own books: what was laid in, what lay in the tray when it was taken, what a technician
took out of gate, exit and hopper. Every state seen is held against the reference chart.
"""

from __future__ import annotations

from collections import Counter

from pitbench_hil import walking
from pitbench_hil.acts import afresh
from pitbench_hil.attended_bench import START_MS
from pitbench_hil.charts.shuffler import CHART
from pitbench_hil.shuffler import DECK, ShufflerBench
from pitbench_hil.shuffler_errors import PARTS
from pitbench_hil.shuffler_moves import DOORS, FEW, dealt
from pitbench_hil.walking import Stimulus, do, press, watch

# From these alone a card may come out.
RELEASING = ("ready", "dealing", "unloading")
ROUNDS = 6


class Walk(walking.Walk[ShufflerBench]):
    """One walk."""

    def __init__(self, bench: ShufflerBench) -> None:
        super().__init__(bench, CHART, STIMULI, "idle")
        self.unshuffled = 0
        self.laid_in: Counter[int] = Counter()
        self.came_out: Counter[int] = Counter()
        self.left_behind = 0
        self._tray = 0
        self._state = ""

    def begin(self) -> None:
        """A board as new, in a world as new, brought to idle. Raises Unreached."""
        afresh(self.bench)
        self._state = "idle"

    def end(self) -> None:
        """A technician sees to everything, and has all cards out."""
        for _ in range(ROUNDS):
            self.mend()
            self.bench.door("service", is_open=True)
            self.clear_path()
            for which in DOORS:
                self.bench.door(which, is_open=False)
            self.clear()
            if self._state in ("ready", "unshuffled"):
                self.bench.press("unload")
                for _ in range(40):
                    self.look()
                    if self._state != "unloading":
                        break
                    self.bench.advance(5000)
            self.take_away()
            if self._state == "idle":
                break
        truth = self.bench.truth()
        self.left_behind = truth["rack"] + truth["gate"] + truth["exit"] + (self._state != "idle")

    # -- what the bench sees --------------------------------------------------------------------------------------

    def look(self) -> None:
        """State against the chart, tray against the state."""
        status = self.bench.status()
        state = CHART.word(status["state"])
        self._see(state)
        truth = self.bench.truth()
        come = dealt(truth) - self._tray
        if come > 0 and not {self._state, state} & set(RELEASING):
            self.unshuffled += come
        if state == "ready" and self._state == "shuffling" and truth["rack"] != len(DECK):
            self.unshuffled += truth["rack"]
        self._state, self._tray = state, dealt(truth)

    # -- what people do -------------------------------------------------------------------------------------------

    def load(self, cards: bytes) -> None:
        """Lay cards in."""
        self.laid_in.update(cards)
        self.bench.load(cards)

    def take_away(self) -> None:
        """Take what lies in the tray."""
        self.came_out.update(self.bench.tray())
        self.bench.do("take")
        self._tray = 0

    def mend(self) -> None:
        """Every part is sound again."""
        for part in PARTS:
            self.bench.do("mend", part=part)

    def clear_path(self) -> None:
        """Take out what is in hopper, gate and exit; raises LinkError while all doors are closed."""
        loose = bytes.fromhex(self.bench.truth()["loose"])
        self.bench.do("clear_path")
        self.came_out.update(loose)

    def clear(self) -> None:
        """Clear with the key; look before the self-test has ended, and after it."""
        self.bench.press_clear()
        self.look()
        self.bench.advance(START_MS)
        self.look()

    def cut(self) -> None:
        """Power gone and back."""
        self.bench.cut()
        # What fell into the tray before the cut was seen by nobody.
        self.bench.power_on()
        self._chart = CHART.follow()
        self._state = "ready" if self._state in RELEASING else self._state
        self.look()


STIMULI: dict[str, Stimulus] = {
    "deck": lambda walk: walk.load(DECK),
    "few": lambda walk: walk.load(FEW),
    "take": Walk.take_away,
    **{button: press(button) for button in ("start", "deal", "hand", "unload", "clear")},
    "clear with the key": Walk.clear,
    **{f"wait {ms} ms": watch(ms) for ms in (30, 200, 1000, 9000)},
    **{f"open {which}": do("door", which=which, open=True) for which in DOORS},
    **{f"close {which}": do("door", which=which, open=False) for which in DOORS},
    **{f"break {part}": do("break", part=part, how="stall") for part in ("feed", "rack", "insert", "eject")},
    "break camera": do("break", part="camera", how="dead"),
    "mend": Walk.mend,
    "clear path": Walk.clear_path,
    "power cut": Walk.cut,
}

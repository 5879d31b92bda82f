"""House rule: validation disturbs no game, and a game no validation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pitbench.image import Image
from pitbench.protocols import gat
from pitbench.protocols.gat import Command
from pitbench_hil.board_bench import Unreached
from pitbench_hil.check import Check
from pitbench_hil.comparing import differing
from pitbench_hil.marks import rule
from pitbench_hil.shuffler import CARD_MS, DECK, STEP_MS, ShufflerBench
from pitbench_hil.shuffler_gat import Terminal, new_seed
from pitbench_hil.shuffler_moves import afresh

# On a board each ends with a write of flash, and that takes time of its own.
CALCULATIONS = 6
RAW = "a5" * 32
SHUFFLE_MS = CARD_MS * (len(DECK) + 8) * 2
HAND_MS = 20_000


@dataclass
class Game:
    """Order that came out; device time in ms of the shuffle and of the first hand."""

    order: bytes
    shuffle_ms: int
    hand_ms: int


class Validations:
    """Calculations that run while a game does, one after another.

    Args:
        left: how many.
    """

    def __init__(self, terminal: Terminal, check: Check, left: int) -> None:
        self.terminal, self.left = terminal, left
        self._check = check
        self._seed = b""

    def go_on(self) -> None:
        """Start one, or look whether it is done."""
        if not self._seed and self.left:
            self._seed, self.left = new_seed(), self.left - 1
            self._check.stimulus("a calculation started", seed=self._seed.hex())
            said = self.terminal.ask(Command.START, bytes([gat.REPORT_LEVEL]) + self._seed)
            self._check.expect("answer to the start", gat.frame_text(said) if said else "silence", "started")
        elif self._seed and self.terminal.state() == "done":
            self._compare()

    def finish(self) -> None:
        """Let the last one end."""
        if self._seed:
            self.terminal.rest()
            self._compare()

    def _compare(self) -> None:
        self._check.measure("differences", self.terminal.wrong_in(self.terminal.last_result(), self._seed))
        self._seed = b""


@rule("HOUSE-gat-while-working")
def test_validation_while_shuffling_and_dealing(fresh: ShufflerBench, image: Image, check: Check) -> None:
    fresh.board.rig.entropy_at_start("fixed", RAW)
    undisturbed = game(fresh, lambda: None)
    check.stimulus("the same game from the same raw words, and a terminal that validates")
    validations = Validations(Terminal(fresh, image, check), check, 2 * CALCULATIONS)
    watched = game(fresh, validations.go_on)
    validations.finish()
    check.expect("calculations left", validations.left, 0)
    check.expect("cards dealt", sorted(watched.order), sorted(DECK))
    check.measure("cards_out_of_place", differing(undisturbed.order, watched.order))
    check.measure("slower_by", watched.shuffle_ms - undisturbed.shuffle_ms)
    check.measure("slower_by", watched.hand_ms - undisturbed.hand_ms)


def game(bench: ShufflerBench, meanwhile: Callable[[], None]) -> Game:
    """Shuffle and deal a deck on a board that starts over, with something done at each step of time."""
    afresh(bench)
    # The first calculation is under way when the order is drawn.
    meanwhile()
    bench.load()
    bench.press("start")
    let_pass(bench, SHUFFLE_MS, meanwhile)
    shuffled = lasted(bench, "shuffling")
    bench.press("hand")
    let_pass(bench, HAND_MS, meanwhile)
    hand = lasted(bench, "dealing")
    while bench.status()["state"] == "ready":
        bench.press("hand")
        let_pass(bench, HAND_MS, meanwhile)
    return Game(bench.tray(), shuffled, hand)


def let_pass(bench: ShufflerBench, within: int, meanwhile: Callable[[], None]) -> None:
    """Until the device is at rest. Raises Unreached."""
    for _ in range(within // STEP_MS):
        if bench.status()["state"] in ("ready", "idle"):
            return
        meanwhile()
        bench.advance(STEP_MS)
    raise Unreached(f"not at rest after {within} ms: {bench.status()}")


def lasted(bench: ShufflerBench, state: str) -> int:
    """Device ms of the last time in this state, by the device's events. Raises Unreached."""
    events = bench.events()
    began = max((event[1] for event in events if event[2] == state), default=0)
    ended = [event[1] for event in events if event[1] >= began and event[2] in ("ready", "idle")]
    if not began or not ended:
        raise Unreached(f"it was to be {state}, and was not, or not to the end: {events[-3:]}")
    return int(min(ended) - began)

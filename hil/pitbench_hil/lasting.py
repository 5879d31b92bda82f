"""A real board lasts through a run: looked at before any rule, started over before each test, its wear counted."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pitbench.addresses import Target
from pitbench.board_facts import board_facts
from pitbench.errors import PitbenchError
from pitbench.image import Image, build_image, load_image
from pitbench.targets import Board, open_target, prove_same_board

BENCH = "bench"


class WrongBoard(PitbenchError):
    """The board in hand isn't the one that was to be judged: said first, before any rule runs."""


class BudgetSpent(PitbenchError):
    """The run wrote the board's store as often as it may."""


@dataclass
class LastingBoard:
    """The one board of a run.

    Args:
        name: of its board (`boards/NAME.toml`), as it says itself.
        kind: of the image that it holds.
        budget: store writes that this run may make, None: as many as it needs.
    """

    name: str
    kind: str
    budget: int | None = None
    store_writes: int = 0

    def refusal(self, kind: str) -> str | None:
        """Why a test on this kind of image can't run, or None."""
        return None if kind == self.kind else f"the board holds a {self.kind} image"

    def start_over(self, board: Board) -> None:
        """Make it a new board; a release image stays as it is. Raises BudgetSpent, PitbenchError."""
        if self.budget is not None and self.store_writes > self.budget:
            raise BudgetSpent(
                f"This run wrote the store {self.store_writes} times, and --erase-budget is {self.budget}.",
                "Give it a larger one, or narrow the run by --rules.",
            )
        if self.kind == BENCH:
            board.start_over()

    def count(self, board: Board) -> None:
        """Add what a test wrote to the store, as far as its board can still tell."""
        # One that is off or unplugged can't.
        with suppress(PitbenchError):
            if self.kind == BENCH and board.has_power:
                self.store_writes += board.link.do("store")["ever"]

    def wear(self) -> str:
        """A line about the run's writes against the board's budget, "" where they weren't told."""
        if self.kind != BENCH:
            return ""
        budget = board_facts(self.name)["erase_budget"]
        against = f"the board's budget is {budget:,} erases a sector" if budget else "the board's store doesn't wear"
        return f"store writes: {self.store_writes:,}; {against}"


def look_at(target: Target, device: str, wire: str, images: Mapping[str, Path], budget: int | None) -> LastingBoard:
    """Open a real board and make sure that it is the one to judge: before anything is written, collected or printed.

    Args:
        target: of a real board.
        device: what it should be.
        wire: the protocol that its wire should have.
        images: folders of built images by kind; without one the image is built.
        budget: store writes that this run may make, or None.

    Raises: WrongBoard, NotOneBoard, PitbenchError of many kinds, each one sentence.
    """
    with open_target(target, device=device, wire=wire) as board:
        identity = board.identity
        if identity["device"] == device and identity["wire"] != wire:
            raise WrongBoard(
                f"The wire of the board of {target.text} is {identity['wire']}, not {wire}.",
                "Name it with --wire, or flash the image with that wire.",
            )
        prove_same_board(board)
        if identity["device"] != device:
            raise WrongBoard(
                f"The board of {target.text} is a {identity['device']}, not a {device}.", "Flash the device's image."
            )
        refuse_other_image(identity, digests(_expected(identity, device, images)))
    return LastingBoard(str(identity["board"]), str(identity["image"]), budget)


def digests(image: Image) -> dict[str, str]:
    """What an image's identity has to say, calculated on the PC."""
    return {"digest": image.digest, "crc": f"{image.crc:04x}", "key": image.key}


def refuse_other_image(identity: Mapping[str, Any], pc: Mapping[str, str]) -> None:
    """Raises WrongBoard when a board's identity differs from what the PC calculated."""
    for key, value in pc.items():
        if identity.get(key) != value:
            raise WrongBoard(
                f"The board holds another image: its {key} is {identity.get(key)}, the image's is {value}.",
                "Flash the image that is to be judged, or name that image with --image.",
            )


def _expected(identity: Mapping[str, Any], device: str, images: Mapping[str, Path]) -> Image:
    kind = str(identity["image"])
    if kind in images:
        return load_image(images[kind], device, kind)
    with tempfile.TemporaryDirectory(prefix="pitbench-") as folder:
        out, board, wire = Path(folder) / "image", str(identity["board"]), str(identity["wire"])
        return build_image(device, kind, out, board=board, wire=wire)

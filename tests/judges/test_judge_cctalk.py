"""A bill on ccTalk, from the mouth to the credit, and the frames of it as @serialport/parser-cctalk cuts them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pitbench.deadline import Deadline
from pitbench.items import item_named
from pitbench.kiosk.events import KioskEvent
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.run import pump
from pitbench.protocols.acceptor_host import host_module
from pitbench.protocols.cctalk import HOST, VALIDATOR, Decoder, Frame, encode
from pitbench.targets import Board, open_target
from pitbench.transport import FROM_BOARD, TO_BOARD

SCRIPT = Path(__file__).with_name("parser_cctalk.js")
SCENE_S = 60.0
PARSER_S = 60
# No frame has this length, so that cuts fall everywhere in them.
PIECE = 7


class Line:
    """What crosses the wire of a board, direction by direction."""

    def __init__(self) -> None:
        self.pieces: dict[str, list[bytes]] = {TO_BOARD: [], FROM_BOARD: []}

    def __call__(self, when: float, port: str, direction: str, data: bytes) -> None:
        if port == "wire":
            self.pieces[direction].append(data)


@pytest.fixture
def line(image, tmp_path) -> Line:
    """A bill of 20 dollars and one of 5, seen through by our kiosk on our board."""
    line = Line()
    module = host_module("cctalk")
    with open_target("virtual", image=image("cctalk"), root=tmp_path / "board", trace=line) as board:
        kiosk = Kiosk(Journal(tmp_path / "journal"), Policy(), module.Host(module.Settings()))
        try:
            see_through(kiosk, board, "usd20", "usd5")
        finally:
            kiosk.close()
        assert [credit.cents for credit in kiosk.credits] == [2000, 500]
        assert board.link.do("plant")["stacked"] == 2
    return line


def see_through(kiosk: Kiosk, board: Board, *notes: str) -> None:
    deadline, waiting, events = Deadline(SCENE_S), list(notes), list[KioskEvent]()

    def goes_on() -> bool:
        assert not deadline.passed, f"no end: {events}"
        if waiting and kiosk.host.ready and board.link.do("status")["state"] == "idle":
            board.link.do("insert", item=item_named(waiting.pop(0)).record())
        return len(kiosk.credits) < len(notes)

    pump(kiosk, board.wire, events.append, goes_on)


def framed(pieces: Iterable[bytes], npm: Path) -> list[bytes]:
    """The frames that the judge finds."""
    told = "".join(f"{piece.hex()}\n" for piece in pieces)
    environment = {**os.environ, "NODE_PATH": str(npm)}
    run = subprocess.run(
        ["node", SCRIPT], input=told, env=environment, capture_output=True, text=True, timeout=PARSER_S
    )
    assert run.returncode == 0, run.stderr
    return [bytes.fromhex(frame) for frame in run.stdout.split()]


def cut(pieces: list[bytes]) -> Iterator[bytes]:
    whole = b"".join(pieces)
    return (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))


def spelled(frame: Frame) -> bytes:
    source = {HOST: VALIDATOR, VALIDATOR: HOST}[frame.to]
    return encode(frame.header, frame.data, to=frame.to, source=source)


def test_the_judge_finds_each_frame_of_our_host_and_of_our_device(npm: Path, line: Line, record_property) -> None:
    sent, came = line.pieces[TO_BOARD], line.pieces[FROM_BOARD]
    assert framed(sent, npm) == framed(cut(sent), npm) == sent
    ours = [spelled(frame) for frame in Decoder().feed(b"".join(came))]
    assert b"".join(ours) == b"".join(came)
    assert framed(came, npm) == framed(cut(came), npm) == ours
    for name, frames in (("host", sent), ("device", ours)):
        record_property("shown", f"{len(frames)} frames of the {name}, the last is {frames[-1].hex(' ')}")

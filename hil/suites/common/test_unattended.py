"""13:69E-1.28(c): the device is the same whether a bench is attached to its link or not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pitbench.image import Image
from pitbench.protocols.gat import GatError
from pitbench.protocols.gat_host import FUNCTIONS, GatHost, GatSettings
from pitbench.targets import Board
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device
from pitbench_hil.comparing import differing
from pitbench_hil.left_alone import left_alone
from pitbench_hil.marks import images, rule
from pitbench_hil.run import Run

SEEDS = (b"", b"\x31\x32", bytes(range(20)))
REPORT, SPECIAL, NO_LEVEL = 0x01, 0xBA, 0x77
COMPONENTS = ("/image/main.mpy", "/image/no_such_file.mpy")
# A frame whose CRC is wrong: dropped in silence.
DAMAGED = bytes.fromhex("01040000")
# Two boards differ in it, and in nothing else.
SERIAL = re.compile(rb"(?im)^serial\b.*$")


@pytest.fixture
def hosts(run: Run, device: Device[Any], board: Board, image: Image, tmp_path: Path) -> Iterator[dict[str, GatHost]]:
    """A validator on the attended board, and one on a board that nobody attends to; attended devices speak GAT."""
    settings = GatSettings(poll_s=0.02, tries=2)
    with left_alone(board, image, tmp_path / "alone" / "board", run.trace) as alone:
        yield {name: GatHost(each.wire, settings, each.clock) for name, each in (("attended", board), ("alone", alone))}


def answers(host: GatHost, board: Board | None) -> list[str]:
    """What a validator is told, asked for in one order; `board` is the attended one, its link in use meanwhile."""
    told = []

    def ask(what: str, level: int, parameter: bytes) -> None:
        try:
            result = host.calculate(level, parameter)
            told.append(f"{what}: format {result.format}, {SERIAL.sub(b'', result.data)!r}")
        except GatError as error:
            told.append(f"{what}: {type(error).__name__}")
        if board:
            board.link.do("status")

    told.append(f"version {host.status().version_text}")
    for seed in SEEDS:
        ask(f"report {seed.hex()}", REPORT, seed)
    ask("functions", SPECIAL, FUNCTIONS.encode())
    for path in COMPONENTS:
        ask(path, SPECIAL, f"Component\t{path}\t3132".encode())
    ask("no such level", NO_LEVEL, b"")
    host.transport.write(DAMAGED)
    told.append(f"damaged frame: {host.transport.read(0.3)!r}")
    told.append(f"last level {host.last().level:02x}")
    return told


@rule("NJ-1.28(c)/same-unattended")
@images("bench", "release")
def test_same_on_the_wire(check: Check, board: Board, hosts: dict[str, GatHost]) -> None:
    check.stimulus(
        "status, reports with seeds, functions, components, an unknown level, a damaged frame, on both boards"
    )
    with check.duty("answers a validator", GatError):
        attended, alone = answers(hosts["attended"], board), answers(hosts["alone"], None)
    check.note("answers", count=len(alone), attended=attended, alone=alone)
    check.expect("reports told", sum("format" in answer for answer in alone) >= len(SEEDS), True)
    check.measure("differences", differing(attended, alone))

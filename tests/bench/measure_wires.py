"""What each wire costs: frames a second of the host's codec, and how long a board takes to answer, in one run.

An answer's time is the whole exchange less what its bytes take on the line; on the emulated board in device time, the
erases of a note's storing included. Hosts in the field allow 50 to 300 ms.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from pitbench import items
from pitbench.errors import PitbenchError
from pitbench.protocols import protocol_named
from pitbench.protocols.acceptor_host import host_names
from pitbench.protocols.id003 import Command, Status
from pitbench.targets import open_target
from pitbench.uf2 import find_uf2
from pitbench_hil.acceptor import AcceptorBench

VECTORS = Path(__file__).parents[1] / "vectors"
FRAMES = 20_000
NOTES = 10
NOTES_EMULATED = 2
Row = Callable[..., None]


def measure(row: Row) -> None:
    """Print two lines a wire, three where there is a UF2 to boot."""
    emulated = _emulated()
    for wire in host_names():
        codec(wire, row)
        answers(wire, "virtual", "virtual board", NOTES, row)
        if emulated:
            answers(wire, emulated, "emulated Pico, device time", NOTES_EMULATED, row)
    if not emulated:
        row("answers of the emulated Pico", "not measured", "no UF2 to boot")


def _emulated() -> str:
    try:
        return f"emu:{find_uf2()}"
    except PitbenchError:
        return ""


def codec(wire: str, row: Row) -> None:
    """The host's decoder, on the known frames of the device one behind the other."""
    rows = json.loads((VECTORS / f"{wire}.json").read_text())["frames"]
    frames = [bytes.fromhex(one["hex"]) for one in rows if one["from"] == "device"]
    rounds = FRAMES // len(frames)
    stream, decoder = b"".join(frames) * rounds, protocol_named(wire).Decoder()
    began = time.perf_counter()
    found = len(decoder.feed(stream))
    took = time.perf_counter() - began
    title = protocol_named(wire).TITLE
    row(f"{title}: frames decoded", f"{found / took:,.0f} a second", f"{len(stream) / took / 1e6:.2f} MB a second")


def answers(wire: str, target: str, where: str, notes: int, row: Row) -> None:
    """Polls without a pause while notes are stacked."""
    with open_target(target, wire=wire) as board:
        bench = AcceptorBench(board)
        bench.start()
        times = [took for _ in range(notes) for took in one_note(bench)]
    times.sort()
    p50, p99 = statistics.median(times), times[min(len(times) - 1, len(times) * 99 // 100)]
    title = protocol_named(wire).TITLE
    row(f"{title}: answer to a poll", f"p50 {p50:.2f} p99 {p99:.2f} ms", f"{where}, {len(times)} polls", "≤ 50 ms")


def one_note(bench: AcceptorBench) -> list[float]:
    """Times of the polls that see a note through, in ms of the board's clock."""
    times = []
    bench.insert(items.genuine(20))
    credited = False
    while True:
        began = bench.board.clock()
        frame = bench.status()
        times.append((bench.board.clock() - began) * 1000 - bench.board.byte_ms * bench.speech.line_bytes)
        if frame.cmd == Status.ESCROW:
            bench.command(Command.STACK_1)
        elif frame.cmd == Status.VEND_VALID:
            bench.ack()
            credited = True
        elif frame.cmd == Status.IDLE and credited:
            return times

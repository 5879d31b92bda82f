"""How long replies take, told apart from how late this PC was."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.board_bench import Unreached
from pitbench_hil.run import Run

# Beyond this uncertainty a sample says more about the PC than about the device.
BUSY_MS = 15.0


@dataclass(frozen=True)
class ReplyTime:
    """Time of one reply in ms, from the request's last byte to the reply's first, and its uncertainty in ms."""

    command: int
    ms: float
    band_ms: float


def reply_times(run: Run, bench: AcceptorBench, requests: Iterable[tuple[int, bytes]]) -> list[ReplyTime]:
    """Send requests one at a time; those during which this PC wasn't itself late, all of them if it always was.

    What is left out is chosen by the PC's lateness alone, never by the reply's.

    Raises Unreached when a reply is missing.
    """
    run.watch_lateness()
    samples = [_reply_time(run, bench, command, data) for command, data in requests]
    return [sample for sample in samples if sample.band_ms <= BUSY_MS] or samples


def typical(samples: Iterable[ReplyTime]) -> list[ReplyTime]:
    """The median sample of each command: a virtual board's own process is kept waiting by a busy PC too."""
    by_command: dict[int, list[ReplyTime]] = {}
    for sample in samples:
        by_command.setdefault(sample.command, []).append(sample)
    return [sorted(times, key=lambda sample: sample.ms)[len(times) // 2] for times in by_command.values()]


def _reply_time(run: Run, bench: AcceptorBench, command: int, data: bytes) -> ReplyTime:
    start, began = time.monotonic(), bench.board.clock()
    frame = bench.exchange(command, data)
    took = (bench.board.clock() - began) * 1000
    if frame is None:
        raise Unreached(f"command {command:02x} was not answered")
    on_the_line = bench.board.byte_ms * bench.speech.line_bytes
    return ReplyTime(command, round(took - on_the_line, 3), run.uncertainty_ms(start))

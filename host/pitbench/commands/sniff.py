"""Show what crosses a wire, frame by frame in words: live, or from a trace.

pitbench sniff TRACE.jsonl --protocol ebds                 a trace of a run, or one that was recorded
pitbench sniff - --protocol ebds                           the same from stdin
pitbench sniff PORT --protocol cctalk                      a tap that hears both sides on one line
pitbench sniff --host PORT --device PORT --protocol ssp    two taps, one on each side's line
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from pitbench.addresses import port_of
from pitbench.errors import PitbenchError
from pitbench.framing import Framing
from pitbench.protocols import names, protocol_named
from pitbench.sniffing import EITHER, Row, Sniffer, rows_of
from pitbench.transport import FROM_BOARD, TO_BOARD, Transport, open_transport

# How long one port is waited for before the other is looked at, in seconds.
TURN_S = 0.005


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("source", nargs="?", help="a trace, - for stdin, or a port that hears both sides")
    parser.add_argument("--protocol", default="id003", help=f"{', '.join(names())} (default: %(default)s)")
    parser.add_argument("--host", metavar="PORT", help="a tap on what the host sends")
    parser.add_argument("--device", metavar="PORT", help="a tap on what the device sends")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what a port hears to this trace, too")
    parser.add_argument("--seconds", type=float, help="stop listening after this time; otherwise on Ctrl-C")


def run(args: argparse.Namespace) -> int:
    sniffer = Sniffer(protocol_named(args.protocol))
    taps = {direction: port for direction, port in ((TO_BOARD, args.host), (FROM_BOARD, args.device)) if port}
    if bool(args.source) == bool(taps):
        raise PitbenchError(
            "What is to be listened to?", "Name a trace, - or a port; or --host PORT and --device PORT."
        )
    if args.source == "-":
        return _tell(sniffer, rows_of(sys.stdin, "stdin"))
    if args.source and Path(args.source).is_file():
        with Path(args.source).open(encoding="utf-8", errors="replace") as lines:
            # A trace keeps what may be half a number back until it goes on: its lines aren't in order.
            return _tell(sniffer, iter(sorted(rows_of(lines, args.source), key=lambda row: row.time)))
    return _listen(sniffer, taps or {EITHER: args.source}, protocol_named(args.protocol).FRAMING, args)


def _tell(sniffer: Sniffer, rows: Iterator[Row]) -> int:
    for row in rows:
        _say(sniffer.take(row))
    _say(sniffer.flush())
    return 0


def _say(lines: list[str]) -> None:
    for line in lines:
        print(line, flush=True)


def _listen(sniffer: Sniffer, taps: dict[str, str], framing: Framing, args: argparse.Namespace) -> int:
    until = None if args.seconds is None else time.monotonic() + args.seconds
    with ExitStack() as held:
        ports = {
            direction: held.enter_context(open_transport(port_of(port), name="wire", framing=framing))
            for direction, port in taps.items()
        }
        record = held.enter_context(args.record.open("a", encoding="utf-8")) if args.record else None
        try:
            while until is None or time.monotonic() < until:
                _turn(sniffer, ports, record)
        finally:
            _say(sniffer.flush())
    return 0


def _turn(sniffer: Sniffer, ports: Mapping[str, Transport], record: IO[str] | None) -> None:
    for direction, port in ports.items():
        data = port.read(TURN_S)
        if data:
            row = Row(time.time(), direction, data)
            _keep(row, record)
            _say(sniffer.take(row))
    if sniffer.due(time.time()):
        _say(sniffer.flush())


def _keep(row: Row, record: IO[str] | None) -> None:
    try:
        if record:
            record.write(row.json() + "\n")
            record.flush()
    except OSError as error:
        raise PitbenchError(
            f"The record can't be written ({error.strerror}).", "Make room, or name another."
        ) from error

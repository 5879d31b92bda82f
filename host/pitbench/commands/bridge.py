"""Give host software a port on any machine to a board's wire: a pty here, or TCP, raw or RFC 2217.

pitbench bridge PORT --protocol ebds                       a pty on this machine
pitbench bridge PORT --protocol ebds --tcp 4001            raw bytes: socket://127.0.0.1:4001
pitbench bridge PORT --rfc2217 4001                        the host sets the line itself: rfc2217://127.0.0.1:4001
pitbench bridge LINK --tunnel --protocol ebds              the wire of a board with one port (image built with --tunnel)
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from pitbench.addresses import port_of
from pitbench.bridging import LOOPBACK, Bridge, PtySide, Side, TcpSide
from pitbench.errors import PitbenchError
from pitbench.framing import Framing
from pitbench.protocols import names, protocol_named
from pitbench.sniffing import Row, Sniffer
from pitbench.transport import Transport, open_transport
from pitbench.tunnel import open_tunnel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("port", help="the board's: path, usb:ADAPTER or URL")
    parser.add_argument("--protocol", default="id003", help=f"sets the line: {', '.join(names())} (%(default)s)")
    parser.add_argument("--tunnel", action="store_true", help="PORT is the board's link, and its wire goes over it")
    sides = parser.add_mutually_exclusive_group()
    sides.add_argument("--tcp", metavar="[HOST:]PORT", help=f"listen there for raw bytes (host: {LOOPBACK})")
    sides.add_argument("--rfc2217", metavar="[HOST:]PORT", help="listen there for a host that sets the line itself")
    parser.add_argument("--sniff", action="store_true", help="say what crosses, frame by frame")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what crosses to this trace")
    parser.add_argument("--seconds", type=float, help="stop after this time; otherwise on Ctrl-C")


def run(args: argparse.Namespace) -> int:
    protocol = protocol_named(args.protocol)
    until = None if args.seconds is None else time.monotonic() + args.seconds
    with ExitStack() as held:
        board, side = _sides(args, protocol.FRAMING, held)
        held.callback(side.close)
        record = held.enter_context(args.record.open("a", encoding="utf-8")) if args.record else None
        told = Ear(Sniffer(protocol) if args.sniff else None, record)
        print(f"{args.port} is at {side.address}", flush=True)
        try:
            Bridge(board, side, told).run(lambda: until is None or time.monotonic() < until)
        finally:
            told.flush()
    return 0


class Ear:
    """Says and records what crosses.

    Args:
        sniffer: None says nothing.
        record: an open file, None records nothing.
    """

    def __init__(self, sniffer: Sniffer | None, record: IO[str] | None) -> None:
        self._sniffer, self._record = sniffer, record
        self._lock = threading.Lock()

    def __call__(self, row: Row) -> None:
        with self._lock:
            self._keep(row)
            if self._sniffer:
                self._say(self._sniffer.take(row))

    def _keep(self, row: Row) -> None:
        try:
            if self._record:
                print(row.json(), file=self._record, flush=True)
        except OSError as error:
            # The host's line is worth more than its record.
            print(f"pitbench: the record ends here ({error.strerror}); the bridge goes on.", file=sys.stderr)
            self._record = None

    def flush(self) -> None:
        """Say what is in hand."""
        if self._sniffer:
            self._say(self._sniffer.flush())

    def _say(self, lines: list[str]) -> None:
        for line in lines:
            print(line, flush=True)


def _sides(args: argparse.Namespace, framing: Framing, held: ExitStack) -> tuple[Transport, Side]:
    address = _address(args.tcp or args.rfc2217) if args.tcp or args.rfc2217 else None
    if args.tunnel and args.rfc2217:
        raise PitbenchError("A tunnelled wire has no line to set.", "Write --tcp instead of --rfc2217.")
    if args.tunnel:
        return held.enter_context(open_tunnel(port_of(args.port))), TcpSide(*address) if address else PtySide()
    board = held.enter_context(open_transport(port_of(args.port), name="wire", framing=framing))
    if address is None:
        return board, PtySide()
    return board, TcpSide(*address, board.pyserial if args.rfc2217 else None)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 0xFFFF:
        raise PitbenchError(f"{text} is no address to listen at.", "Write HOST:PORT, or a port alone: 4001.")
    return host.strip("[]") or LOOPBACK, int(port)

"""Run a kiosk on the wire of a bill acceptor, in any protocol that there is a host for."""

from __future__ import annotations

import argparse
import re
import signal
import threading
import time
from pathlib import Path

from pitbench.addresses import port_of
from pitbench.errors import EXIT_INTERRUPTED, PitbenchError
from pitbench.kiosk.events import KioskEvent
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.run import pump
from pitbench.kiosk.voucher_file import VoucherFile
from pitbench.protocols import protocol_named
from pitbench.protocols.acceptor_host import AcceptorHost, host_module, host_names
from pitbench.protocols.id003 import Command
from pitbench.transport import open_transport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--wire", required=True, metavar="PORT", help="the acceptor's: path, usb:ADAPTER or URL")
    parser.add_argument(
        "--protocol", default="id003", metavar="NAME", help=f"{', '.join(host_names())} (default: %(default)s)"
    )
    parser.add_argument("--journal", type=Path, default=Path("kiosk.journal"), help="the kiosk's journal (%(default)s)")
    parser.add_argument("--take", type=_values, metavar="1,5,20", help="notes to take, in whole units; all by default")
    parser.add_argument("--vouchers", type=Path, metavar="FILE", help='vouchers as JSON, {"number": cents}')
    parser.add_argument("--no-coupons", action="store_true", help="send coupons back")
    parser.add_argument("--interrupt", action="store_true", help="interrupt mode instead of polling")
    parser.add_argument("--stack-2", action="store_true", help="vend valid when stored, not when past the lever")
    parser.add_argument("--seconds", type=float, help="stop after this time; otherwise on Ctrl-C")


def run(args: argparse.Namespace) -> int:
    """Run until Ctrl-C or the time is up; print every event and, at the end, credits and disputes.

    Returns 0, or 130 after Ctrl-C.
    """
    stop = _stop_event()
    until = None if args.seconds is None else time.monotonic() + args.seconds
    policy, host = _policy(args), _host(args)
    framing = protocol_named(args.protocol).FRAMING
    with open_transport(port_of(args.wire), name="wire", framing=framing) as wire:
        kiosk = Kiosk(Journal(args.journal), policy, host)
        try:
            pump(kiosk, wire, _print, lambda: not stop.is_set() and (until is None or time.monotonic() < until))
        finally:
            kiosk.close()
    _print_balance(kiosk)
    return EXIT_INTERRUPTED if stop.is_set() else 0


def _host(args: argparse.Namespace) -> AcceptorHost:
    module = host_module(args.protocol)
    if args.interrupt and args.protocol != "id003":
        raise PitbenchError("Interrupt mode is ID-003's alone.", "Leave --interrupt out.")
    return module.Host(module.Settings(interrupt=True) if args.interrupt else module.Settings())


def _values(text: str) -> frozenset[int]:
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of whole units, as in 1,5,20")
    return frozenset(int(value) * 100 for value in text.split(","))


def _policy(args: argparse.Namespace) -> Policy:
    return Policy(
        denominations=args.take,
        vouchers=None if args.vouchers is None else VoucherFile(args.vouchers),
        coupons=not args.no_coupons,
        stack=Command.STACK_2 if args.stack_2 else Command.STACK_1,
    )


def _stop_event() -> threading.Event:
    """Ctrl-C ends the run between two turns, never inside a journal entry."""
    stop = threading.Event()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, lambda *_: stop.set())
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
    return stop


def _print(event: KioskEvent) -> None:
    print(f"{time.strftime('%H:%M:%S')} {event.kind.value:16} {event.text}", flush=True)


def _print_balance(kiosk: Kiosk) -> None:
    total = sum(credit.cents for credit in kiosk.credits)
    print(f"{len(kiosk.credits)} credits, {total / 100:.2f} in all; {len(kiosk.disputes)} disputes.")
    for note in kiosk.disputes:
        print(f"  dispute {note.id}: {note.item}: {note.why}")

"""Run a kiosk on the wire of an ID-003 bill acceptor."""

from __future__ import annotations

import argparse
import signal
import threading
import time
from pathlib import Path

from pitbench.addresses import port_of
from pitbench.errors import EXIT_INTERRUPTED
from pitbench.kiosk.events import KioskEvent
from pitbench.kiosk.journal import Journal
from pitbench.kiosk.kiosk import Kiosk
from pitbench.kiosk.policy import Policy
from pitbench.kiosk.run import pump
from pitbench.kiosk.voucher_file import VoucherFile
from pitbench.protocols.id003 import FRAMING, Command
from pitbench.protocols.id003_host import HostSettings
from pitbench.transport import open_transport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--wire", required=True, metavar="PORT", help="the acceptor's: path, usb:ADAPTER or URL")
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
    policy, settings = _policy(args), HostSettings(interrupt=args.interrupt)
    with open_transport(port_of(args.wire), name="wire", framing=FRAMING) as wire:
        kiosk = Kiosk(Journal(args.journal), policy, settings)
        try:
            pump(kiosk, wire, _print, lambda: not stop.is_set() and (until is None or time.monotonic() < until))
        finally:
            kiosk.close()
    _print_balance(kiosk)
    return EXIT_INTERRUPTED if stop.is_set() else 0


def _values(text: str) -> frozenset[int]:
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

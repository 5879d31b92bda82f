"""Watch a board: its events and state, or the text of its MicroPython prompt; Ctrl-C ends it.

Nothing is changed on the board, and a restart that gives its port another name is followed.
"""

from __future__ import annotations

import argparse
import threading

from pitbench.addresses import port_of
from pitbench.monitor import watch
from pitbench.usb_ports import finder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = __doc__
    parser.add_argument("port", help="path, pyserial URL or usb:SERIAL")


def run(args: argparse.Namespace) -> int:
    for line in watch(finder(port_of(args.port)), threading.Event()):
        print(line, flush=True)
    return 0

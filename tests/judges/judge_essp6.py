"""An eSSP host in C, eSSP6: python judge_essp6.py PORT

Obeys a word a line on its input (connect, answer, hang_at), says what it sees a line on its output.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from ctypes import c_char_p, c_int, c_ubyte, c_ulonglong, c_void_p

from eSSP import eSSP
from eSSP.constants import Status

# It leaves these out, and ctypes cuts its pointers to 32 bits.
TYPES = {
    "ssp6_sync": [c_void_p],
    "ssp6_enable": [c_void_p],
    "ssp6_reject": [c_void_p],
    "ssp6_setup_encryption": [c_void_p, c_ulonglong],
    "ssp6_host_protocol": [c_void_p, c_ubyte],
    "ssp6_setup_request": [c_void_p, c_void_p],
    "ssp6_set_inhibits": [c_void_p, c_ubyte, c_ubyte],
    "ssp6_poll": [c_void_p, c_void_p],
}
WITH_CHANNEL = (Status.SSP_POLL_READ, Status.SSP_POLL_CREDIT, Status.SSP_POLL_CLEARED_INTO_CASHBOX)
# It has twenty channels, whatever the device has.
EMPTY = re.compile(r"Channel \d+ : +0")


class Told:
    """What this host does when a note is offered, and where it hangs."""

    answer = "accept"
    hangs_at = ""
    last = ""


def say(line: str) -> None:
    """The same again is said once: a host polls for ever."""
    if line != Told.last:
        print(line, flush=True)
    Told.last = line
    if line == Told.hangs_at:
        Told.hangs_at = ""
        os.kill(os.getpid(), signal.SIGSTOP)


class Host(eSSP):
    """As it is, but for what it makes of a poll: its own goes through the events of earlier ones too."""

    def print_debug(self, text: object) -> None:
        if not EMPTY.fullmatch(line := str(text).strip()):
            say(line)

    def parse_poll(self) -> None:
        events, self.poll.event_count = self.poll.events[: self.poll.event_count], 0
        for event in events:
            status = Status(event.event)
            say(f"{status} {event.data1}" if status in WITH_CHANNEL else str(status))
            if status == Status.SSP_POLL_READ and event.data1 and Told.answer == "reject":
                self.reject()
            elif status == Status.SSP_POLL_RESET:
                self.enable_validator()


def main() -> None:
    library = eSSP.essp
    library.ssp_init.restype = c_void_p
    library.ssp_init.argtypes = [c_char_p, c_char_p, c_int]
    for name, types in TYPES.items():
        getattr(library, name).argtypes = types
    for line in sys.stdin:
        deed, _, word = line.strip().partition(" ")
        if deed == "connect":
            Host(sys.argv[1], debug=False)
        else:
            setattr(Told, {"answer": "answer", "hang_at": "hangs_at"}[deed], word)
        say(f"done {deed}")
    os._exit(0)


if __name__ == "__main__":
    main()

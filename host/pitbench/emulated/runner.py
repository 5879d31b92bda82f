"""The process of an emulated board; its arguments are FOLDER and CAUSE.

The supervisor starts it as it starts an interpreter, on the same descriptors: link on 0 and 1, wire on 3, control lines
on 4. The board's USB is the link, its first UART the wire; the control lines are its pins, and the UART of its rig.
"""

from __future__ import annotations

import hashlib
import os
import select
import sys
from pathlib import Path
from typing import NoReturn

from pitbench.addresses import EMULATED_BOARD
from pitbench.board_facts import board_facts
from pitbench.emulated.chip import Chip
from pitbench.emulated.files import carry_out
from pitbench.emulated.flash import FlashFile
from pitbench.emulated.lines import ControlLines
from pitbench.emulated.state import FILE, State, StateFile
from pitbench.errors import PitbenchError
from pitbench.uf2 import RP2040_FLASH_BYTES
from pitbench.virtual.flash import FLASH_FILE, UNIQUE_FILE

LINK_IN, LINK_OUT, WIRE, CONTROL = 0, 1, 3, 4
READ_SIZE = 4096
# So many bytes may wait for a host that doesn't read; then the oldest are lost, as in a driver's buffer.
BUFFER = 65536
# A UART's far end sends on: what it has sent and the chip hasn't taken waits on the line, at most so much.
LINE_FULL = 4096


class Outlet:
    """Bytes on their way to a descriptor that may be full for a while."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = bytearray()

    def send(self, data: bytes) -> None:
        self._waiting += data
        del self._waiting[:-BUFFER]
        self.flush()

    def flush(self) -> None:
        try:
            while self._waiting:
                del self._waiting[: os.write(self._descriptor, self._waiting)]
        except OSError:
            # Full, or nobody there: what waits, waits.
            return


class Runner:
    """One emulated board and its descriptors."""

    def __init__(self, folder: Path) -> None:
        facts = board_facts(EMULATED_BOARD)
        self._facts = facts
        self._place = folder / FLASH_FILE
        self._file = FlashFile(self._place)
        self._unique = _unique(folder)
        self._link, self._wire, self._bench = Outlet(LINK_OUT), Outlet(WIRE), Outlet(CONTROL)
        self._rig_line = bytearray()
        self._bench_line = b""
        self._resets = 0
        self._state = StateFile(folder.parent / FILE)
        self._nanos_before = self._state.read().nanos
        self._poll = select.poll()
        for descriptor in (LINK_IN, WIRE, CONTROL):
            self._poll.register(descriptor, select.POLLIN)
        self.chip = Chip(
            self._file,
            self._unique,
            attend=self.attend,
            received=self._link.send,
            no_power=self._lose_power,
            restarted=self._restarted,
        )
        wire, rig = facts["wire"], facts["rig"]
        self.wire, self.rig = self.chip.uarts[wire["uart"]], self.chip.uarts[rig["uart"]]
        self.wire.on_byte = lambda byte: self._wire.send(bytes((byte,)))
        self.rig.on_byte = self._from_rig
        self.wire.on_settings = self._wire_set
        self.lines = ControlLines(
            facts, self.chip.rp2040.gpio, self.chip.clock, self.chip.flash, self._to_rig, self._to_bench
        )

    def start(self, cause: str) -> None:
        """Let the chip begin."""
        self.attend(0)
        self.chip.start(cause)

    def step(self) -> None:
        """A millisecond of device time, and a look at the ports."""
        self.chip.run()
        self.attend(0)

    def run(self) -> NoReturn:
        """Go on until somebody ends this process."""
        while True:
            self.step()

    def move(self, folder: Path) -> None:
        """From now on be the board of another folder, whose flash becomes what this one's is."""
        self._place = folder / FLASH_FILE
        self._file.move(self._place, bytes(self.chip.rp2040.flash[:RP2040_FLASH_BYTES]))
        (folder / UNIQUE_FILE).write_bytes(self._unique)
        self._state = StateFile(folder.parent / FILE)
        self._wire_set(self.wire.settings)

    def attend(self, seconds: float) -> None:
        """Wait up to so many seconds for input, take what is there, and tell how things stand."""
        for descriptor, events in self._poll.poll(seconds * 1000):
            if events & select.POLLIN:
                self._take(descriptor)
        for outlet in (self._link, self._wire, self._bench):
            outlet.flush()
        flash = self.chip.flash
        self._state.write(
            State(
                self._nanos_before + self.chip.nanos,
                flash.erases,
                flash.programs,
                self.wire.overruns + self.rig.overruns,
                self._resets,
                self.chip.cycles,
            )
        )

    def _take(self, descriptor: int) -> None:
        if descriptor == LINK_IN:
            if room := self.chip.usb.room:
                self.chip.usb.send(_read(descriptor, room))
        elif descriptor == WIRE:
            if (room := LINE_FULL - self.wire.backlog) > 0:
                self.wire.send(_read(descriptor, room))
        else:
            self._from_bench(_read(descriptor, READ_SIZE))

    def _from_bench(self, data: bytes) -> None:
        if not data:
            os._exit(0)  # without a supervisor the board has no power
        *lines, self._bench_line = (self._bench_line + data).split(b"\n")
        for line in lines:
            text = line.decode("ascii", "replace")
            if text == "change":
                self._change()
            else:
                self.lines.from_bench(text)

    def _change(self) -> None:
        try:
            carry_out(self._place, self._facts)
        except PitbenchError as error:
            self._to_bench(f"changed {error}")
        else:
            self.chip.flash.reload()
            self._to_bench("changed")

    def _from_rig(self, byte: int) -> None:
        self._rig_line.append(byte)
        if byte == 0x0A:
            # What it drives is seen at its pins.
            if not self._rig_line.startswith(b"out "):
                self._bench.send(bytes(self._rig_line))
            self._rig_line.clear()

    def _to_rig(self, line: str) -> None:
        self.rig.send(line.encode("ascii") + b"\n")

    def _to_bench(self, line: str) -> None:
        self._bench.send(line.encode("ascii") + b"\n")

    def _wire_set(self, settings: str) -> None:
        self._to_bench(f"wire {settings}")

    def _restarted(self) -> None:
        self._resets += 1
        self._to_bench("restarted")

    def _lose_power(self) -> None:
        self._to_bench("cut")
        while True:
            select.select([], [], [], 1.0)


def _read(descriptor: int, size: int) -> bytes:
    try:
        return os.read(descriptor, size)
    except BlockingIOError:
        return b""


def _unique(folder: Path) -> bytes:
    """The board's number, the same for the life of its folder."""
    place = folder / UNIQUE_FILE
    if not place.exists():
        place.write_bytes(hashlib.sha256(str(folder).encode()).digest()[:8])
    return place.read_bytes()


def main() -> None:
    """Be the board whose flash is in the folder that the command line names."""
    runner = Runner(Path(sys.argv[1]))
    runner.start(sys.argv[2])
    runner.run()

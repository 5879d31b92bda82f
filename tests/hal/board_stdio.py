"""Doubles of what MicroPython gives a board: stdin and stdout over USB, machine.UART, select, utime.

Modelled on MicroPython's shared/tinyusb/mp_usbd_cdc.c, ports/*/mphalport.c and ports/*/machine_uart.c: the traps are
there, so that code which steps into one fails.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

FIRMWARE = Path(__file__).parents[2] / "firmware"
PACKET = 64
SHORT_AFTER_MS = 500
POLLIN, POLLOUT = 1, 4


class Usb:
    """One board's USB serial port, seen from both ends.

    Args:
        ring: bytes of the receive ring; what doesn't fit waits at the host, as the bus does it.
        room: bytes of the transmit FIFO.
    """

    def __init__(self, ring: int = 512, room: int = 256) -> None:
        self.ring_size, self.room = ring, room
        self.interrupt_character = 3
        self.waiting, self.ring, self.fifo = b"", b"", b""
        self.interrupted = False
        self.reads_by_host = True
        # An ESP32 says that there is room, always.
        self.knows_its_room = True
        self.received = b""
        self.packets: list[int] = []
        self.now = 0

    def host_sends(self, data: bytes) -> None:
        """The host writes: it arrives in packets of at most 64 bytes."""
        self.waiting += data
        self.pump()

    def pump(self) -> None:
        """Move whole packets into the ring while it has room, and out of the FIFO while the host reads."""
        while self.waiting and len(self.ring) < self.ring_size:
            for byte in self.waiting[:PACKET]:
                if len(self.ring) == self.ring_size:
                    break
                self.waiting = self.waiting[1:]
                self._arrive(byte)
        if self.reads_by_host:
            self.received, self.fifo = self.received + self.fifo, b""

    def _arrive(self, byte: int) -> None:
        if byte == self.interrupt_character:
            # Everything that came before it is gone.
            self.ring, self.interrupted = b"", True
        else:
            self.ring += bytes([byte])

    def check_interrupt(self) -> None:
        """What the interpreter does between two bytecodes."""
        if self.interrupted:
            self.interrupted = False
            raise KeyboardInterrupt

    def take(self) -> int:
        """The next byte; a board would wait for ever where a test must fail."""
        self.pump()
        self.check_interrupt()
        if not self.ring:
            raise AssertionError("this read would block until the host sends more")
        byte, self.ring = self.ring[0], self.ring[1:]
        return byte

    def put(self, data: bytes) -> int:
        """What stdout takes: all of it, or after half a second as much as there was room for."""
        self.check_interrupt()
        self.pump()
        taken = len(data) if self.reads_by_host else min(len(data), self.room - len(self.fifo))
        if taken < len(data):
            self.now += SHORT_AFTER_MS
        self.packets.append(len(data))
        self.fifo += bytes(data[:taken])
        self.pump()
        return taken

    def events(self) -> int:
        """Poll flags."""
        self.pump()
        self.check_interrupt()
        room = self.reads_by_host or len(self.fifo) < self.room or not self.knows_its_room
        return (POLLIN if self.ring else 0) | (POLLOUT if room else 0)


class Stdin:
    """Text: CR becomes LF. Its buffer gives the bytes as they are, and fills what it is given."""

    def __init__(self, usb: Usb) -> None:
        self.usb = self.stream = usb
        self.buffer = SimpleNamespace(readinto=self.readinto, read=lambda n: bytes(usb.take() for _ in range(n)))

    def readinto(self, buffer: bytearray) -> int:
        for i in range(len(buffer)):
            buffer[i] = self.usb.take()
        return len(buffer)

    def read(self, n: int) -> str:
        return bytes(self.usb.take() for _ in range(n)).replace(b"\r", b"\n").decode()


class Stdout:
    """Text: LF becomes CR LF. Its buffer takes the bytes as they are, and may take fewer."""

    def __init__(self, usb: Usb) -> None:
        self.usb = self.stream = usb
        self.buffer = SimpleNamespace(write=usb.put)

    def write(self, text: str) -> int:
        self.usb.put(text.encode().replace(b"\n", b"\r\n"))
        return len(text)


class Uart:
    """machine.UART with a transmit ring; `arrive` and `leave` are the line's side."""

    made: list[Uart] = []

    def __init__(self, number: int, **settings: Any) -> None:
        self.number, self.settings = number, settings
        self.incoming = self.outgoing = b""
        self.stream = self
        Uart.made.append(self)

    def init(self, **settings: Any) -> None:
        self.settings = settings

    def any(self) -> int:
        return len(self.incoming)

    def read(self, n: int) -> bytes | None:
        data, self.incoming = self.incoming[:n], self.incoming[n:]
        return data or None

    def write(self, data: bytes) -> int:
        room = self.settings["txbuf"] - len(self.outgoing)
        if len(data) > room:
            raise AssertionError(f"{len(data)} bytes into room for {room}: this write waits for the line")
        self.outgoing += bytes(data)
        return len(data)

    def txdone(self) -> bool:
        return not self.outgoing

    def leave(self) -> bytes:
        """What the line has carried away."""
        data, self.outgoing = self.outgoing, b""
        return data

    def events(self) -> int:
        return POLLIN if self.incoming else 0


class Poll:
    """select.poll over the doubles; it never waits, but counts how long it would have."""

    waited: list[int] = []

    def __init__(self) -> None:
        self.streams: list[tuple[Any, int]] = []

    def register(self, stream: Any, flags: int) -> None:
        self.streams.append((stream, flags))

    def poll(self, ms: int = -1) -> list[tuple[Any, int]]:
        ready = [(stream, stream.stream.events() & flags) for stream, flags in self.streams]
        ready = [pair for pair in ready if pair[1]]
        if not ready:
            Poll.waited.append(ms)
        return ready

    def ipoll(self, ms: int = -1) -> Iterator[tuple[Any, int]]:
        return iter(self.poll(ms))


class Watchdog:
    made: list[Watchdog] = []

    def __init__(self, timeout: int) -> None:
        self.timeout, self.fed = timeout, 0
        Watchdog.made.append(self)

    def feed(self) -> None:
        self.fed += 1


class Pin:
    """machine.Pin by name; `levels` is what stands on the pads."""

    IN, OUT, PULL_UP, PULL_DOWN = "in", "out", "up", "down"
    levels: dict[Any, int] = {}
    made: dict[Any, tuple[str, str | None]] = {}

    def __init__(self, name: Any, mode: str = "in", pull: str | None = None, value: int | None = None) -> None:
        self.name = name
        Pin.made[name] = (mode, pull)
        if value is not None:
            self.value(value)

    def value(self, level: int | None = None) -> int | None:
        if level is None:
            return Pin.levels[self.name]
        Pin.levels[self.name] = level
        return None


class Board:
    """A board's modules, and the firmware's modules loaded on them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ring: int = 512) -> None:
        self.usb = Usb(ring)
        self.date = (2021, 1, 1)
        self.seconds = 0
        self.epoch = 1970
        self.resets, self.slept = 0, 0
        Uart.made, Watchdog.made, Poll.waited = [], [], []
        Pin.levels, Pin.made = {}, {}
        self.machine = module(
            "umachine",
            UART=Uart,
            WDT=Watchdog,
            Pin=Pin,
            PWRON_RESET=1,
            HARD_RESET=2,
            WDT_RESET=3,
            DEEPSLEEP_RESET=4,
            SOFT_RESET=5,
            reset=self._reset,
            reset_cause=lambda: 1,
            unique_id=lambda: b"\xe6\x61\x01",
        )
        clock = module(
            "utime",
            ticks_ms=lambda: self.usb.now % (1 << 30),
            sleep_ms=self._sleep,
            time=lambda: self.seconds,
            gmtime=lambda *at: (self.epoch,) if at else self.date,
        )
        kept = {"umachine": self.machine, "utime": clock}
        kept["uselect"] = module("uselect", poll=Poll, POLLIN=POLLIN, POLLOUT=POLLOUT)
        kept["usys"] = module("usys", stdin=Stdin(self.usb), stdout=Stdout(self.usb), path=[])
        for name, fake in kept.items():
            monkeypatch.setitem(sys.modules, name, fake)
        self.serial = load("boot/serial.py", "serial")
        monkeypatch.setitem(sys.modules, "serial", self.serial)

    def kbd_intr(self, character: int) -> None:
        """micropython.kbd_intr."""
        self.usb.interrupt_character = character

    def _reset(self) -> None:
        self.resets += 1

    def _sleep(self, ms: int) -> None:
        self.slept += ms


def module(name: str, **names: Any) -> ModuleType:
    """A module that holds `names`."""
    made = ModuleType(name)
    vars(made).update(names)
    return made


def load(path: str, name: str) -> ModuleType:
    """A new copy of a firmware file, whatever else is called so on this PC."""
    spec = importlib.util.spec_from_file_location(name, FIRMWARE / path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made

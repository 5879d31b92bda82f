"""Boards that are plugged in: found by their USB ids, told apart by their USB serial numbers, never by a port's name.

pyserial lists the serial ports, pyusb what has none: a chip in its boot ROM, a device without a driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import usb.core  # type: ignore[import-untyped]
from serial.tools import list_ports

from pitbench.board_facts import board_facts, board_names
from pitbench.errors import PitbenchError
from pitbench.probing import PROMPT, Running, what_runs
from pitbench.repl import open_repl
from pitbench.usb_devices import usb_devices, usb_text
from pitbench.usb_ports import by_interface, device_place

IN_BOOT_ROM = "in its boot ROM"
NO_PORT = "no serial port"


@dataclass(frozen=True)
class Found:
    """One board that is plugged in.

    Args:
        serial: USB serial number, "" where it tells none or may not be read.
        ids: "VID:PID", hexadecimal.
        names: boards (boards/NAME.toml) that it can be.
        ports: its serial ports, the link first; empty in the boot ROM.
        product: as the device names itself.
        runs: what answers there.
    """

    serial: str
    ids: str
    names: tuple[str, ...]
    ports: tuple[str, ...] = ()
    product: str = ""
    runs: Running = field(default_factory=lambda: Running(NO_PORT))

    @property
    def port(self) -> str:
        """Its link port, "" when it has none."""
        return self.ports[0] if self.ports else ""


Known = dict[str, list[str]]
"""VID:PID → names of the boards that have it."""


def known_ids(fact: str) -> Known:
    """Return which boards have which ids by a fact of theirs, "usb" or "bootloader"; emulated boards have none."""
    known: Known = {}
    for name in board_names():
        facts = board_facts(name)
        for ids in () if "emulated" in name else facts.get(fact, ()):
            known.setdefault(ids.upper(), []).append(name)
    return known


def find_boards(
    *,
    comports: Callable[[], Iterable[Any]] = list_ports.comports,
    backend: Any = None,
    look: Callable[[str], Running] | None = what_runs,
) -> list[Found]:
    """Return the boards that are plugged in, by serial number.

    Args:
        comports: lists serial ports.
        backend: pyusb's, None: its own choice.
        look: what tells what runs on a port; None: don't look.
    """
    with_port = serial_boards(comports())
    boards = with_port + _without_port(with_port, backend)
    if look is not None:
        with ThreadPoolExecutor(max(len(boards), 1)) as pool:
            boards = list(pool.map(lambda board: _looked_at(board, look), boards))
    return sorted(boards, key=lambda board: (board.serial, board.port))


def serial_boards(rows: Iterable[Any]) -> list[Found]:
    """Return the boards among pyserial's rows of ports; several ports of one device are one board."""
    known = known_ids("usb")
    devices: dict[tuple[str, str, str], list[Any]] = {}
    for row in rows:
        ids = "" if row.vid is None else f"{row.vid:04X}:{row.pid:04X}"
        if ids in known:
            devices.setdefault((ids, row.serial_number or "", device_place(row)), []).append(row)
    return [_board_of(ids, serial, rows, known) for (ids, serial, _), rows in devices.items()]


def board_ports(boards: Iterable[Found], name: str) -> list[str]:
    """Return the ports of all boards that can be `boards/NAME.toml`."""
    return [board.port for board in boards if board.port and name in board.names]


def _board_of(ids: str, serial: str, rows: list[Any], known: Known) -> Found:
    rows = sorted(rows, key=by_interface)
    ports = tuple(str(row.device) for row in rows)
    return Found(serial, ids, tuple(known[ids]), ports, str(rows[0].product or ""))


def _looked_at(board: Found, look: Callable[[str], Running]) -> Found:
    if not board.port:
        return board
    runs = look(board.port)
    told = runs.identity.get("board")
    names = (told,) if told in board.names else board.names
    if runs.kind == PROMPT and len(names) > 1:
        names = _named_by_prompt(board) or names
    return replace(board, runs=runs, names=names)


def _named_by_prompt(board: Found) -> tuple[str, ...]:
    try:
        with open_repl(board.port, "") as repl:
            machine = repl.facts().machine
    except PitbenchError:
        return ()
    return tuple(name for name in board.names if board_facts(name).get("machine") == machine)


def _without_port(seen: list[Found], backend: Any) -> list[Found]:
    in_rom, running = known_ids("bootloader"), known_ids("usb")
    serials = {(board.ids, board.serial) for board in seen}
    found = []
    for device in _usb_devices(backend):
        ids = f"{device.idVendor:04X}:{device.idProduct:04X}"
        serial = usb_text(device, "serial_number")
        if ids in in_rom:
            found.append(Found(serial, ids, tuple(in_rom[ids]), (), usb_text(device, "product"), Running(IN_BOOT_ROM)))
        elif ids in running and not _has_port(ids, serial, serials):
            found.append(Found(serial, ids, tuple(running[ids]), (), usb_text(device, "product")))
    return found


def _has_port(ids: str, serial: str, seen: set[tuple[str, str]]) -> bool:
    # A serial number that we may not read could be any of them.
    return (ids, serial) in seen or (not serial and any(ids == other for other, _ in seen))


def _usb_devices(backend: Any) -> list[Any]:
    try:
        return usb_devices(backend)
    except (usb.core.NoBackendError, usb.core.USBError):
        # Without libusb nothing in a boot ROM can be seen; boards with a port are found all the same.
        return []

"""Serial ports by USB serial number: a board's port has another name after a restart, its serial number stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from serial.tools import list_ports

from pitbench.errors import PitbenchError

SECOND_PORT = "#2"

Comports = Callable[[], Iterable[Any]]
"""Lists serial ports, as pyserial does."""

PortFinder = Callable[[], str | None]
"""Where a board's port is now; None while it is away."""


def port_of_serial(serial: str, comports: Comports | None = None) -> str:
    """Return the port of the USB device with this serial number; `SERIAL#2` is its second port.

    It may be any USB device with a serial port, a board or an adapter. Raises PitbenchError that names what is there.
    """
    wanted, second, _ = serial.partition(SECOND_PORT)
    rows = [row for row in (comports or list_ports.comports)() if row.serial_number]
    mine = sorted((row for row in rows if row.serial_number == wanted), key=by_interface)
    if not mine:
        here = ", ".join(sorted({str(row.serial_number) for row in rows})) or "none"
        raise PitbenchError(f"No USB serial port has the serial number {wanted}.", f"Plugged in now: {here}.")
    if len({device_place(row) for row in mine}) > 1:
        ports = ", ".join(str(row.device) for row in mine)
        raise PitbenchError(
            f"Several USB devices have the serial number {wanted}: {ports}.", "Unplug all but one, or name the port."
        )
    if second and len(mine) < 2:
        raise PitbenchError(f"The USB device {wanted} has one serial port only.", "Name another port for the wire.")
    return str(mine[1 if second else 0].device)


def finder(port: str) -> PortFinder:
    """How to find the board on `port` again: by its USB serial number where it has one, else by the path."""
    mine = next((row for row in list_ports.comports() if row.device == port and row.serial_number), None)
    if mine is None:
        return lambda: port
    serial = str(mine.serial_number)
    same = sorted((row for row in list_ports.comports() if row.serial_number == serial), key=by_interface)
    nth = [row.device for row in same].index(port)
    return lambda: _nth_port(serial, nth)


def device_place(row: Any) -> str:
    """Return where a port's USB device is plugged in: "1-1.2:1.0" is interface 0 of the device at 1-1.2."""
    return str(row.location or row.device).partition(":")[0]


def by_interface(row: Any) -> tuple[str, str]:
    """Sort key that puts a device's first port first."""
    return str(row.location or ""), str(row.device)


def _nth_port(serial: str, nth: int) -> str | None:
    rows = sorted((row for row in list_ports.comports() if row.serial_number == serial), key=by_interface)
    return str(rows[nth].device) if nth < len(rows) else None

"""Where a board is, by a string that a person types.

`virtual` (chosen by itself), `unix:`, `wasm:`, `/dev/ttyACM0,wire=/dev/ttyUSB0`, `usb:SERIAL,wire=usb:ADAPTER`,
any pyserial URL. Whatever it is, `pitbench.targets` opens it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from serial.tools import list_ports

from pitbench.errors import NotBuilt, PitbenchError, UnknownName

VIRTUAL_RUNGS = {"virtual": None, "unix": "unix", "wasm": "wasm"}
SHAPES = [
    "virtual",
    "unix:",
    "wasm:",
    "/dev/ttyACM0,wire=/dev/ttyUSB0",
    "usb:SERIAL,wire=usb:ADAPTER",
    "a pyserial URL",
]
LOOKS_LIKE_A_PORT = re.compile(r"/|COM\d+(,|$)|usb:|[a-z0-9]+://", re.IGNORECASE)


@dataclass(frozen=True)
class Target:
    """Where a board is.

    Args:
        text: what the person typed.
        virtual: whether the board is started by the bench.
        interpreter: kind asked for on a virtual board, None: the best there is.
        link, wire: ports of a real board, as typed; "" on a virtual one.
    """

    text: str
    virtual: bool
    interpreter: str | None = None
    link: str = ""
    wire: str = ""


def parse_target(text: str) -> Target:
    """The target that a person typed. Raises UnknownName with the right choices, NotBuilt, PitbenchError."""
    if text.startswith("emu"):
        raise NotBuilt("The emulated board (emu:)", "Use unix: or wasm:, or a real board's port.")
    name = text.removesuffix(":")
    if name in VIRTUAL_RUNGS:
        return Target(text, True, VIRTUAL_RUNGS[name])
    if not LOOKS_LIKE_A_PORT.match(text):
        raise UnknownName("target", text, SHAPES)
    return _real(text)


def _real(text: str) -> Target:
    link, *options = text.split(",")
    wire = ""
    for option in options:
        key, _, value = option.partition("=")
        if key != "wire" or not value:
            raise UnknownName("target option", option, ["wire=PORT"])
        wire = value
    if not wire:
        # Tunnelling the wire over the link comes with boards that have one port only.
        raise PitbenchError(f"The target {text} names no wire port.", f"Write {text},wire=PORT.")
    return Target(text, False, None, link, wire)


def port_of(place: str) -> str:
    """The path or URL of a port; `usb:SERIAL` is looked up, as a board's path changes. Raises PitbenchError."""
    if not place.startswith("usb:"):
        return place
    wanted = place.removeprefix("usb:")
    found = {port.serial_number: port.device for port in list_ports.comports() if port.serial_number}
    if wanted in found:
        return str(found[wanted])
    here = ", ".join(sorted(found)) or "none"
    raise PitbenchError(f"No USB serial port has the serial number {wanted}.", f"Plugged in now: {here}.")

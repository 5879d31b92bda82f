"""Where a board is, by a string that a person types.

`virtual` (chosen by itself), `unix:`, `wasm:`, `emu:` or `emu:FILE.uf2`, `/dev/ttyACM0,wire=/dev/ttyUSB0`,
`usb:SERIAL,wire=usb:ADAPTER`, any pyserial URL. Whatever it is, `pitbench.targets` opens it. A real board may have more
around it: `rig=PORT` is the line on which its rig talks to it, `power=hub` says that its USB hub may cut its supply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pitbench.errors import PitbenchError, UnknownName
from pitbench.usb_ports import port_of_serial

VIRTUAL_RUNGS = {"virtual": None, "unix": "unix", "wasm": "wasm"}
EMULATED, EMULATED_BOARD = "emu", "rp2040-emulated"
USB = "usb:"
HUB = "hub"
LINK = "link"
TUNNELLED = f",wire={LINK}"
OPTIONS = ("wire=PORT", "rig=PORT", "power=hub")
SHAPES = [
    "virtual",
    "unix:",
    "wasm:",
    "emu:",
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
        interpreter: kind asked for on a virtual board, None: the best there is; "emu" is an emulated board.
        uf2: MicroPython of an emulated board, "": the one that is found.
        link, wire: ports of a real board, as typed; "" on a virtual one. The wire is "link" where it is tunnelled.
        rig: port of the rig's lines around a real board, "": there are none.
        power: what switches a real board's supply, "hub" or "".
    """

    text: str
    virtual: bool
    interpreter: str | None = None
    link: str = ""
    wire: str = ""
    uf2: str = ""
    rig: str = ""
    power: str = ""


def parse_target(text: str) -> Target:
    """The target that a person typed. Raises UnknownName with the right choices, PitbenchError."""
    bare, wire = (text.removesuffix(TUNNELLED), LINK) if text.endswith(TUNNELLED) else (text, "")
    kind, colon, file = bare.partition(":")
    if kind == EMULATED and "," in file:
        raise PitbenchError(
            f"{text} has options, and an emulated board takes none but wire=link.", "Write emu: or emu:FILE.uf2."
        )
    if kind == EMULATED and (colon or not file):
        return Target(text, True, EMULATED, uf2=file, wire=wire)
    name = bare.removesuffix(":")
    if name in VIRTUAL_RUNGS:
        return Target(text, True, VIRTUAL_RUNGS[name], wire=wire)
    if not LOOKS_LIKE_A_PORT.match(text):
        raise UnknownName("target", text, SHAPES)
    return _real(text)


def _real(text: str) -> Target:
    link, *words = text.split(",")
    options = dict(_option(word) for word in words)
    if "wire" not in options:
        raise PitbenchError(
            f"The target {text} names no wire port.",
            f"Write {text},wire=PORT, or {text},wire=link for an image that was built with --tunnel.",
        )
    if options["wire"] == link:
        raise PitbenchError(f"The target {text} names one port twice.", "Write the adapter's port as wire=PORT.")
    if "power" in options and not link.startswith(USB):
        raise PitbenchError(
            f"The target {text} doesn't say which board hangs on the hub.", "Write usb:SERIAL for its link."
        )
    return Target(text, False, None, link, **options)


def _option(word: str) -> tuple[str, str]:
    key, _, value = word.partition("=")
    known = key in ("wire", "rig") or (key, value) == ("power", HUB)
    if not known or not value:
        raise UnknownName("target option", word, list(OPTIONS))
    return key, value


def port_of(place: str) -> str:
    """The path or URL of a port; `usb:SERIAL` is looked up, as a board's path changes. Raises PitbenchError."""
    if not place.startswith(USB):
        return place
    return port_of_serial(place.removeprefix(USB))

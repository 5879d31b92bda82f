"""Power of USB hub ports: a board's supply cut and given back by requests to the hub that it hangs on.

Many hubs take the request and go on feeding the port, so what a hub says proves nothing: a cut counts only when the
board's boot counter moved. Requests and fields: USB 2.0, 11.23.2.1 (descriptor), tables 11-15 to 11-17, 11-21; for
SuperSpeed hubs USB 3.2, 10.15 and 10.16.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import usb.core  # type: ignore[import-untyped]

from pitbench.compiler import cache_folder
from pitbench.errors import PitbenchError
from pitbench.usb_devices import usb_devices, usb_text

TIMEOUT_MS = 2000
HUB_CLASS = 9

_GET_STATUS, _CLEAR_FEATURE, _SET_FEATURE, _GET_DESCRIPTOR = 0, 1, 3, 6
_PORT_OUT, _PORT_IN, _HUB_IN = 0x23, 0xA3, 0xA0
_PORT_POWER = 8
_HUB_DESCRIPTOR, _SUPERSPEED_HUB_DESCRIPTOR = 0x29, 0x2A
_SUPERSPEED = 0x0300
# wPortStatus: PORT_POWER is bit 8, on SuperSpeed hubs bit 9.
_POWERED, _SUPERSPEED_POWERED = 1 << 8, 1 << 9

PER_PORT, GANGED, NONE = "per port", "ganged", "none"
# wHubCharacteristics, bits 1 and 0.
_SWITCHING = {0: GANGED, 1: PER_PORT, 2: NONE, 3: NONE}


class HubError(PitbenchError):
    """Power that can't be switched."""


class HubPower:
    """The power of the port that a board hangs on; the port is looked up once, as a board without power is gone.

    Args:
        serial: USB serial number of the board, which must be plugged in, or have been switched off by us.
        backend: pyusb's, None: its own choice.

    Raises HubError when there is no such board, or its hub can't switch this port alone.
    """

    def __init__(self, serial: str, backend: Any = None) -> None:
        self.serial = serial
        self._backend = backend
        self._hub: Any
        self.port: int
        self._hub, self.port = _place(serial, backend)
        self.switching = self._how_it_switches()
        self._check_alone()

    @property
    def place(self) -> str:
        """Where the board hangs, for people: "port 2 of hub 0BDA:5411"."""
        return f"port {self.port} of hub {self._hub.idVendor:04X}:{self._hub.idProduct:04X}"

    def off(self) -> None:
        """Take the power away. Raises HubError."""
        _remember(self.serial, self._hub, self.port)
        for port in self._switched_ports():
            self._ask(_PORT_OUT, _CLEAR_FEATURE, _PORT_POWER, port)

    def on(self) -> None:
        """Give it back. Raises HubError."""
        for port in self._switched_ports():
            self._ask(_PORT_OUT, _SET_FEATURE, _PORT_POWER, port)

    def is_on(self) -> bool:
        """What the hub says of the port; it may lie. Raises HubError."""
        low, high, *_ = self._ask(_PORT_IN, _GET_STATUS, 0, self.port, 4)
        return bool((low | high << 8) & (_SUPERSPEED_POWERED if self._is_superspeed() else _POWERED))

    def board_is_there(self) -> bool:
        """Whether the board is on the bus: one that stays after `off` kept its power."""
        return _find(self.serial, self._backend) is not None

    def _how_it_switches(self) -> str:
        kind = _SUPERSPEED_HUB_DESCRIPTOR if self._is_superspeed() else _HUB_DESCRIPTOR
        descriptor = self._ask(_HUB_IN, _GET_DESCRIPTOR, kind << 8, 0, 9)
        self._ports = int(descriptor[2])
        return _SWITCHING[descriptor[3] & 3]

    def _check_alone(self) -> None:
        if self.switching == NONE:
            raise HubError(
                f"Board {self.serial} hangs on {self.place}, which can't switch power.",
                "Plug it into a hub with switching of each port.",
            )
        others = [device for device in _all(self._backend) if device.parent == self._hub]
        if self.switching == GANGED and len(others) > 1:
            raise HubError(
                f"Board {self.serial} hangs on {self.place}, which switches all its ports together, and "
                f"{len(others) - 1} more hang there.",
                "Unplug the others, or take a hub with switching of each port.",
            )

    def _switched_ports(self) -> range:
        # A ganged hub takes the power away once the last port is off (USB 2.0, 11.11).
        return range(1, self._ports + 1) if self.switching == GANGED else range(self.port, self.port + 1)

    def _is_superspeed(self) -> bool:
        return int(self._hub.bcdUSB) >= _SUPERSPEED

    def _ask(self, kind: int, request: int, value: int, index: int, length: int = 0) -> Any:
        try:
            return self._hub.ctrl_transfer(kind, request, value, index, length or None, TIMEOUT_MS)
        except usb.core.USBError as error:
            raise _explained(error, self.place) from error


def _place(serial: str, backend: Any) -> tuple[Any, int]:
    device = _find(serial, backend)
    if device is None:
        return _remembered(serial, backend)
    if device.parent is None:
        raise HubError(f"The hub of board {serial} is hidden here.", "Plug it into a USB hub of its own.")
    return device.parent, int(device.port_number)


def _memory(serial: str) -> Path:
    # A board without power is not on the bus: where it hung has to outlive the command that switched it off.
    return cache_folder() / "switched-off" / quote(serial, safe="")


def _remember(serial: str, hub: Any, port: int) -> None:
    _memory(serial).parent.mkdir(parents=True, exist_ok=True)
    _memory(serial).write_text(json.dumps({"bus": hub.bus, "hub": list(hub.port_numbers or ()), "port": port}))


def _remembered(serial: str, backend: Any) -> tuple[Any, int]:
    devices = _all(backend)
    try:
        place = json.loads(_memory(serial).read_text())
        where = (place["bus"], place["hub"])
        hub = next(device for device in devices if (device.bus, list(device.port_numbers or ())) == where)
    except (OSError, ValueError, KeyError, StopIteration) as error:
        here = ", ".join(sorted(filter(None, (_serial(device) for device in devices)))) or "none"
        raise HubError(f"No USB device has the serial number {serial}.", f"Plugged in now: {here}.") from error
    return hub, int(place["port"])


def _find(serial: str, backend: Any) -> Any | None:
    return next((device for device in _all(backend) if _serial(device) == serial), None)


def _all(backend: Any) -> list[Any]:
    try:
        return usb_devices(backend)
    except usb.core.NoBackendError as error:
        raise HubError("USB can't be reached: libusb is missing.", "Install libusb-1.0-0 (Debian).") from error


def _serial(device: Any) -> str:
    return "" if device.bDeviceClass == HUB_CLASS else usb_text(device, "serial_number")


def _explained(error: usb.core.USBError, place: str) -> HubError:
    if error.errno in (errno.EACCES, errno.EPERM):
        rule = 'SUBSYSTEM=="usb", ATTR{bDeviceClass}=="09", MODE="0666"'
        return HubError(f"You may not switch {place}.", f"Add the udev rule {rule}, and plug the hub in again.")
    return HubError(f"The request to {place} failed: {error}.", "Look whether the hub is still plugged in.")

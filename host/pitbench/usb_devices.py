"""USB devices by pyusb, and what they call themselves, also where this user may not open them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import usb.core  # type: ignore[import-untyped]

SYSFS = Path("/sys/bus/usb/devices")
# Linux keeps the strings that it read when a device came, under these names.
_SYSFS_NAMES = {"serial_number": "serial", "product": "product"}


def usb_devices(backend: Any = None) -> list[Any]:
    """Return all USB devices that have power. Raises usb.core.NoBackendError where libusb is missing."""
    return list(usb.core.find(find_all=True, backend=backend))


def usb_text(device: Any, name: str) -> str:
    """Return a string of a device, "serial_number" or "product"; "" where it has none or tells none."""
    try:
        return str(getattr(device, name) or "")
    except (usb.core.USBError, ValueError, NotImplementedError):
        return _from_system(device, name)


def _from_system(device: Any, name: str) -> str:
    # Bus 1, port 1, port 2 of the hub there: "1-1.2".
    place = f"{device.bus}-{'.'.join(str(port) for port in device.port_numbers or ())}"
    try:
        return (SYSFS / place / _SYSFS_NAMES[name]).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""

"""A USB bus without hardware: a pyusb backend with hubs and devices, for discovery and for switching power.

Hub requests answer as USB 2.0, tables 11-13 (descriptor), 11-15 and 11-16 (requests) and 11-21 (port status) say.
"""

from __future__ import annotations

import errno
from array import array
from types import SimpleNamespace
from typing import Any

import usb.core
from usb.backend import IBackend

HUB_CLASS = 9
PORT_POWER = 8


class FakeDevice:
    """One device on the bus.

    Args:
        ids: (VID, PID).
        serial: its serial number, "" for none.
        parent, port: hub and port that it hangs on, None and 0 for a root hub.
        denied: whether this user may not open it.
    """

    def __init__(
        self,
        ids: tuple[int, int],
        serial: str = "",
        parent: FakeHub | None = None,
        port: int = 0,
        *,
        product: str = "Board",
        denied: bool = False,
    ) -> None:
        self.ids, self.parent, self.port, self.denied = ids, parent, port, denied
        self.strings = ["", product, serial]
        self.device_class = 0

    usb = 0x200

    @property
    def place(self) -> tuple[int, ...]:
        """Port numbers from the root hub on."""
        return (*self.parent.place, self.port) if self.parent else ()

    @property
    def powered(self) -> bool:
        """Whether it has power: itself, and every hub above it."""
        return self.parent is None or (self.parent.feeds(self.port) and self.parent.powered)


class FakeHub(FakeDevice):
    """A hub.

    Args:
        switching: "per port", "ganged" or "none", as its descriptor says.
        lies: whether it reports a port as off and keeps feeding it.
    """

    def __init__(
        self,
        parent: FakeHub | None = None,
        port: int = 0,
        *,
        switching: str = "per port",
        lies: bool = False,
        **more: Any,
    ) -> None:
        super().__init__((0x0BDA, 0x5411), "", parent, port, product="Hub", **more)
        self.device_class = HUB_CLASS
        self.switching, self.lies = switching, lies
        self.off: set[int] = set()
        self.requests: list[tuple[int, int, int, int]] = []

    def feeds(self, port: int) -> bool:
        if self.switching == "ganged":
            return self.lies or len(self.off) < 4
        return self.lies or port not in self.off

    def answer(self, kind: int, request: int, value: int, index: int) -> bytes:
        self.requests.append((kind, request, value, index))
        if (kind, request, value) == (0xA0, 6, 0x2900):
            how = {"ganged": 0, "per port": 1, "none": 2}[self.switching]
            return bytes([9, 0x29, 4, how, 0, 50, 100, 0, 0xFF])
        if (kind, request) == (0xA3, 0):
            return bytes([0, 0 if index in self.off else 1, 0, 0])
        if (kind, request, value) == (0x23, 1, PORT_POWER):
            self.off.add(index)
        elif (kind, request, value) == (0x23, 3, PORT_POWER):
            self.off.discard(index)
        else:
            raise usb.core.USBError("Pipe error", -9, errno.EPIPE)
        return b""


class FakeBus(IBackend):  # type: ignore[misc]
    """The backend: `usb.core.find(backend=FakeBus(…))`."""

    def __init__(self, *devices: FakeDevice) -> None:
        self.devices = list(devices)

    def enumerate_devices(self) -> Any:
        return iter([device for device in self.devices if device.powered])

    def get_parent(self, device: FakeDevice) -> FakeDevice | None:
        return device.parent

    def get_device_descriptor(self, device: FakeDevice) -> Any:
        fields = {"bLength": 18, "bDescriptorType": 1, "bcdUSB": device.usb, "bDeviceClass": device.device_class}
        fields |= {"bDeviceSubClass": 0, "bDeviceProtocol": 0, "bMaxPacketSize0": 64, "bcdDevice": 0x100}
        fields |= {"idVendor": device.ids[0], "idProduct": device.ids[1], "iManufacturer": 0, "iProduct": 1}
        fields |= {"iSerialNumber": 2 if device.strings[2] else 0, "bNumConfigurations": 1, "address": id(device) % 127}
        # No bus of a real machine, whose devices the system would know by name.
        return SimpleNamespace(**fields, bus=99, port_number=device.port, port_numbers=device.place, speed=2)

    def open_device(self, device: FakeDevice) -> FakeDevice:
        if device.denied:
            raise usb.core.USBError("Access denied (insufficient permissions)", -3, errno.EACCES)
        return device

    def close_device(self, handle: FakeDevice) -> None:
        return

    def ctrl_transfer(
        self, handle: FakeDevice, kind: int, request: int, value: int, index: int, data: Any, _: int
    ) -> int:
        answer = self._answer(handle, kind, request, value, index)
        if kind & 0x80:
            data[: len(answer)] = array("B", answer[: len(data)])
            return min(len(answer), len(data))
        return 0

    def _answer(self, device: FakeDevice, kind: int, request: int, value: int, index: int) -> bytes:
        if (kind, request, value >> 8) == (0x80, 6, 3):
            text = device.strings[value & 0xFF].encode("utf-16-le") if value & 0xFF else b"\x09\x04"
            return bytes([2 + len(text), 3]) + text
        if isinstance(device, FakeHub):
            return device.answer(kind, request, value, index)
        raise usb.core.USBError("Pipe error", -9, errno.EPIPE)

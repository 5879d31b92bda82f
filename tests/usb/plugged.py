"""Run under umockdev-wrapper: boards plugged in, pulled out and renamed, seen by the real pyserial and libusb.

Prints what the discovery finds after each step, one JSON object a line.
"""

from __future__ import annotations

import ctypes
import json
import sys

from pitbench.discovery import find_boards
from pitbench.errors import PitbenchError
from pitbench.usb_ports import finder, port_of_serial

BUS = "/devices/pci0000:00/0000:00:14.0/usb1"
# bLength, DEVICE, USB 2.0, class, subclass, protocol, 64 bytes, VID, PID, 1.0, strings 1 to 3, one configuration;
# then one configuration of 9 bytes without an interface.
DESCRIPTORS = "12010002{kind:02X}000140{vid}{pid}0001010203010902090000010080FA"
ROOT_HUB = f"""P: {BUS}
N: bus/usb/001/001
E: DEVNAME=/dev/bus/usb/001/001
E: DEVTYPE=usb_device
E: SUBSYSTEM=usb
E: BUSNUM=001
E: DEVNUM=001
H: descriptors={DESCRIPTORS.format(vid="6B1D", pid="0200", kind=9)}
A: busnum=1
A: devnum=1
A: speed=480
A: bConfigurationValue=1
A: idVendor=1d6b
A: idProduct=0002

"""


class Testbed:
    """umockdev's testbed, through its C interface: its Python one would need GObject's bindings in our environment."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libumockdev.so.0")
        self._library.umockdev_testbed_new.restype = ctypes.c_void_p
        self._testbed = ctypes.c_void_p(self._library.umockdev_testbed_new())

    def add(self, description: str) -> None:
        error = ctypes.c_void_p()
        add = self._library.umockdev_testbed_add_from_string
        if not add(self._testbed, description.encode(), ctypes.byref(error)):
            sys.exit(f"umockdev refused: {description}")

    def remove(self, path: str) -> None:
        self._library.umockdev_testbed_uevent(self._testbed, f"/sys{path}".encode(), b"remove")
        self._library.umockdev_testbed_remove_device(self._testbed, f"/sys{path}".encode())


def usb_device(place: str, number: int, vid: str, pid: str, serial: str) -> str:
    descriptors = DESCRIPTORS.format(vid=vid[2:] + vid[:2], pid=pid[2:] + pid[:2], kind=0xEF)
    return f"""P: {BUS}/{place}
N: bus/usb/001/{number:03}
E: DEVNAME=/dev/bus/usb/001/{number:03}
E: DEVTYPE=usb_device
E: SUBSYSTEM=usb
E: BUSNUM=001
E: DEVNUM={number:03}
H: descriptors={descriptors}
A: busnum=1
A: devnum={number}
A: speed=12
A: bConfigurationValue=1
A: bNumInterfaces= 2
A: idVendor={vid}
A: idProduct={pid}
A: serial={serial}
A: product=Board in FS mode

"""


def tty(place: str, interface: int, name: str) -> str:
    path = f"{BUS}/{place}/{place}:1.{interface}"
    device = f"P: {path}\nE: DEVTYPE=usb_interface\nE: SUBSYSTEM=usb\nA: bInterfaceClass=02\n\n"
    port = f"P: {path}/tty/{name}\nN: {name}\nE: DEVNAME=/dev/{name}\nE: SUBSYSTEM=tty\n"
    port += f"L: device=../../../{place}:1.{interface}\n\n"
    return device + port


def board(place: str, number: int, serial: str, name: str, vid: str = "2e8a", pid: str = "0005") -> str:
    return usb_device(place, number, vid, pid, serial) + tty(place, 0, name)


def seen() -> list[list[str]]:
    return [[found.serial, found.port, found.runs.kind] for found in find_boards(look=None)]


def tell(step: str, **what: object) -> None:
    print(json.dumps({"step": step, **what}), flush=True)


def port(serial: str) -> str:
    try:
        return port_of_serial(serial)
    except PitbenchError as error:
        return str(error)


def main() -> None:
    bed = Testbed()
    bed.add(ROOT_HUB)
    tell("nothing", boards=seen())
    bed.add(board("1-1", 2, "E660A", "ttyACM0"))
    bed.add(board("1-2", 3, "E660B", "ttyACM1"))
    tell("two", boards=seen(), port=port("E660B"))
    again = finder("/dev/ttyACM1")
    bed.remove(f"{BUS}/1-2/1-2:1.0/tty/ttyACM1")
    bed.remove(f"{BUS}/1-2/1-2:1.0")
    bed.remove(f"{BUS}/1-2")
    tell("unplugged", boards=seen(), port=port("E660B"), again=again())
    bed.add(board("1-2", 4, "E660B", "ttyACM7"))
    tell("renamed", boards=seen(), port=port("E660B"), again=again())
    bed.add(usb_device("1-3", 5, "2e8a", "0003", "E0C912"))
    tell("boot ROM", boards=seen())


main()

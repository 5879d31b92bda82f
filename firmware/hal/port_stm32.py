# STM32: link on USB, wire and rig on UARTs whose pins are fixed. They have no transmit ring: a write takes as long as
# the line needs, 1.15 ms a byte at 9600.
import pyb
import serial
import usys
import vfs
from serial import cause, cut, feed, reset, seconds, ticks, unique_id, wait  # noqa: F401

# MicroPython mounts the flash as /flash and shows it to the PC as a drive: here it is the root, and the board's alone,
# before anything else is read from it. USB starts when boot.py has returned.
pyb.usb_mode("VCP")
vfs.umount("/flash")
vfs.mount(pyb.Flash(start=0), "/")
usys.path[:] = ["/boot"]


def _uart(line):
    return serial.UartPort(line["uart"], {"rxbuf": serial.RX_RING})


def open_ports(board):
    return serial.open_ports(board, _uart)

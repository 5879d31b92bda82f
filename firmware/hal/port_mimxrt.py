# i.MX RT: link on USB, wire and rig on UARTs whose pins are fixed.
import mimxrt
import serial
import usys
import vfs
from serial import cause, cut, feed, reset, seconds, ticks, unique_id, wait  # noqa: F401

# MicroPython mounts the flash as /flash: here it is the root, before anything else is read from it.
vfs.umount("/flash")
vfs.mount(vfs.VfsLfs2(mimxrt.Flash(), progsize=256), "/")
usys.path[:] = ["/boot"]


def _uart(line):
    return serial.UartPort(line["uart"], {"txbuf": serial.TX_RING, "rxbuf": serial.RX_RING})


def open_ports(board):
    return serial.open_ports(board, _uart)

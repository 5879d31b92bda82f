# SAMD51: link on USB with a receive ring of 128 bytes, wire and rig on SERCOMs.
import serial
from serial import cause, cut, feed, reset, seconds, ticks, unique_id, wait  # noqa: F401


def open_ports(board):
    return serial.open_ports(board, serial.uart_on_pins)

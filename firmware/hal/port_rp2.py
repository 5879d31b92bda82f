# RP2040 and RP2350: link on USB, wire and rig on the two UARTs. A UART's own 32 bytes hold what comes while a flash
# erase stops interrupts. reset() is done by the watchdog and reads as one: hal.power tells the two apart by our mark.
import serial
from serial import cause, cut, feed, reset, seconds, ticks, unique_id, wait  # noqa: F401


def open_ports(board):
    return serial.open_ports(board, serial.uart_on_pins)

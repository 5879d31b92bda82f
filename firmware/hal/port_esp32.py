# ESP32-S3: link on the USB of the chip itself, wire and rig on UARTs at any pins. What goes to USB goes to UART 0 as
# well, at 115200, and its poll says that there is always room: a host that doesn't read costs half a second a write.
import serial
from serial import cause, cut, feed, reset, seconds, ticks, unique_id, wait  # noqa: F401


def open_ports(board):
    return serial.open_ports(board, serial.uart_on_pins)

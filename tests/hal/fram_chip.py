# mypy: ignore-errors
# Read by MicroPython: an FRAM chip as its data sheet says (MB85RS2MTA), the `umachine` that our block device finds it
# through, and power that can be cut at any byte.
import sys

SIZE = 65536
WRITE_ENABLE, WRITE, READ, IDENTIFY = 6, 2, 3, 0x9F


class PowerCut(BaseException):
    pass


class Chip:
    def __init__(self):
        self.memory = bytearray(SIZE)
        self.maker = b"\x04\x7f"
        self.left = None
        self.power_up()

    def power_up(self):
        self.selected = self.latch = False
        self.command = b""
        self.at = 0

    # The select line. A write lets go of the latch when it ends.
    def value(self, level):
        if level and self.command[:1] == bytes([WRITE]):
            self.latch = False
        self.selected = not level
        self.command = b""

    def write(self, data):
        assert self.selected
        if self.command and data:
            assert self.command[0] == WRITE
            assert self.latch, "a write needs the latch"
            self._store(data)
        elif data:
            self.command = bytes(data)
            self.at = int.from_bytes(data[1:4], "big")
            self.latch = self.latch or self.command[0] == WRITE_ENABLE

    def _store(self, data):
        for byte in data:
            if self.left == 0:
                raise PowerCut
            self.left = self.left and self.left - 1
            self.memory[self.at] = byte
            self.at += 1

    def readinto(self, buffer):
        assert self.selected
        if self.command[0] == IDENTIFY:
            buffer[:] = self.maker
        else:
            assert self.command[0] == READ
            buffer[:] = self.memory[self.at : self.at + len(buffer)]


chip = Chip()


class Pin:
    OUT = 1

    def __new__(cls, name, mode, value):
        return chip


class umachine:  # noqa: N801  a module's name
    Pin = Pin

    def SPI(number, baudrate):  # noqa: N802
        return chip


sys.modules["umachine"] = umachine
FACTS = {"spi": 2, "cs": "Y5", "bytes": SIZE}

# The data of a board whose own flash isn't cut-safe: littlefs on an FRAM chip (MB85RS2MTA and its kind) over SPI.
import umachine
import vfs
from micropython import const

_HZ = const(10000000)
_BLOCK = const(512)
# littlefs writes pieces of this size.
_PIECE = const(32)
# Opcodes, and who made it (data sheet MB85RS2MTA, 7 and 8.5).
_WRITE_ENABLE = b"\x06"
_WRITE = b"\x02"
_READ = b"\x03"
_IDENTIFY = b"\x9f"
_FUJITSU = b"\x04\x7f"
# What a file system asks of a block device (MicroPython's vfs.AbstractBlockDev).
_COUNT = const(4)
_SIZE = const(5)
_ERASE = const(6)


# A block device whose bytes can be written one by one, without an erase.
class Fram:
    def __init__(self, spi, select, size):
        self._spi = spi
        self._select = select
        self._size = size

    def answers(self):
        answer = bytearray(2)
        self._read(_IDENTIFY, answer)
        return answer == _FUJITSU

    def readblocks(self, block, buffer, offset=0):
        self._read(_READ + self._address(block, offset), buffer)

    def writeblocks(self, block, buffer, offset=0):
        self._send(_WRITE_ENABLE)
        self._send(_WRITE + self._address(block, offset), buffer)

    def ioctl(self, operation, argument):
        if operation == _COUNT:
            return self._size // _BLOCK
        if operation == _SIZE:
            return _BLOCK
        if operation == _ERASE:
            return 0

    def _address(self, block, offset):
        return (block * _BLOCK + offset).to_bytes(3, "big")

    def _read(self, command, buffer):
        self._select.value(0)
        self._spi.write(command)
        self._spi.readinto(buffer)
        self._select.value(1)

    def _send(self, command, data=b""):
        self._select.value(0)
        self._spi.write(command)
        self._spi.write(data)
        self._select.value(1)


# facts: spi, cs, bytes. Returns why it can't be used, else "". A new chip is formatted.
def mount(facts, folder):
    select = umachine.Pin(facts["cs"], umachine.Pin.OUT, value=1)
    device = Fram(umachine.SPI(facts["spi"], baudrate=_HZ), select, facts["bytes"])
    if not device.answers():
        return "no FRAM answers on SPI %s" % facts["spi"]
    try:
        files = _open(device)
    except OSError:
        vfs.VfsLfs2.mkfs(device, readsize=_PIECE, progsize=_PIECE)
        files = _open(device)
    vfs.mount(files, folder)
    return ""


def _open(device):
    return vfs.VfsLfs2(device, readsize=_PIECE, progsize=_PIECE, mtime=False)

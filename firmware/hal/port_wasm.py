# Ports of the virtual board under WASM: link, wire and supervisor behind host.call(name, payload) -> str.
#   read          port                    -> what is there, at most 512 bytes, in hex (an answer must be UTF-8)
#   write PORT    the bytes as they are   -> how many were taken (a payload is any bytes, but not a bytearray)
#   wait          milliseconds and ports  -> "" when one of them has input or the time is over
# This MicroPython is 1.27, 32 bit: ticks_ms wraps at 2^30, errno numbers are WASI's (ENOENT is 44: name them), there
# is no sha1, asyncio, os.uname or os.statvfs, and of compiled code only plain bytecode runs (no viper, no native).
import ubinascii
import uhashlib
import usys
import utime
from micropython import const

import host

_WRAP = const(0x3FFFFFFF)
# Boards wrap at 2^30 after 12 days; here every run of half a minute crosses it.
_BEFORE_WRAP_MS = const(20000)
_FOREVER_MS = const(1000)

_started = utime.ticks_ms()


class Port:
    def __init__(self, name):
        self.name = name
        self._write = "write " + name

    def read(self):
        return ubinascii.unhexlify(host.call("read", self.name))

    def write(self, data):
        return int(host.call(self._write, bytes(data)))

    def configure(self, baud, bits, parity, stop):
        pass


# Lines to and from the supervisor, which tells what there is at every start, unasked.
class Control(Port):
    asks = None

    def __init__(self):
        super().__init__("control")
        self._rest = b""

    def read(self):
        lines = (self._rest + super().read()).split(b"\n")
        self._rest = lines.pop()
        return [line.decode() for line in lines]

    def write(self, line):
        data = line.encode() + b"\n"
        while data:
            data = data[super().write(data) :]


def open_ports(board):
    return Port("link"), Port("wire"), Control()


# Returns when a port has input, or after `ms`.
def wait(ports, ms):
    host.call("wait", "%d %s" % (ms, " ".join([port.name for port in ports])))


# Milliseconds that wrap at 2^30, as on a board.
def ticks():
    return utime.ticks_diff(utime.ticks_ms(), _started) - _BEFORE_WRAP_MS & _WRAP


# Seconds since 1970, or None where no clock is kept.
def seconds():
    return int(utime.time())


# The supervisor needs no watchdog: it sees its child end.
def feed():
    pass


def cause():
    return usys.argv[-1]


# The same for the life of the board's folder.
def unique_id():
    return ubinascii.hexlify(uhashlib.sha256(usys.argv[1].encode()).digest()[:8]).decode()


def reset(control, cause):
    control.write("reset " + cause)
    _stay_dead(control)


def cut(control):
    control.write("cut")
    _stay_dead(control)


# The supervisor kills this process; if it is gone itself, reading from it ends the process.
def _stay_dead(control):
    while True:
        wait([control], _FOREVER_MS)
        control.read()

# Ports of the virtual board: link on stdin and stdout, wire on descriptor 3, supervisor on 4, all non-blocking.
import ubinascii
import uhashlib
import uselect
import usys
import utime
from micropython import const

_WIRE_FD = const(3)
_CONTROL_FD = const(4)
_CHUNK = const(256)
_WRAP = const(0x3FFFFFFF)
# Boards wrap at 2^30 after 12 days; here every run of half a minute crosses it.
_BEFORE_WRAP_MS = const(20000)

_poller = uselect.poll()
_watched = None
_started = utime.ticks_ms()


class Port:
    def __init__(self, reader, writer):
        self.reader = reader
        self._writer = writer

    # A closed far end is EIO on a pty: a silent line, as a pulled cable.
    def read(self):
        try:
            return self.reader.read(_CHUNK) or b""
        except OSError:
            return b""

    def write(self, data):
        try:
            return self._writer.write(data) or 0
        except OSError:
            return 0

    def configure(self, baud, bits, parity, stop):
        pass


# Lines to and from the supervisor, which tells what there is at every start, unasked.
class Control:
    asks = None

    def __init__(self, stream):
        self.reader = stream
        self._rest = b""

    def read(self):
        try:
            data = self.reader.read(_CHUNK)
        except OSError:
            data = b""
        if data is None:
            return ()
        if not data:
            # Without a supervisor the board has no power.
            usys.exit()
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        return [line.decode() for line in lines]

    def write(self, line):
        data = line.encode() + b"\n"
        while data:
            data = data[self.reader.write(data) or 0 :]


def open_ports(board):
    wire = open(_WIRE_FD, "r+b")
    link = Port(usys.stdin.buffer, usys.stdout.buffer)
    return link, Port(wire, wire), Control(open(_CONTROL_FD, "r+b"))


def _watch(ports):
    global _watched
    for port in _watched or ():
        _poller.unregister(port.reader)
    for port in ports:
        _poller.register(port.reader, uselect.POLLIN)
    _watched = ports


# Returns when a port has input, or after `ms`.
def wait(ports, ms):
    if ports is not _watched:
        _watch(ports)
    start = utime.ticks_ms()
    left = ms
    while left >= 0:
        ready = False
        for event in _poller.ipoll(left):
            ready = True
            if event[1] & uselect.POLLIN:
                return
        if not ready:
            return
        # A pty whose far end is closed hangs up at once, every time: don't spin on it.
        utime.sleep_ms(1)
        left = ms - utime.ticks_diff(utime.ticks_ms(), start)


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


def _stay_dead(control):
    while True:
        control.read()
        utime.sleep_ms(20)

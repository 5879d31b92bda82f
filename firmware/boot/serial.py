# Ports of every board with USB and UARTs: the link on stdin and stdout, wire and rig on UARTs.
import ubinascii
import umachine
import uselect
import usys
import utime
from micropython import const

_RING = const(512)
# A USB packet: a write that finds room for one byte blocks for the rest, so the rest stays small.
_PACKET = const(64)
# A UART's rings hold the longest frame of a protocol, and what comes while a flash erase holds the loop up.
TX_RING = 256
RX_RING = 512
_BAUD = const(9600)
_ANSWER_MS = const(300)
# A line of the rig may hold the whole world as JSON; what is longer is noise.
_LINE_MAX = const(2048)
# USB sends its last packets before a reset takes them.
_DRAIN_MS = const(50)
_CAUSES = (
    ("PWRON_RESET", "power"),
    ("HARD_RESET", "hard"),
    ("WDT_RESET", "watchdog"),
    ("DEEPSLEEP_RESET", "deepsleep"),
    ("SOFT_RESET", "soft"),
)
_PARITY = {"N": None, "E": 0, "O": 1}
_KNOWN_YEAR = const(2025)
_FROM_1970_TO_2000 = const(946684800)

_poller = uselect.poll()
_watched = None


# The board's USB: bytes as they are, through the buffers that turn no CR into LF. A stream's read(n) waits for n bytes,
# so each byte is asked for only when there is one.
class StdioPort:
    def __init__(self):
        self.reader = usys.stdin
        self._into = usys.stdin.buffer.readinto
        self._write = usys.stdout.buffer.write
        self._in = uselect.poll()
        self._in.register(usys.stdin, uselect.POLLIN)
        self._out = uselect.poll()
        self._out.register(usys.stdout, uselect.POLLOUT)
        self._byte = bytearray(1)
        self._ring = bytearray(_RING)

    def read(self):
        ready, into, byte, ring = self._in.ipoll, self._into, self._byte, self._ring
        n = 0
        while n < _RING:
            for _ in ready(0):
                into(byte)
                ring[n] = byte[0]
                n += 1
                break
            else:
                break
        return bytes(memoryview(ring)[:n])

    # A host that doesn't read would hold the board up for half a second at every write.
    def write(self, data):
        sent = 0
        while sent < len(data) and self._out.poll(0):
            piece = data[sent : sent + _PACKET]
            n = self._write(piece) or 0
            sent += n
            if n < len(piece):
                break
        return sent


# `options` are what the port's UARTs take beside the settings: pins, sizes of rings.
class UartPort:
    def __init__(self, uart, options):
        self.reader = umachine.UART(uart, baudrate=_BAUD, **options)
        self._options = options
        self._queued = 0

    def configure(self, baud, bits, parity, stop):
        self.reader.init(baudrate=baud, bits=bits, parity=_PARITY[parity], stop=stop, **self._options)

    def read(self):
        n = self.reader.any()
        return (n and self.reader.read(n)) or b""

    # Never more than fits: beyond that the driver waits for the line.
    def write(self, data):
        if self.reader.txdone():
            self._queued = 0
        n = min(len(data), TX_RING - self._queued)
        if n <= 0:
            return 0
        n = self.reader.write(data[:n]) or 0
        self._queued += n
        return n


# Lines to and from what stands around the board: the bench, or a scan head. It speaks when it is asked, at most so
# many milliseconds later.
class Rig:
    asks = _ANSWER_MS

    def __init__(self, port, baud):
        port.configure(baud, 8, "N", 1)
        self.reader = port.reader
        self._port = port
        self._rest = b""

    def read(self):
        data = self._port.read()
        if not data:
            return ()
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()[-_LINE_MAX:]
        return [_text(line) for line in lines]

    # Waits for the line alone, which never stops.
    def write(self, line):
        data = line.encode() + b"\n"
        while data:
            data = data[self._port.write(data) :]


# Noise on a cable is no text.
def _text(line):
    try:
        return line.decode()
    except UnicodeError:
        return ""


# A board with nothing around it: nobody answers, and the world is new at every start.
class NoControl:
    asks = 0
    reader = None

    def read(self):
        return ()

    def write(self, line):
        pass


def _watch(ports):
    global _watched, _poller
    _poller = uselect.poll()
    for port in ports:
        if port.reader:
            _poller.register(port.reader, uselect.POLLIN)
    _watched = ports


# Returns when a port has input, or after `ms`.
def wait(ports, ms):
    if ports is not _watched:
        _watch(ports)
    _poller.poll(ms)


# Milliseconds that wrap at 2^30.
ticks = utime.ticks_ms


# Seconds since 1970; None while the clock stands where a power-up without battery leaves it.
def seconds():
    if utime.gmtime()[0] < _KNOWN_YEAR:
        return None
    return utime.time() + (_FROM_1970_TO_2000 if utime.gmtime(0)[0] == 2000 else 0)


# The first feed starts the watchdog, which then can't be stopped; 0 milliseconds: there is none.
class Watchdog:
    def __init__(self):
        self.ms = 0
        self._dog = None

    def feed(self):
        if self._dog:
            self._dog.feed()
        elif self.ms:
            self._dog = umachine.WDT(timeout=self.ms)


watchdog = Watchdog()
feed = watchdog.feed


# A UART whose pins can be chosen.
def uart_on_pins(line):
    tx, rx = umachine.Pin(line["tx"]), umachine.Pin(line["rx"])
    return UartPort(line["uart"], {"tx": tx, "rx": rx, "txbuf": TX_RING, "rxbuf": RX_RING})


# Ports by the board's facts; `uart` makes one of the port's UARTs.
def open_ports(board, uart):
    watchdog.ms = board.WATCHDOG_MS
    control = Rig(uart(board.RIG), board.RIG["baud"]) if board.RIG else NoControl()
    return StdioPort(), uart(board.WIRE), control


# Why the board started; not every port tells all of these apart.
def cause():
    found = umachine.reset_cause()
    for name, word in _CAUSES:
        if getattr(umachine, name, None) == found:
            return word
    return "unknown"


def unique_id():
    return ubinascii.hexlify(umachine.unique_id()).decode()


def reset(control, cause):
    utime.sleep_ms(_DRAIN_MS)
    umachine.reset()


# The supply is somebody else's to switch: the board asks for it, and waits.
def cut(control):
    control.write("cut")
    while True:
        feed()
        utime.sleep_ms(_DRAIN_MS)

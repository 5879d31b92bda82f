# The one door to flash: a mirrored record and a bounded log.
import ujson
import uos
import ustruct
from micropython import const

_MAGIC = b"PIT1"
_HEADER = "<4sIII"
_HEADER_SIZE = const(16)
_SEQUENCE = const(0xFFFFFFFF)
_HALF = const(0x80000000)
_SEGMENT = const(128)


# Whole files in one folder. `writes` counts whatever a power cut can tear.
class Files:
    def __init__(self, folder):
        self._folder = folder + "/"
        self.writes = 0
        # Called after each write: one may take as long as a host waits for an answer.
        self.between = None

    def path(self, name):
        return self._folder + name

    # None for a file that isn't there or can't be read.
    def read(self, name):
        try:
            with open(self.path(name), "rb") as f:
                return f.read()
        except OSError:
            return None

    # data: bytes, or a list of them that are written in one go.
    def write(self, name, data):
        self._put(name, data, "wb")

    def append(self, name, data):
        self._put(name, data, "ab")

    def _put(self, name, data, mode):
        self.writes += 1
        with open(self.path(name), mode) as f:
            for piece in data if isinstance(data, list) else (data,):
                f.write(piece)
        if self.between:
            self.between()

    def size(self, name):
        try:
            return uos.stat(self.path(name))[6]
        except OSError:
            return 0

    def remove(self, name):
        self.writes += 1
        try:
            uos.remove(self.path(name))
        except OSError:
            pass


# One record, written to A and closed, then to B and closed: one of them is whole at any instant.
class Store:
    def __init__(self, files, crc32):
        self.files = files
        self._crc32 = crc32
        self.sequence = 0
        # The copy to write first: never the only good one.
        self._first = "a"
        # Which copy was found damaged by load(): None, "a", "b" or "both".
        self.damaged = None
        self.commits = 0

    # The newest whole record, or None on a new board and when both are damaged.
    def load(self):
        a, b = self._open("a"), self._open("b")
        self.damaged = self._damage(a, b)
        if a is None and b is None:
            return None
        if a and b and a[0] == b[0]:
            best = a
        elif b is None or a and _newer(a[0], b[0]):
            best = a
            self._repair("b", a)
        else:
            best = b
            self._repair("a", b)
        self.sequence = best[0]
        return ujson.loads(best[1])

    def commit(self, record):
        self.sequence = (self.sequence + 1) & _SEQUENCE
        data = self._pack(ujson.dumps(record).encode())
        first = self._first
        second = "b" if first == "a" else "a"
        self.files.write(first, data)
        # Until the second is written too, the first is the only good one.
        self._first = second
        self.files.write(second, data)
        self._first = "a"
        self.commits += 1

    def _damage(self, a, b):
        if a is None and b is None:
            # B is first written after A was closed: without a B nothing was ever committed.
            return None if self.files.read("b") is None else "both"
        if a is None or b is None:
            return "a" if a is None else "b"
        return None

    # A repair that fails leaves its copy to be written first by the next commit.
    def _repair(self, name, best):
        self.sequence = best[0]
        self._first = name
        try:
            self.files.write(name, self._pack(best[1]))
            self._first = "a"
        except OSError:
            pass

    def _pack(self, text):
        crc = self._crc32(text, self.sequence) & 0xFFFFFFFF
        return ustruct.pack(_HEADER, _MAGIC, self.sequence, len(text), crc) + text

    # (sequence, text) of a whole copy; None when it is missing or damaged.
    def _open(self, name):
        data = self.files.read(name)
        if data is None or len(data) < _HEADER_SIZE:
            return None
        magic, sequence, size, crc = ustruct.unpack(_HEADER, data[:_HEADER_SIZE])
        text = data[_HEADER_SIZE:]
        if magic != _MAGIC or size != len(text) or self._crc32(text, sequence) & 0xFFFFFFFF != crc:
            return None
        return sequence, text


# Sequence numbers wrap at 2^32.
def _newer(a, b):
    return a != b and (a - b) & _SEQUENCE < _HALF


# Numbered lines "[n,…]" in two segments; the older one is replaced. An entry counts once a record with its number as
# head is committed. The tail beyond is passed over, never cut off: a torn rewrite would take good entries with it.
class Log:
    def __init__(self, files):
        self.files = files
        self._head = -1
        self._mend = False

    # At boot: entries beyond `head` are dropped (-1: all).
    def trim(self, head):
        self._head = head
        self._mend = True

    # Written before the commit that makes `n` the head.
    def append(self, n, line):
        name, data = _segment(n), line.encode() + b"\n"
        # A torn entry before this one has no end of line.
        mend, self._mend = self._mend, True
        if n % _SEGMENT == 0:
            self.files.write(name, data)
        else:
            self.files.append(name, b"\n" + data if mend else data)
        self._mend = False
        self._head = n

    # Lines first … head that are still kept.
    def lines(self, first):
        first = max(first, self._head // _SEGMENT * _SEGMENT - _SEGMENT, 0)
        while first <= self._head:
            last = min(self._head, first // _SEGMENT * _SEGMENT + _SEGMENT - 1)
            yield from self._part(first, last)
            first = last + 1

    def _part(self, first, last):
        starts = [-1] * (last - first + 1)
        try:
            with open(self.files.path(_segment(first)), "rb") as f:
                _index(f, first, starts)
                for start in starts:
                    if start >= 0:
                        f.seek(start)
                        yield f.readline()[:-1].decode()
        except OSError:
            pass


def _segment(n):
    return "log1" if n // _SEGMENT & 1 else "log0"


# Where each entry starts: of two with one number the later counts, the earlier was never committed.
def _index(f, first, starts):
    at = 0
    line = f.readline()
    while line:
        n = _number(line)
        if n is not None and 0 <= n - first < len(starts):
            starts[n - first] = at
        at += len(line)
        line = f.readline()


# The number of a whole line, None for a torn one.
def _number(line):
    comma = line.find(b",")
    if line[:1] != b"[" or line[-2:] != b"]\n" or comma < 0:
        return None
    try:
        return int(line[1:comma])
    except ValueError:
        return None

# The last result of GAT: the report and what is told of it. Two files of /data take turns, one write a calculation: a
# write that a power cut tears takes the older result with it, never the last one.
from binascii import crc32

from micropython import const

UNKNOWN = 0xFFFFFFFF  # seconds
# CRC-32 of what follows, sequence, seconds since 1970 (u32, big-endian); level, format, layout, nothing; the report.
HEAD = 16
_LAYOUT = const(1)
_NAMES = ("gat0", "gat1")
_TEXT = const(1)


class Result:
    # store.files: of now, for a bench may put others in their place.
    def __init__(self, store):
        self._store = store
        self._sequence = 0
        self._data = b""
        self.level = 0
        self.form = _TEXT
        self.when = UNKNOWN
        for name in _NAMES:
            self._restore(store.files.read(name))

    def _restore(self, data):
        if data is None or len(data) < HEAD or data[14] != _LAYOUT or data[:4] != _check(data):
            return
        sequence = int.from_bytes(data[4:8], "big")
        if sequence > self._sequence:
            self._sequence = sequence
            self.when = int.from_bytes(data[8:12], "big")
            self.hold(data, data[12], data[13])

    # Of this run only.
    def hold(self, data, level, form):
        self._data = data
        self.level = level
        self.form = form

    # data: a bytearray whose first HEAD bytes are free. Raises OSError.
    def keep(self, data, level, form, seconds):
        when = UNKNOWN if seconds is None else seconds
        sequence = self._sequence + 1
        _put(data, 4, sequence.to_bytes(4, "big") + when.to_bytes(4, "big") + bytes((level, form, _LAYOUT, 0)))
        _put(data, 0, _check(data))
        self._store.files.write(_NAMES[sequence & 1], data)
        self._sequence = sequence
        self.when = when
        self.hold(data, level, form)

    # Room for the next one; what is told of this one stays.
    def drop(self):
        self._data = b""

    def size(self):
        return max(0, len(self._data) - HEAD)

    def part(self, start, size):
        return bytes(self._data[HEAD + start : HEAD + start + size])


# Not every port can assign to a slice.
def _put(data, at, head):
    for byte in head:
        data[at] = byte
        at += 1


def _check(data):
    return (crc32(memoryview(data)[4:]) & 0xFFFFFFFF).to_bytes(4, "big")

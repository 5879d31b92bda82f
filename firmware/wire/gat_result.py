# The last result of GAT: the report and what is told of it. Two files of /data take turns, one write a calculation: a
# write that a power cut tears takes the older result with it, never the last one.
from binascii import crc32

from micropython import const

UNKNOWN = 0xFFFFFFFF  # seconds
# What one frame of a result holds, and one page of a report.
PAGE = 248
# CRC-32 of what follows, sequence, seconds since 1970 (u32, big-endian); level, format, layout, nothing; the report.
_HEAD = const(16)
_LAYOUT = const(1)
_NAMES = ("gat0", "gat1")
_TEXT = const(1)


# A report as it grows, in pages: a heap that was in use for long has no room for it in one piece.
class Pages:
    def __init__(self):
        self.pages = []
        self._last = None

    def add(self, data):
        at = 0
        while at < len(data):
            if not self._last or len(self._last) == PAGE:
                self._last = bytearray()
                self.pages.append(self._last)
            piece = data[at : at + PAGE - len(self._last)]
            self._last.extend(piece)
            at += len(piece)


class Result:
    # store.files: of now, for a bench may put others in their place.
    def __init__(self, store):
        self._store = store
        self._sequence = 0
        self._pages = []
        self.level = 0
        self.form = _TEXT
        self.when = UNKNOWN
        self._restore()

    # Checked before it is read: a heap in use has no room for both.
    def _restore(self):
        found = None
        for name in _NAMES:
            path = self._store.files.path(name)
            head = _whole(path)
            if head and int.from_bytes(head[4:8], "big") > self._sequence:
                found = path, head
                self._sequence = int.from_bytes(head[4:8], "big")
        if found:
            path, head = found
            self.when = int.from_bytes(head[8:12], "big")
            with open(path, "rb") as f:
                f.read(_HEAD)
                self.hold(list(_read(f)), head[12], head[13])

    # Of this run only.
    def hold(self, pages, level, form):
        self._pages = pages
        self.level = level
        self.form = form

    # Raises OSError.
    def keep(self, pages, level, form, seconds):
        when = UNKNOWN if seconds is None else seconds
        sequence = self._sequence + 1
        head = sequence.to_bytes(4, "big") + when.to_bytes(4, "big") + bytes((level, form, _LAYOUT, 0))
        self._store.files.write(_NAMES[sequence & 1], [_check(head, pages) + head] + pages)
        self._sequence = sequence
        self.when = when
        self.hold(pages, level, form)

    # Room for the next one; what is told of this one stays.
    def drop(self):
        self._pages = []

    def count(self):
        return len(self._pages)

    # From 0 on.
    def page(self, n):
        return bytes(self._pages[n])


# The head of a record that is as it was written, else None.
def _whole(path):
    try:
        with open(path, "rb") as f:
            head = f.read(_HEAD)
            good = len(head) == _HEAD and head[14] == _LAYOUT and head[:4] == _check(head[4:], _read(f))
            return head if good else None
    except OSError:
        return None


def _read(f):
    page = f.read(PAGE)
    while page:
        yield page
        page = f.read(PAGE)


def _check(head, pages):
    crc = crc32(head)
    for page in pages:
        crc = crc32(page, crc)
    return (crc & 0xFFFFFFFF).to_bytes(4, "big")

# Power cuts at the store: before, in (torn), or after the n-th write from
# now; and a file system that is full.
from micropython import const

_ENOSPC = const(28)  # not every port has the name in errno
_TORN = ("torn_prefix", "torn_zeros", "torn_ff")
_HOW = ("before", "after", "full") + _TORN


# Damage to one copy of the record, as a worn cell would do it.
def damage(files, name):
    data = bytearray(files.read(name))
    data[len(data) // 2] ^= 0x10
    files.write(name, data)


class FaultyFiles:
    def __init__(self, files, boot, at, how):
        if how not in _HOW or at < 1:
            raise ValueError("how is one of %s, at counts from 1" % ", ".join(_HOW))
        self.files = files
        self.path = files.path
        self.read = files.read
        self.size = files.size
        self.out_of_power = lambda: boot.port.cut(boot.control)
        self.left = at
        self.how = how

    @property
    def writes(self):
        return self.files.writes

    def write(self, name, data):
        self._guard(self.files.write, name, data)

    def append(self, name, data):
        self._guard(self.files.append, name, data)

    def remove(self, name):
        self.files.remove(name)

    def _guard(self, put, name, data):
        self.left -= 1
        if self.left > 0:
            put(name, data)
        elif self.how == "full":
            raise OSError(_ENOSPC)
        else:
            self._cut(put, name, data)

    def _cut(self, put, name, data):
        if self.how == "after":
            put(name, data)
        elif self.how in _TORN:
            put(name, self._torn(data))
        self.out_of_power()

    def _torn(self, data):
        if isinstance(data, list):
            data = b"".join(data)
        half = len(data) // 2
        if self.how == "torn_prefix":
            return data[:half]
        return bytes(data[:half]) + (b"\xff" if self.how == "torn_ff" else b"\0") * (len(data) - half)

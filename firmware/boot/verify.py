# What the image is, measured without importing any of it.
import ubinascii
import uhashlib
import uos
import ustruct
from crc import crc16
from micropython import const

_CHUNK = const(512)
# No image has so many; a folder stuffed with files must not eat the memory that the refusal needs.
_FILES_MAX = const(256)
_DIR = const(0x4000)
_FILE = const(0x8000)
_EMBEDDED = "/image/crc"
# The fixed layout outside /image: any other path is extra.
_LAYOUT = {
    "/": "boot.py main.py boot/ image/ data/",
    "/boot": "block.mpy board.mpy crc.mpy fram.mpy port.mpy responder.mpy responder_wire.mpy serial.mpy verify.mpy",
    "/data": "a b log0 log1 boot gat0 gat1",
}


class Refused(Exception):
    pass


# Names in a folder, those of folders with a slash. A pipe or a device would hang the reader.
def _names(folder):
    names = []
    for entry in uos.ilistdir(folder):
        if len(names) == _FILES_MAX:
            raise Refused("too many files in " + folder)
        path = folder.rstrip("/") + "/" + entry[0]
        kind = entry[1] or uos.stat(path)[0] & 0xF000
        if kind not in (_DIR, _FILE):
            raise Refused("not a plain file " + path)
        names.append(entry[0] + "/" if kind == _DIR else entry[0])
    return names


def find_extra():
    for folder, known in _LAYOUT.items():
        try:
            names = _names(folder)
        except OSError:
            names = ()
        for name in names:
            if name not in known.split():
                raise Refused("extra file " + folder.rstrip("/") + "/" + name)
        yield


# Appends the path of every file under /image; nesting is walked without recursion.
def find_image(paths):
    folders = ["/image"]
    while folders:
        folder = folders.pop()
        names = _names(folder)
        if not names:
            raise Refused("empty folder " + folder)
        for name in names:
            path = folder + "/" + name
            if name[-1] == "/":
                folders.append(path[:-1])
            else:
                paths.append(path)
        if len(paths) > _FILES_MAX:
            raise Refused("too many files in the image")
        yield


# The same of every file that runs here, the boot block's too; nothing of /data.
def find_code(paths):
    for folder in ("", "/boot"):
        paths += [folder + "/" + name for name in _names(folder or "/") if name[-1] != "/"]
        yield
    yield from find_image(paths)


def read_file(path, update):
    size = uos.stat(path)[6]
    update(path.encode() + b"\0" + ustruct.pack("<I", size))
    with open(path, "rb") as f:
        data = f.read(_CHUNK)
        while data:
            update(data)
            size -= len(data)
            yield
            data = f.read(_CHUNK)
    if size:
        raise Refused("length of %s changed while it was read" % path)


# Path, NUL, u32 length and content of each file, in byte order of path; the embedded CRC is for `update_crc`, if given.
def read_image(update, update_crc=None):
    paths = []
    yield from find_image(paths)
    paths.sort()
    for path in paths:
        if path != _EMBEDDED:
            yield from read_file(path, update)
        elif update_crc:
            yield from read_file(path, update_crc)


# A CRC over the image, a piece a step: `seed` and `width` (16, or 32 as zlib) are free.
class Checksum:
    def __init__(self, seed=0, width=16):
        self.crc = seed
        self._function = crc16 if width == 16 else ubinascii.crc32
        self._work = self._run()

    def _update(self, data):
        self.crc = self._function(data, self.crc)

    def _run(self):
        yield from read_image(self._update)

    def _result(self):
        return True, ""

    # None while it runs, then (ok, why).
    def step(self):
        try:
            next(self._work)
        except StopIteration:
            return self._result()
        except Refused as e:
            return False, e.args[0]
        except Exception as e:  # noqa: BLE001  out of memory too: an unreadable image is refused
            return False, "image can't be read: %r" % e


# The same, compared with the value embedded in the image; extra files are refused. In passing it takes the image's
# digest for `boot`: read again for every asker, it would hold up the device for a third of a second.
class Signature(Checksum):
    def __init__(self, boot):
        self._boot = boot
        self._sha = uhashlib.sha256()
        super().__init__()

    def _update(self, data):
        super()._update(data)
        self._sha.update(data)

    def _run(self):
        yield from find_extra()
        yield from read_image(self._update, self._sha.update)
        self._boot.image_digest = ubinascii.hexlify(self._sha.digest()).decode()

    def _result(self):
        try:
            with open(_EMBEDDED, "rb") as f:
                embedded = f.read(3)
        except OSError:
            return False, "no embedded CRC in " + _EMBEDDED
        if len(embedded) != 2:
            return False, "embedded CRC isn't two bytes long"
        if embedded != ustruct.pack(">H", self.crc):
            return False, "CRC is %04x, embedded is %s" % (self.crc, ubinascii.hexlify(embedded).decode())
        return True, ""

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
MANIFEST = "/image/manifest"
SIGNATURE = "/image/manifest.sig"
# What the CRC leaves out.
_SEALS = (_EMBEDDED, MANIFEST, SIGNATURE)
# Lines of the manifest before the first file's.
_HEAD = const(6)
# The fixed layout outside /image: any other path is extra.
_LAYOUT = {
    "/": "boot.py main.py boot/ image/ data/",
    "/boot": "authority.mpy block.mpy board.mpy clearing.mpy crc.mpy fram.mpy key.mpy port.mpy"
    " responder.mpy responder_wire.mpy serial.mpy tunnel.mpy verify.mpy",
    "/data": "a b log0 log1 boot version tilt gat0 gat1",
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


# Each file is read once, for all that want to know of it.
def read_file(path, update, manifest=None):
    size = left = uos.stat(path)[6]
    update(path.encode() + b"\0" + ustruct.pack("<I", size))
    sha = manifest and uhashlib.sha256()
    with open(path, "rb") as f:
        data = f.read(_CHUNK)
        while data:
            update(data)
            if sha:
                sha.update(data)
            left -= len(data)
            yield
            data = f.read(_CHUNK)
    if left:
        raise Refused("length of %s changed while it was read" % path)
    if sha:
        manifest.take(path, sha, size)


# Path, NUL, u32 length and content of each file, in byte order of path; CRC, manifest and its signature are for
# `update_seals`, if given. `only` is the one file that is read, where all are listed.
def read_image(update, update_seals=None, manifest=None, only=None):
    paths = []
    yield from find_image(paths)
    paths.sort()
    for path in paths:
        if only and path != only:
            manifest.take(path)
        elif path not in _SEALS:
            yield from read_file(path, update, manifest)
        elif update_seals:
            yield from read_file(path, update_seals, manifest)


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
# digest for `boot`: read again for every asker, it would hold up the device for a third of a second. At the start it
# holds each file against the manifest too.
class Signature(Checksum):
    def __init__(self, boot, manifest=None):
        self._boot = boot
        self._manifest = manifest
        self._sha = uhashlib.sha256()
        super().__init__()

    def _update(self, data):
        super()._update(data)
        self._sha.update(data)

    def _run(self):
        yield from find_extra()
        yield from read_image(self._update, self._sha.update, self._manifest)
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


# Every file, and no other, held against the manifest: a line each with SHA-256, length and path, in byte order of path.
# `trusted` is the SHA-256 of manifest and signature as they were when the signature was checked; `only` the one file
# that is read, right before it is loaded: a stray file could stand in its place, so all names are looked at.
class Authenticity(Checksum):
    def __init__(self, trusted, only=None):
        self._trusted = trusted
        self._only = only
        self._found = self._crc = ""
        self.why = "not checked"
        super().__init__()

    def open(self):
        self._all = uhashlib.sha256()
        self._text = open(MANIFEST, "rb")
        for _ in range(_HEAD):
            self._line()

    def _line(self):
        line = self._text.readline()
        self._all.update(line)
        return line

    def _update(self, data):
        pass

    def _run(self):
        self.open()
        yield from find_extra()
        yield from read_image(self._update, self._update, self, self._only)
        self.finish()

    # Without a SHA-256 it is the path alone that counts.
    def take(self, path, sha=None, size=0):
        if self._found or path in (MANIFEST, SIGNATURE):
            return
        line = self._line()
        named = _path(line)
        if named != path:
            self._found = "missing file " + named if named and named < path else "extra file " + path
        elif sha and line != ubinascii.hexlify(sha.digest()) + (" %d %s\n" % (size, path)).encode():
            # An embedded CRC that was altered stands for another file, which is the one to name.
            if path == _EMBEDDED:
                self._crc = "altered file " + path
            else:
                self._found = "altered file " + path

    def finish(self):
        line = self._line()
        if line and not self._found:
            self._found = "missing file " + _path(line)
        self._found = self._found or self._crc
        while line:
            line = self._line()
        self._text.close()
        with open(SIGNATURE, "rb") as f:
            self._all.update(f.read())
        self.why = self._found if self._all.digest() == self._trusted else "altered file " + MANIFEST

    def _result(self):
        return not self.why, self.why


def _path(line):
    return line.split(b" ", 2)[-1][:-1].decode()

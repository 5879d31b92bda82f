# What GAT calculates, a piece a step: digests of the files that run here, each read from the flash at that moment.
import hashlib
from binascii import b2a_base64, hexlify, unhexlify

import product
from device.hmac_sha256 import pads
from micropython import const
from wire.gat_result import Pages

REPORT = 0x01
FUNCTIONS = 0xBA
_TEXT = const(1)
_XML = const(2)
_CHUNK = const(512)
# Without a remainder of base64.
_CONTENT_CHUNK = const(384)
_CONTENT_MAX = const(8192)
# The report of all components, as terminals ask for it, and their word for a missing seed.
_ALL = "AuthenticationResponse.xml"
_NO_SEED = "(none)"
_DECLARATION = '<?xml version="1.0"?>\r\n'  # terminals can't read one with an encoding

# Not every board has SHA-1; the report says which it is.
if hasattr(hashlib, "sha1"):
    _name, _PLAIN, _KEYED, _PLACE = "sha1", "SHA-1", "HMAC-SHA1", "%%SHA1_HMAC%%"
else:
    _name, _PLAIN, _KEYED, _PLACE = "sha256", "SHA-256", "HMAC-SHA256", "%%SHA256_HMAC%%"
_new = getattr(hashlib, _name)


# By the hash `new`; with a key its HMAC (RFC 2104).
class Digest:
    def __init__(self, new, key):
        inner, outer = pads(key, new) if key else (b"", b"")
        self._hash = new(inner)
        self._outer = outer and new(outer)
        self.update = self._hash.update

    def hex(self):
        digest = self._hash.digest()
        if self._outer:
            self._outer.update(digest)
            digest = self._outer.digest()
        return hexlify(digest).decode()


# What a start asks for: (method, format, path, seed); None for what there is no function for. Level 1 has its seed as
# it is, special functions have theirs in hex.
def understood(level, parameter):
    if level == REPORT:
        return "components", _TEXT, None, parameter
    try:
        if parameter[:1] != b"\0":
            return None
        return _function(parameter[1:].decode().split("\t"))
    except ValueError:
        return None


def _function(words):
    name, count = words[0], len(words)
    if name == "Get Special Functions" and count == 1:
        return "functions", _XML, None, b""
    if name == "Get File" and 2 <= count <= 3 and words[1] == _ALL:
        return "components", _XML, None, _seed(words)
    if name == "Get File" and count == 2 and words[1]:
        return "content", _XML, words[1], b""
    if name == "Component" and 2 <= count <= 3 and words[1]:
        return "components", _XML, words[1], _seed(words)
    return None


def _seed(words):
    return b"" if len(words) < 3 or words[2] == _NO_SEED else unhexlify(words[2])


class Failed(Exception):
    pass


class Report:
    def __init__(self, boot, level, asked):
        method, self.form, self._path, self._key = asked
        self.level = level
        self._boot = boot
        self._chunk = memoryview(bytearray(_CHUNK))
        self._reading = "list of files"
        self._size = 0  # of the content given so far
        self._work = getattr(self, "_" + method)()
        self._begin()

    def _begin(self):
        self._pages = Pages()
        if self.form == _XML:
            self._add(_DECLARATION)

    def _add(self, text):
        self._pages.add(text.encode())

    def pages(self):
        return self._pages.pages

    # None while it runs, then whether all could be read. What can't be read is never passed over (13:69E-1.28X(h)).
    def step(self):
        try:
            next(self._work)
            return None
        except StopIteration:
            return True
        except Failed as e:
            self.fail(e.args[0])
        except Exception as e:  # noqa: BLE001  out of memory too
            self.fail("%s can't be read: %r" % (self._reading, e))
        return False

    # The reason, in place of what there was.
    def fail(self, why):
        self._work = None
        self._begin()
        self._add("<Error>%s</Error>\r\n" % _xml(why) if self.form == _XML else "Error: %s\r\n" % why)

    # Files of /data are never among them; one that is asked for by its path must be.
    def _find(self, paths):
        yield from self._boot.find_code(paths)
        paths.sort()
        if self._path:
            if self._path not in paths:
                raise Failed("no component %s" % self._path)
            paths[:] = [self._path]

    # -- digests ---------------------------------------------------------

    def _components(self):
        self._head()
        paths = []
        yield from self._find(paths)
        for path in paths:
            digest = Digest(_new, self._key)
            yield from self._read(path, self._chunk, digest.update)
            self._row(path, digest.hex())
        self._add("\r\nFiles: %d\r\n" % len(paths) if self.form == _TEXT else "</Game>\r\n</Components>\r\n")

    def _row(self, path, digest):
        if self.form == _TEXT:
            self._add("%s  %s\r\n" % (digest, path))
        else:
            self._add('<Component Name="%s" Checksum="%s"/>\r\n' % (_xml(path), digest))

    # The interpreter is named, because no port lets it be read as a file.
    def _head(self):
        text = self.form == _TEXT
        if text:
            self._add("Level: %d\r\n" % self.level)
        else:
            self._add('<Components GatExec="default">\r\n<Game Manufacturer="pitbench"')
        for name, value in self._facts():
            self._add("%s: %s\r\n" % (name, value) if text else ' %s="%s"' % (name, _xml(value)))
        self._add("\r\n" if text else ">\r\n")

    def _facts(self):
        board = self._boot.identity()
        return (
            ("Name", product.DEVICE),
            ("Version", product.VERSION),
            ("Revision", product.REVISION),
            ("Image", product.KIND),
            ("Board", board["board"]),
            ("Serial", board["uid"]),
            ("NotDigested", "interpreter " + board["python"]),
            ("Algorithm", _KEYED if self._key else _PLAIN),
            ("Seed", hexlify(self._key).decode()),
        )

    # Always into the same memory: `take` keeps none of it.
    def _read(self, path, chunk, take):
        self._reading = path
        with open(path, "rb") as f:
            size = f.readinto(chunk)
            while size:
                take(chunk[:size])
                yield
                size = f.readinto(chunk)

    # -- special functions -----------------------------------------------

    def _functions(self):
        self._add('<SpecialFunctions GatExec="default" Name="%s" Manufacturer="pitbench">\r\n' % product.DEVICE)
        self._function("Get Special Functions")
        self._function("Get File", _ALL, _PLACE)
        self._function("Get File", "%%PATH%%")
        paths = []
        yield from self._find(paths)
        for path in paths:
            self._function("Component", path, _PLACE)
        self._add("</SpecialFunctions>\r\n")

    def _function(self, name, *parameters):
        self._add("<Function><Feature>%s</Feature>" % name)
        for parameter in parameters:
            self._add("<Parameter>%s</Parameter>" % _xml(parameter))
        self._add("</Function>\r\n")

    def _content(self):
        yield from self._find([])
        self._add('<File Name="%s" Encoding="base64">\r\n' % _xml(self._path))
        yield from self._read(self._path, self._chunk[:_CONTENT_CHUNK], self._encode)
        self._add("</File>\r\n")

    def _encode(self, data):
        self._size += len(data)
        if self._size > _CONTENT_MAX:
            raise Failed("%s is longer than %d bytes" % (self._path, _CONTENT_MAX))
        self._pages.add(b2a_base64(data))


def _xml(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")

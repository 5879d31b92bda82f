# The end of a hard tilt: somebody whose role has a secret proves it, and the whole image is authenticated again. Loaded
# only on a board that stands in it.
import ubinascii
import uhashlib
import ujson
import uos
import ustruct
import utime

_COPIES = ("/data/a", "/data/b")
# As hal/store.py writes them: magic, sequence, length, CRC-32 seeded with the sequence; then JSON.
_MAGIC = b"PIT1"
_HEADER = "<4sIII"
_HEADER_SIZE = 16
_BLOCK = 64


class Clearing:
    OPERATIONS = ("challenge", "clear_tilt")

    # verify: the check of every start, (ok, why) and boot.doubt.
    def __init__(self, boot, mark, verify):
        self._boot = boot
        self._mark = mark
        self._verify = verify
        self._nonce = ""
        # True once the mark is gone: the board is to start anew.
        self.done = False

    # "ok" or "err" of the reply.
    def answer(self, operation, request):
        return {"ok": self._challenge()} if operation == "challenge" else self._clear(request)

    def _challenge(self):
        seed = uos.urandom(32) + self._boot.port.unique_id().encode() + str(utime.ticks_us()).encode()
        self._nonce = ubinascii.hexlify(uhashlib.sha256(seed).digest()[:16]).decode()
        return {"nonce": self._nonce}

    def _clear(self, request):
        role, nonce = request.get("role"), self._nonce
        self._nonce = ""
        secret = secrets().get(role)
        if not (nonce and secret and same(request.get("proof"), proof(secret, "%s|%s|clear_tilt" % (nonce, role)))):
            return _error("auth", "the proof does not fit: ask for a new challenge")
        ok, why = self._verify(self._boot)
        if not ok or self._boot.doubt:
            return _error("refused", why or self._boot.doubt)
        uos.remove(self._mark)
        self._boot.leave_mark("tilt_cleared " + role)
        self.done = True
        return {"ok": {}}


def _error(code, why):
    return {"err": {"code": code, "why": why}}


# Secrets of the roles by name, from the newest whole record; none where there is none.
def secrets():
    newest, found = -1, {}
    for path in _COPIES:
        sequence, record = _record(path)
        if sequence > newest:
            newest, found = sequence, record.get("secrets", {})
    return found


def _record(path):
    try:
        with open(path, "rb") as f:
            data = f.read()
        magic, sequence, size, crc = ustruct.unpack(_HEADER, data[:_HEADER_SIZE])
        text = data[_HEADER_SIZE:]
        if magic == _MAGIC and size == len(text) and ubinascii.crc32(text, sequence) & 0xFFFFFFFF == crc:
            return sequence, ujson.loads(text)
    except (OSError, ValueError):
        pass
    return -1, {}


# HMAC-SHA256 (RFC 2104) in hex.
def proof(secret, text):
    key = ubinascii.unhexlify(secret)
    if len(key) > _BLOCK:
        key = uhashlib.sha256(key).digest()
    key = key + bytes(_BLOCK - len(key))
    inner = uhashlib.sha256(bytes(b ^ 0x36 for b in key) + text.encode()).digest()
    return ubinascii.hexlify(uhashlib.sha256(bytes(b ^ 0x5C for b in key) + inner).digest()).decode()


def same(a, b):
    difference = 0 if isinstance(a, str) and len(a) == len(b) else 1
    for x, y in zip(str(a).encode(), b.encode()):
        difference |= x ^ y
    return difference == 0

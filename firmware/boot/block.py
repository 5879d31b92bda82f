# The boot block: nothing of /image is imported before its signature was checked.
import gc

import board
import micropython
import port
import uhashlib
import uos
import usys
import utime
from crc import crc16
from micropython import const

_MARK = "/data/boot"
# Why the board stands in hard tilt: it stays there through resets and power cycles.
_TILT = "/data/tilt"
_VERIFY = "/boot/verify.mpy"
_CHUNK = const(512)
# An application that fails this often in a row stays down until the power is cycled.
_CRASHES = const(3)
# One that ran this long before it failed starts the count again.
_SETTLED_MS = const(60000)
_CTRL_C = const(3)


# What the boot block hands on to main.run(boot).
class Boot:
    def __init__(self):
        self.board = board
        self.port = port
        self.link, wire, self.control = port.open_ports(board)
        if board.TUNNEL:
            import tunnel

            wire = tunnel.Tunnel(self.link)
        self.wire = wire
        self.cause = port.cause()
        # Why there is no place for data, else "".
        self.no_store = _open_store()
        self.mark = _take_mark()
        self.image_crc = self.image_digest = None
        # Set by authority.py: SHA-256 of the signed manifest, its version, whose key it is; why the image isn't
        # authentic, "" once it was found to be.
        self.trusted = self.image_version = None
        self.key = ""
        self.doubt = "not checked"
        self.crc16 = crc16
        self._path = usys.path[:]
        self._sha = _sha_of_verifier()

    # What looks at files is loaded for each look and dropped with it: an application has a use for its 5 KB. It must
    # be what it was at the start.
    def _verify(self):
        names = [entry[0] for entry in uos.ilistdir("/boot")]
        if _sha_of_verifier() != self._sha or "verify.py" in names or "verify" in names:
            self.tilt("altered file " + _VERIFY)
        gc.collect()
        path = usys.path[:]
        usys.path[:] = self._path
        try:
            import verify

            return verify
        finally:
            usys.path[:] = path
            _drop("verify")

    def signature(self):
        return self._verify().Signature(self)

    # Of all files, or of the content of one right before it is loaded.
    def authenticity(self, only=None):
        return self._verify().Authenticity(self.trusted, only)

    def checksum(self, seed, width):
        return self._verify().Checksum(seed, width)

    def find_code(self, paths):
        return self._verify().find_code(paths)

    # Before an intended reset: some boards can't tell it from a watchdog's.
    def leave_mark(self, text):
        with open(_MARK, "w") as f:
            f.write(text)

    # What ran is no longer what was signed. Never returns.
    def tilt(self, why):
        try:
            with open(_TILT, "w") as f:
                f.write(why)
        finally:
            port.reset(self.control, "tilt")

    def identity(self):
        gc.collect()
        return {
            "firmware": "pitbench",
            "board": board.NAME,
            "uid": port.unique_id(),
            "python": usys.version,
            "interpreter": getattr(usys.implementation, "_machine", usys.platform),
            "boot_block": "filesystem",
            "reset": self.cause,
            "key": self.key,
            "crc": None if self.image_crc is None else "%04x" % self.image_crc,
            "heap_free": gc.mem_free(),
        }


def _sha_of_verifier():
    sha = uhashlib.sha256()
    with open(_VERIFY, "rb") as f:
        data = f.read(_CHUNK)
        while data:
            sha.update(data)
            data = f.read(_CHUNK)
    return sha.digest()


def _open_store():
    if board.FRAM is None:
        return ""
    import fram

    return fram.mount(board.FRAM, "/data")


# Read once, so that a later reset isn't explained by an old mark.
def _take_mark():
    try:
        with open(_MARK) as f:
            text = f.read(200)
        uos.remove(_MARK)
        return text
    except (OSError, UnicodeError):
        return ""


def _crashes(boot):
    words = boot.mark.split(" ", 2)
    if boot.cause == "power" or len(words) < 3 or words[0] != "crash":
        return 0, ""
    return int(words[1]), words[2]


# The signature over the image, (ok, why), and in the same pass whether it is authentic (boot.doubt). What is needed for
# that but once is dropped.
def _verify(boot):
    import authority

    try:
        return authority.check(boot)
    finally:
        for name in ("authority", "key", "verify"):
            _drop(name)
        gc.collect()


# A deleted entry keeps its value until another takes its place.
def _drop(name):
    usys.modules[name] = None
    del usys.modules[name]


def _run_main(boot, crashes):
    started = utime.ticks_ms()
    try:
        usys.path[:] = ["/image"]
        import main

        main.run(boot)
        why = "main.run returned"
    except (Exception, KeyboardInterrupt) as e:  # noqa: BLE001  whatever it was, the board never shows a REPL
        usys.print_exception(e, usys.stderr)
        why = repr(e)
    if utime.ticks_diff(utime.ticks_ms(), started) > _SETTLED_MS:
        crashes = 0
    try:
        boot.leave_mark("crash %d %s" % (crashes + 1, why[:100]))
    finally:
        port.reset(boot.control, "crash")


def start():
    # The data folder is the only thing that the boot block ever makes.
    try:
        uos.mkdir("/data")
    except OSError:
        pass


# Returns only where the last run was asked to leave the board to its REPL.
def run():
    boot = Boot()
    if boot.mark == "repl":
        micropython.kbd_intr(_CTRL_C)
        return
    crashes, why = _crashes(boot)
    if crashes >= _CRASHES:
        # Kept for the next start: only a power cycle ends this.
        boot.leave_mark(boot.mark)
        _refuse(boot, "failure", "firmware failed %d times in a row: %s" % (crashes, why))
    if boot.no_store:
        _refuse(boot, "store", boot.no_store)
    ok, why = _verify(boot)
    if not ok:
        # A CRC tells that something is wrong, and the manifest which file.
        if why[:3] == "CRC" and boot.doubt:
            why += "; " + boot.doubt
        _refuse(boot, "signature", why)
    if boot.doubt:
        _refuse(boot, "authenticity", boot.doubt)
    _refuse_tilted(boot)
    _run_main(boot, crashes)


# Never returns. Loaded only here: it costs a good board no memory.
def _refuse(boot, condition, why, clearing=None):
    gc.collect()
    import responder

    responder.run(boot, condition, why, clearing)


# The image was found authentic again, but only an authorised person ends a hard tilt.
def _refuse_tilted(boot):
    try:
        with open(_TILT, "rb") as f:
            why = f.read(200)
    except OSError:
        return
    from clearing import Clearing

    why = "hard tilt, to be cleared with proof: " + str(why)[2:-1]
    _refuse(boot, "authenticity", why, Clearing(boot, _TILT, _verify))

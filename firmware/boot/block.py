# The boot block: nothing of /image is imported before its signature was checked.
import gc

import board
import micropython
import port
import uos
import usys
import utime
from crc import crc16
from micropython import const
from verify import Checksum, Signature, find_code

_MARK = "/data/boot"
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
        self.link, self.wire, self.control = port.open_ports(board)
        self.cause = port.cause()
        # Why there is no place for data, else "".
        self.no_store = _open_store()
        self.mark = _take_mark()
        self.image_crc = self.image_digest = None
        self.crc16 = crc16

    def signature(self):
        return Signature(self)

    def checksum(self, seed, width):
        return Checksum(seed, width)

    def find_code(self, paths):
        return find_code(paths)

    # Before an intended reset: some boards can't tell it from a watchdog's.
    def leave_mark(self, text):
        with open(_MARK, "w") as f:
            f.write(text)

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
            "crc": None if self.image_crc is None else "%04x" % self.image_crc,
            "heap_free": gc.mem_free(),
        }


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


def _verify(boot):
    check = boot.signature()
    result = None
    while result is None:
        port.feed()
        result = check.step()
    boot.image_crc = check.crc
    return result


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
        _refuse(boot, "signature", why)
    _run_main(boot, crashes)


# Never returns. Loaded only here: it costs a good board no memory.
def _refuse(boot, condition, why):
    gc.collect()
    import responder

    responder.run(boot, condition, why)

# mypy: ignore-errors
# What the ROM of a board does before anybody's code runs; read by MicroPython, never by the PC.
# argv: rom.py, ROOT (the folder that is the board's flash), CAUSE (of this start: power, watchdog, soft, host, crash).
import os
import sys

import vfs

root = sys.argv[1]
vfs.umount("/")
vfs.mount(vfs.VfsPosix(root), "/")
os.chdir("/")
sys.path[:] = ["", ".frozen", "/lib"]


def start(main):
    # As on a board, boot.py and main.py share one name space; an uncaught error would end in a REPL there.
    for path in ("/boot.py", "/main.py"):
        with open(path) as source:
            code = compile(source.read(), path, "exec")
        exec(code, main)
    raise RuntimeError("/main.py returned: a board would be in its REPL now")


def run():
    try:
        start({"__name__": "__main__"})
    except Exception as error:  # noqa: BLE001 - the last line of defence, as the REPL is on a board
        sys.print_exception(error, sys.stderr)
        sys.exit(1)


del root, vfs, os
run()

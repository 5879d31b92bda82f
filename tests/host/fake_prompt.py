# mypy: ignore-errors
# What the fake board's ROM does before its prompt; read by MicroPython. argv: fake_prompt.py, ROOT, PLACE.
import os
import sys

import vfs


class Machine:
    @staticmethod
    def unique_id():
        return b"\xe6\x61\x00\x01"

    @staticmethod
    def reset():
        open(4, "r+b").write("reset hard\n")  # noqa: SIM115
        while True:
            pass


root, place = sys.argv[1:3]
vfs.umount("/")
vfs.mount(vfs.VfsPosix(root), place)
os.chdir(place)
sys.path[:] = ["", ".frozen", "/lib"]
sys.modules["machine"] = sys.modules["umachine"] = Machine

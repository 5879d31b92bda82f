"""The embedded value of a rabbit whose boot block measures something else than the signature.

Such a rabbit's maker would have embedded what his own measure gives: without that the rabbit would refuse its own
image, and nothing would be shown. So its boot block is asked, on an interpreter, and what it measures is embedded.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from pitbench.errors import PitbenchError
from pitbench.manifest import resealed
from pitbench.signature import CRC_FILE, SEALS, image_files
from pitbench.signing import signing_key
from pitbench.virtual import find_interpreter

MEASURES = ("boot/verify.py", "boot/crc.py", "boot/crc_viper.py")
# The board that this PC is.
HERE = "unix"
SECONDS = 20.0
# Read by MicroPython: argv is the script and the image's folder, which becomes the board's file system.
ASK = """
import os, sys, vfs
root = sys.argv[1]
vfs.umount("/")
vfs.mount(vfs.VfsPosix(root), "/")
os.chdir("/")
sys.path[:] = ["/boot"]
from verify import Signature
class Boot:
    pass
check = Signature(Boot())
while check.step() is None:
    pass
print("%04x" % (check.crc & 0xFFFF))
"""


def measures_otherwise(patched: Iterable[str]) -> bool:
    """Whether patches of these sources may change what the boot block measures."""
    return any(name in MEASURES for name in patched)


def sign_as_its_own(out: Path, folder: Path) -> None:
    """Embed in the image in `out` what its own boot block measures, and sign that.

    Raises PitbenchError when it measures nothing, and when the image is signed with a key that this bench hasn't got.

    `folder` has the same image for this PC: the boot block of another board may be code that doesn't run here.
    """
    script = folder.parent / "ask.py"
    script.write_text(ASK, encoding="utf-8")
    command = [*find_interpreter("unix").bare, str(script), str(folder.resolve())]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    measured = done.stdout.strip()
    if done.returncode or len(measured) != 4:
        raise PitbenchError(f"The rabbit's boot block measures nothing: {done.stderr.strip()[-200:]}.", "Mend its row.")
    files = image_files(out) | {CRC_FILE: bytes.fromhex(measured)}
    files = resealed(files, files, signing_key())
    for path in SEALS:
        (out / path[1:]).write_bytes(files[path])

"""The emulator's C code, compiled for this very Python, and beside it our own `stride.pyx`.

Its wheels are built for every Python's limited API. There each access to the chip's memory looks a method up by name,
which is two thirds of all the time. The wheel ships its C sources, so where there is a C compiler they are compiled
once more, without that limit, into the product's cache; and with them the loop that goes from one instruction to the
next. Where there is none, emulated boards run at a fifteenth of the speed.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from pitbench.compiler import cache_folder

PACKAGE = "rp2040py"
STRIDE = Path(__file__).with_name("stride.pyx")
FLAGS = ("-O2", "-shared", "-fPIC", "-w")


@functools.cache
def package_folder() -> Path | None:
    """Return the folder from which to import the emulator, compiled first where need be; None: as it is installed."""
    source = hashlib.sha256(STRIDE.read_bytes()).hexdigest()[:8]
    place = cache_folder() / f"{PACKAGE}-{metadata.version(PACKAGE)}-{source}-{sysconfig.get_config_var('SOABI')}"
    if not place.is_dir():
        _build(place)
    return place if (place / PACKAGE).is_dir() else None


def _build(place: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    headers = Path(sysconfig.get_path("include"))
    if compiler is None or not (headers / "Python.h").is_file():
        _say("no C compiler or no Python headers here: emulated boards run at a fifteenth of the speed they could have")
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        draft = Path(folder) / place.name
        _say("compiling the emulator for this Python, once; it takes a minute")
        if _compiled(draft, compiler, headers):
            # Made aside and renamed: of two benches that build at once, one is first.
            try:
                draft.rename(place)
            except OSError:
                return


def _compiled(draft: Path, compiler: str, headers: Path) -> bool:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return False
    shutil.copytree(spec.submodule_search_locations[0], draft / PACKAGE, ignore=shutil.ignore_patterns("*.so"))
    ours = draft / f"{STRIDE.stem}.c"
    if not _done([[sys.executable, "-m", "cython", "-I", str(draft), "-o", str(ours), str(STRIDE)]]):
        return False
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return _done(
        [compiler, *FLAGS, f"-I{headers}", "-o", str(source.with_suffix("")) + suffix, str(source)]
        for source in (ours, *sorted((draft / PACKAGE / "native").glob("*.c")))
    )


def _done(commands: Iterable[list[str]]) -> bool:
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = list(pool.map(lambda command: subprocess.run(command, capture_output=True, check=False), commands))
    if failed := [result for result in results if result.returncode]:
        _say(f"the emulator's C code doesn't compile here ({failed[0].stderr.decode(errors='replace')[:200].strip()})")
    return not failed


def _say(text: str) -> None:
    print(f"pitbench: {text}.", file=sys.stderr, flush=True)

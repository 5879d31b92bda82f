"""The judges' packages, installed once into a folder beside the tree's other caches, by exact pins."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pitbench.compiler import cache_folder

HERE = Path(__file__).parent
INSTALL_S = 300
SAID_LINES = 8
PINS_NPM = (HERE / "package.json", HERE / "package-lock.json")
PIN_BUILD, PINS_PIP = HERE / "essp6-build.txt", HERE / "essp6.txt"
MISSING = "The wire judges need node and npm: apt-get install nodejs npm (Debian), then run the tests again."


class NotInstalled(Exception):
    """A package manager failed; the text says what to do."""


def has_npm() -> bool:
    """Whether there is a Node.js to run judges with."""
    return all(shutil.which(program) for program in ("node", "npm"))


def node_modules() -> Path:
    """The judges from npm. Raises NotInstalled."""
    return _kept("npm", PINS_NPM, _npm) / "node_modules"


def essp6() -> Path:
    """The folder that eSSP6 is imported from. Raises NotInstalled."""
    return _kept("essp6", (PIN_BUILD, PINS_PIP), _pip) / "site"


def _npm(folder: Path) -> None:
    for pins in PINS_NPM:
        shutil.copy(pins, folder)
    # No package's own script runs: all that is needed comes compiled.
    _run("npm", ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)


def _pip(folder: Path) -> None:
    build, site = folder / "build", folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
    _run("pip", [*pip, "--target", str(build), "-r", str(PIN_BUILD)], folder)
    own = {"PYTHONPATH": str(build)}
    _run("pip", [*pip, "--no-deps", "--no-build-isolation", "--target", str(site), "-r", str(PINS_PIP)], folder, own)


def _run(tool: str, command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> None:
    own = {**os.environ, **(environment or {})}
    run = subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, timeout=INSTALL_S)
    if run.returncode:
        said = "\n".join(f"{run.stdout}{run.stderr}".strip().splitlines()[:SAID_LINES])
        raise NotInstalled(
            f"{tool} could not install the wire judges: run the tests once where its registry is reached, or set "
            f"PITBENCH_CACHE to a folder where that was done. It said:\n{said}"
        )


def _kept(name: str, pins: tuple[Path, ...], install: Callable[[Path], None]) -> Path:
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in pins)).hexdigest()[:16]
    folder = cache_folder() / f"judges-{name}-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(folder.with_suffix(".lock")):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent, prefix="unfinished-") as unfinished:
                made = Path(unfinished) / "made"
                made.mkdir()
                install(made)
                made.rename(folder)
    return folder


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

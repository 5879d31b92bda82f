"""Types of the firmware, port by port: the shared files and the port's own hal file, against that port's stubs alone.

Run by `make lint`. The stubs are installed into build/stubs/PORT once, and again when firmware/stubs.toml changes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pitbench.tables import read_toml

ROOT = Path(__file__).parents[2]
STUBS = ROOT / "build" / "stubs"
PINS = ROOT / "firmware" / "stubs.toml"
# The WASM build is held against the stubs of the unix port: it has none of its own.
ALSO = {"unix": ("wasm",)}
# What every board with pins shares, and no virtual board ever loads.
FOR_BOARDS = ("boot/serial.py", "boot/fram.py", "hal/pins.py")


def ports() -> list[str]:
    """Names of the ports that are checked."""
    return list(read_toml(PINS)["ports"])


def install(port: str) -> Path:
    """Install a port's stubs into a folder of their own, unless they are there; return it."""
    table, folder = read_toml(PINS), STUBS / port
    wanted = [table["ports"][port], table["stdlib"]]
    stamp = folder / ".installed"
    if not stamp.is_file() or stamp.read_text() != str(wanted):
        shutil.rmtree(folder, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "--target", str(folder), *wanted], check=True)
        stamp.write_text(str(wanted))
    return folder


def sources(firmware: Path, port: str) -> list[str]:
    """The files that run on a port: every one but other ports' own."""
    own = {f"hal/port_{name}.py" for name in (port, *ALSO.get(port, ()))}
    others = {path.relative_to(firmware).as_posix() for path in firmware.glob("hal/port_*.py")} - own
    if port == "unix":
        others |= set(FOR_BOARDS)
    found = sorted(path for path in firmware.rglob("*.py") if "__pycache__" not in path.parts)
    return [str(path) for path in found if path.relative_to(firmware).as_posix() not in others]


def check(port: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run mypy over the firmware of the tree `root` as it stands on `port`."""
    stubs = install(port)
    # What the boot block imports as `port` is the board's own.
    names = STUBS / f"names-{port}"
    names.mkdir(exist_ok=True)
    (names / "port.pyi").write_text(f"from hal.port_{port} import *  # noqa: F403\n")
    command = [sys.executable, "-m", "mypy", "--config-file", "firmware/mypy.ini"]
    command += ["--cache-dir", str(root / ".mypy_cache" / port), *sources(root / "firmware", port)]
    environment = {**os.environ, "STUBS": str(stubs), "NAMES": str(names)}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=300)


def main(names: Iterable[str]) -> int:
    """Check each port, say how it went; 0 when all are well."""
    ports = list(names)
    with ThreadPoolExecutor(len(ports)) as pool:
        list(pool.map(install, ports))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = dict(zip(ports, pool.map(check, ports), strict=True))
    for port, run in runs.items():
        print(f"{port}: {run.stdout.strip()}{run.stderr}")
    return int(any(run.returncode for run in runs.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ports()))

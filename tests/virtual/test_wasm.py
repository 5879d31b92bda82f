"""The `wasm:` board: MicroPython as a WASI module is as good a board as the native interpreter."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import serial
from pitbench.deadline import Deadline
from pitbench.virtual import Interpreter, VirtualBoard, find_interpreter

PORT = Path(__file__).parents[2] / "firmware" / "hal" / "port_wasm.py"
SECONDS = 10.0

Install = Callable[..., Path]
Start = Callable[[Path], tuple[VirtualBoard, serial.Serial]]

OPEN = """
import port
link, wire, control = port.open_ports(None)
link.write(b"ready " + port.cause().encode() + b"\\n")
"""

ECHO = (
    OPEN
    + """
while True:
    port.wait((link, wire, control), 10000)
    for each in (link, wire):
        data = each.read()
        while data:
            data = data[each.write(data):]
"""
)

# Tells how long a wait took that nothing ended, in milliseconds; then wakes by what arrives.
SLEEPER = (
    OPEN
    + """
import utime
start = utime.ticks_ms()
port.wait((link, wire), 700)
link.write(b"%d\\n" % utime.ticks_diff(utime.ticks_ms(), start))
while True:
    port.wait((link, wire), 10000)
    if link.read():
        link.write(b"awake\\n")
"""
)

# Appends to its file at each start, and says what it found.
WRITER = (
    OPEN
    + """
import uos
if "data" not in uos.listdir("/"):
    uos.mkdir("/data")
with open("/data/a", "ab") as file:
    file.write(bytes(range(256)))
print(uos.stat("/data/a")[6], uos.getcwd(), *sorted(name for name, *_ in uos.ilistdir("/")))
while True:
    port.wait((control,), 10000)
"""
)

# Does on the link's word what the supervisor is for.
OBEDIENT = (
    OPEN
    + """
while True:
    port.wait((link, control), 10000)
    word = link.read()
    if word == b"reset":
        port.reset(control, "watchdog")
    if word == b"cut":
        port.cut(control)
    for line in control.read():
        if line.startswith("pin "):
            link.write(line.encode() + b"\\n")
"""
)

# A collection at nearly every allocation, from every depth, while objects of all kinds are held.
COLLECTOR = """
import gc, ujson, uos
gc.threshold(32)

class Held(Exception):
    pass

def deep(n, *things, **named):
    if n == 0:
        raise Held(things, named)
    try:
        return deep(n - 1, *[thing for thing in things], **{name: named[name] for name in named})
    finally:
        [str(i) for i in range(3)]

for k in range(60):
    record = {"list": [1, 2.5, None, "x" * k], "text": "%04x" % k, "big": 1 << k}
    assert ujson.loads(ujson.dumps(record)) == record
    try:
        deep(8, 1, "b", [k], x=4, y="five")
    except Held as held:
        assert held.args == ((1, "b", [k]), {"x": 4, "y": "five"})
    space = {}
    exec("def f(a):\\n return [a * 2 for _ in range(3)], {i: str(i) for i in range(4)}", space)
    assert space["f"]("ab")[0] == ["abab"] * 3

def depth(n):
    try:
        return depth(n + 1)
    except RuntimeError:
        return n

with open("/result", "w") as file:
    file.write("%d %d" % (depth(0), len(uos.urandom(8))))
import usys
usys.exit(0)
"""


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Makes a board's folder with one program on it."""

    def folder(program: str, name: str = "board") -> Path:
        root = tmp_path / name / "flash"
        (root / "boot").mkdir(parents=True)
        (root / "boot.py").write_text("import usys\nusys.path[:] = ['/boot']\n")
        (root / "main.py").write_text(program)
        (root / "boot" / "port.py").write_bytes(PORT.read_bytes())
        return root

    return folder


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts boards with a host on their link, who is there first and misses nothing; ends them all."""
    with ExitStack() as running:

        def started(root: Path) -> tuple[VirtualBoard, serial.Serial]:
            board = VirtualBoard(root, find_interpreter("wasm"))
            running.callback(board.stop)
            link = running.enter_context(opened(board.link_path))
            board.start()
            return board, link

        yield started


def opened(path: str) -> serial.Serial:
    return serial.Serial(path, timeout=SECONDS, write_timeout=SECONDS)


def test_every_byte_value_echoes_on_both_ports(install: Install, start: Start) -> None:
    board, link = start(install(ECHO))
    assert link.readline() == b"ready power\n"
    with opened(board.wire_path) as wire:
        for port in (wire, link):
            port.write(bytes(range(256)) * 5)
            assert port.read(256 * 5) == bytes(range(256)) * 5


def test_a_wait_sleeps_and_wakes(install: Install, start: Start) -> None:
    board, link = start(install(SLEEPER))
    assert link.readline() == b"ready power\n"
    used = cpu_seconds(board.pid)
    assert 690 <= int(link.readline()) < 1500
    assert cpu_seconds(board.pid) - used < 0.1
    link.write(b"!")
    assert link.readline() == b"awake\n"


def cpu_seconds(pid: int | None) -> float:
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        pytest.skip("how long a process has run can be read on Linux only")
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / 100


def test_files_are_on_the_pc_and_outlive_a_kill(install: Install, start: Start) -> None:
    root = install(WRITER)
    board, link = start(root)
    assert link.readline() == b"ready power\n"
    assert link.readline() == b"256 / boot boot.py data main.py\n"
    assert (root / "data" / "a").read_bytes() == bytes(range(256))
    board.cut()
    board.power_on()
    assert link.readline() == b"ready power\n"
    assert link.readline().startswith(b"512 ")


def told_until(link: Any, wanted: bytes) -> list[bytes]:
    """What comes up to this line; at a start each optical sensor is told to be dark."""
    lines = [link.readline()]
    while lines[-1] not in (wanted, b""):
        lines.append(link.readline())
    return lines


def test_resets_cuts_and_pins_go_through_the_supervisor(install: Install, start: Start) -> None:
    board, link = start(install(OBEDIENT))
    assert link.readline() == b"ready power\n"
    board.pins("box", 1)
    assert b"pin box 1\n" in told_until(link, b"pin box 1\n")
    link.write(b"reset")
    assert b"ready watchdog\n" in told_until(link, b"ready watchdog\n")
    link.write(b"cut")
    board.wait_off(Deadline(SECONDS))
    assert (board.boots, board.crashes) == (2, 0)


def test_parallel_starts_share_one_compiled_module(
    install: Install, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "cache"))
    for _, link in [start(install(ECHO, name)) for name in ("one", "two")]:
        assert link.readline() == b"ready power\n"
    (kept,) = (tmp_path / "cache" / "wasm").iterdir()
    assert kept.suffix == ".cwasm"
    before = kept.stat()
    assert start(install(ECHO, "three"))[1].readline() == b"ready power\n"
    assert (kept.stat().st_ino, kept.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_damaged_compiled_module_is_made_again(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PITBENCH_CACHE", str(tmp_path / "cache"))
    root = install("import usys\nusys.exit(0)")
    assert run(root).returncode == 0
    (kept,) = (tmp_path / "cache" / "wasm").iterdir()
    whole = kept.stat().st_size
    kept.write_bytes(kept.read_bytes()[:1000])
    assert run(root).returncode == 0
    assert kept.stat().st_size == whole


def test_objects_in_use_outlive_collections(install: Install) -> None:
    root = install(COLLECTOR)
    ended = run(root)
    assert ended.returncode == 0, ended.stderr
    depth, entropy = map(int, (root / "result").read_text().split())
    # The native interpreter goes 201 calls deep.
    assert depth > 150
    assert entropy == 8


def test_an_uncaught_error_is_told_on_the_console(install: Install) -> None:
    ended = run(install("1 / 0"))
    assert ended.returncode == 1
    assert "ZeroDivisionError" in ended.stderr


def run(root: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program that uses no port."""
    interpreter: Interpreter = find_interpreter("wasm")
    return subprocess.run(interpreter.command(root, "power"), capture_output=True, text=True, timeout=60)

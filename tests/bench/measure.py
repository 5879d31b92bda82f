"""`make bench`: what pitbench costs, each figure beside what it is to be compared with, in one run.

Figures are medians; pairs are taken in turn, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import crcmod.predefined  # type: ignore[import-untyped]
import measure_dice_shaker
import measure_emulated
import measure_selector
import measure_shuffler
import measure_statistics
import measure_wires
from pitbench import items
from pitbench.image import build_image
from pitbench.link import encode_line
from pitbench.protocols.id003 import Command
from pitbench.targets import open_target
from pitbench.transport import open_transport
from pitbench.virtual import find_interpreter
from pitbench.virtual.ptys import open_port
from pitbench_hil.acceptor import AcceptorBench

DEVICE = "bill-acceptor"
ROUNDS = 300
STARTS = 15
ECHO = """
import sys, select
poll = select.poll()
poll.register(sys.stdin.buffer, select.POLLIN)
while True:
    poll.poll()
    data = sys.stdin.buffer.read(256)
    if data:
        sys.stdout.buffer.write(data)
"""
CRC_LOOP = """
import sys, time
sys.path[:] = [sys.argv[1] + "/boot"]
from crc import crc16
data = bytes(65536)
start = time.ticks_us()
crc16(data)
print(time.ticks_diff(time.ticks_us(), start))
"""


def main() -> int:
    """Print a line a figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out suite and rabbit matrix")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="pitbench-bench-") as folder:
        image = build_image(DEVICE, "bench", Path(folder) / "image")
        row("figure", "pitbench", "beside it", "ratio, aim")
        link_round_trip(Path(folder))
        start_to_ready(Path(folder))
        crc_speed(image.folder)
        on_one_board()
        measure_emulated.measure(row)
    measure_wires.measure(row)
    measure_shuffler.measure(row)
    measure_selector.measure(row)
    measure_dice_shaker.measure(row)
    measure_statistics.measure(row)
    if not quick:
        for device, suite, rabbits in ((DEVICE, 20, 120), (measure_shuffler.DEVICE, 60, 300)):
            whole(f"suite of the {device}", ["verify", device], suite)
            whole(f"rabbits of the {device}", ["rabbits", device], rabbits)
    return 0


def row(*cells: str) -> None:
    """One line of the table: a figure, and what stands beside it, perhaps its aim."""
    figure, ours, beside, aim = (*cells, "", "")[:4]
    print(f"{figure:34} {ours:>18} {beside:>34} {aim:>16}", flush=True)


def median_ms(work: Callable[[], object], rounds: int) -> float:
    """Median time of one call, in ms."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


def pair(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], rounds: int, beside: str, aim: float
) -> None:
    """Time two things in turn, in ten slices each."""
    slices = max(1, rounds // 10)
    mine, other = [], []
    for _ in range(10):
        mine.append(median_ms(ours, slices))
        other.append(median_ms(theirs, slices))
    a, b = statistics.median(mine), statistics.median(other)
    row(name, f"{a:.3f} ms", f"{beside} {b:.3f} ms", f"{a / b:.2f}, ≤ {aim}")


def link_round_trip(folder: Path) -> None:
    """A status request and its reply, against the same bytes echoed by the bare interpreter."""
    with open_target("virtual", device=DEVICE) as board, Echo(folder) as echo:
        reply = encode_line({"id": 1, "ok": board.link.do("status")})
        pair(
            "link round trip, status",
            lambda: board.link.do("status"),
            lambda: echo.bounce(reply),
            ROUNDS,
            "raw echo",
            1.5,
        )
        pair(
            "link round trip, smallest",
            lambda: board.link.do("store"),
            lambda: echo.bounce(b"x" * 40),
            ROUNDS,
            "raw echo",
            1.5,
        )
        bench = AcceptorBench(board)
        pair(
            "wire round trip, poll",
            lambda: bench.exchange(Command.STATUS_REQUEST),
            lambda: echo.bounce(b"x" * 5),
            ROUNDS,
            "raw echo",
            1.5,
        )


class Echo:
    """The bare interpreter, echoing bytes on a pty; reached through the same transport as a board."""

    def __init__(self, folder: Path) -> None:
        script = folder / "echo.py"
        script.write_text(ECHO)
        self._port = open_port()
        self._process = subprocess.Popen(
            bare_interpreter(str(script)), stdin=self._port.master, stdout=self._port.master
        )
        self._transport = open_transport(self._port.path, name="echo")

    def bounce(self, data: bytes) -> None:
        """Send bytes and wait until as many came back."""
        self._transport.write(data)
        got = 0
        while got < len(data):
            got += len(self._transport.read(1.0))

    def __enter__(self) -> Echo:
        return self

    def __exit__(self, *exception: object) -> None:
        self._transport.close()
        self._process.kill()
        self._process.wait()
        self._port.close()


def bare_interpreter(*words: str) -> list[str]:
    """Argv of the interpreter with a script of its own instead of a board's ROM."""
    command = find_interpreter("unix").command(Path("/"), "power")
    return [*command[:-3], *words]


def start_to_ready(folder: Path) -> None:
    """Power on to hello answered, against the bare interpreter from start to end."""
    script = folder / "nothing.py"
    script.write_text("")
    with open_target("virtual", device=DEVICE) as board:

        def restart() -> None:
            board.cut()
            board.power_on()

        pair(
            "start to ready",
            restart,
            lambda: subprocess.run(bare_interpreter(str(script)), check=True),
            STARTS * 10,
            "bare interpreter",
            3,
        )


def crc_speed(root: Path) -> None:
    """The boot block's CRC-16 on its interpreter, against crcmod on CPython."""
    script = root.parent / "crc_loop.py"
    script.write_text(CRC_LOOP)
    done = subprocess.run(bare_interpreter(str(script), str(root)), capture_output=True, text=True, check=True)
    ours = 65536 / int(done.stdout)
    crc = crcmod.predefined.mkCrcFun("kermit")
    theirs = 65.536 / median_ms(lambda: crc(bytes(65536)), 20)
    row("CRC-16/KERMIT of 64 KB", f"{ours:.1f} MB/s", f"crcmod on the PC {theirs:.0f} MB/s", "")


def on_one_board() -> None:
    """Heap, commits and writes of a note, on the figures that the board itself gives."""
    with open_target("virtual", device=DEVICE) as board:
        bench = AcceptorBench(board)
        bench.start()
        free = board.link.do("heap")["free"]
        bench.stack(items.genuine(20))
        before = board.link.do("store")
        bench.stack(items.genuine(20))
        after = board.link.do("store")
        for _ in range(60):
            bench.stack(items.genuine(5))
        row("heap free, started", f"{free // 1024} KB", "of 192 KB", "≥ 48 KB")
        row("heap free, 62 notes later", f"{board.link.do('heap')['free'] // 1024} KB", "", "≥ 48 KB")
        row(
            "commits a note",
            str(after["commits"] - before["commits"]),
            f"{after['writes'] - before['writes']} file writes",
            "≤ 3",
        )


def whole(name: str, words: list[str], aim: int) -> None:
    """Wall time of a whole command."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "pitbench", *words], capture_output=True, text=True)
    took = time.perf_counter() - start
    row(name, f"{took:.1f} s", f"exit code {done.returncode}", f"≤ {aim} s")


if __name__ == "__main__":
    sys.exit(main())

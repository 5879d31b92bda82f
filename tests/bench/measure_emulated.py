"""What pitbench costs on an emulated Pico, beside what others' tools cost on the same chip, in one run.

Times are device time where the board does the work, and wall time where a PC waits for it: the emulator computes
several times slower than a Pico, so only figures of one column can be compared with each other.
"""

from __future__ import annotations

import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mpremote.transport_serial import SerialTransport  # type: ignore[import-untyped]
from pitbench import items
from pitbench.addresses import EMULATED_BOARD
from pitbench.board_facts import board_facts
from pitbench.emulated.board import EmulatedBoard, emulator
from pitbench.emulated.files import lay_out
from pitbench.errors import PitbenchError
from pitbench.targets import open_target
from pitbench.transport import open_transport
from pitbench.uf2 import find_uf2
from pitbench.virtual.flash import FLASH_FILE
from pitbench_hil.acceptor import AcceptorBench

ROUNDS = 20
BYTES = 64
READY_S = 60.0
CYCLES_PER_S = 125e6
ECHO = b"""
import sys, select, micropython
micropython.kbd_intr(-1)
poll = select.poll()
poll.register(sys.stdin, select.POLLIN)
byte = bytearray(1)
while True:
    poll.poll()
    sys.stdin.buffer.readinto(byte)
    sys.stdout.buffer.write(byte)
"""
Row = Callable[..., None]


def measure(row: Row) -> None:
    """Print a line a figure; one line that says why where there is no UF2 to boot."""
    try:
        find_uf2()
    except PitbenchError as error:
        row("emulated Pico", "not measured", str(error))
        return
    own_board(row)
    with tempfile.TemporaryDirectory(prefix="pitbench-bench-") as folder:
        echo(Path(folder) / "echo", row)
        prompt(Path(folder) / "prompt", row)


def own_board(row: Row) -> None:
    """Our firmware: start, heap, link, signature, store."""
    began = time.monotonic()
    with open_target(f"emu:{find_uf2()}") as board:
        assert isinstance(board.virtual, EmulatedBoard)
        chip = board.virtual
        row("start to ready (emu)", f"{chip.clock() * 1000:.0f} ms device", f"{time.monotonic() - began:.1f} s wall")
        row("heap free (emu)", f"{board.identity['heap_free'] // 1024} KB", "", "192 KB class")
        device, wall = timed(chip, lambda: board.link.do("status"))
        row("link round trip (emu)", f"{device:.1f} ms device", f"{wall:.0f} ms wall")
        device, wall = timed(chip, lambda: board.link.do("crc"), 3)
        row("boot signature: CRC of the image (emu)", f"{device:.0f} ms device", f"{wall:.0f} ms wall")
        row("processor busy while idle (emu)", f"{busy_share(chip):.0%} of device time")
        bench = AcceptorBench(board)
        bench.start()
        before = chip.state
        bench.stack(items.genuine(20))
        after = chip.state
        row("a note (emu)", f"{after.erases - before.erases} erases", f"{after.programs - before.programs} programs")


def busy_share(chip: EmulatedBoard) -> float:
    """Of a second of device time in which nobody asks anything, the share in which instructions are executed."""
    began, before = chip.clock(), chip.state
    time.sleep(1.0)
    return (chip.state.cycles - before.cycles) / CYCLES_PER_S / (chip.clock() - began)


def echo(folder: Path, row: Row) -> None:
    """A program that sends back what it gets, byte by byte, as a board's stdin has to be read."""
    with chip_with(folder, {"/main.py": ECHO}) as chip, open_transport(chip.link_path) as transport:
        data = bytes(range(32, 32 + BYTES))

        def there_and_back() -> None:
            transport.write(data)
            back = b""
            while len(back) < len(data):
                back += transport.read(1.0)

        there_and_back()
        device, wall = timed(chip, there_and_back)
        row(f"raw echo of {BYTES} bytes (emu)", f"{device:.1f} ms device", f"{wall:.0f} ms wall")


def prompt(folder: Path, row: Row) -> None:
    """What the same PC waits for with the tools that others use to talk to a board."""
    with chip_with(folder, {}) as chip:
        tool = SerialTransport(chip.link_path)
        tool.enter_raw_repl(soft_reset=False, timeout_overall=READY_S)
        device, wall = timed(chip, lambda: tool.exec("pass"))
        row("mpremote exec (emu)", f"{device:.1f} ms device", f"{wall:.0f} ms wall")
        tool.exit_raw_repl()
        tool.close()
        if importlib.util.find_spec("belay") is None:
            row("belay call (emu)", "not measured", "pip install belay==0.30.1 and run again")
            return
        belay(chip, row)


def belay(chip: EmulatedBoard, row: Row) -> None:
    """A function on the board, called from the PC."""
    import belay as tool  # type: ignore[import-not-found,import-untyped,unused-ignore]

    device_object = tool.Device(chip.link_path)

    @device_object.task
    def add(a, b):  # type: ignore[no-untyped-def]
        return a + b

    assert add(1, 2) == 3
    device, wall = timed(chip, lambda: add(1, 2))
    row("belay call (emu)", f"{device:.1f} ms device", f"{wall:.0f} ms wall")
    device_object.close()


def chip_with(folder: Path, files: dict[str, bytes]) -> EmulatedBoard:
    """An emulated Pico with these files, not started."""
    lay_out(files, folder / FLASH_FILE, find_uf2(), board_facts(EMULATED_BOARD))
    return EmulatedBoard(folder, emulator(find_uf2()))


def timed(chip: EmulatedBoard, work: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Medians in ms: device time and wall time of one piece of work."""
    device, wall = [], []
    for _ in range(rounds):
        began, started = chip.clock(), time.monotonic()
        work()
        device.append((chip.clock() - began) * 1000)
        wall.append((time.monotonic() - started) * 1000)
    return statistics.median(device), statistics.median(wall)

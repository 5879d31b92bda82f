"""The firmware on an emulated Pico: what a real one's memory, flash, UARTs and USB do to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from emulated_bench import micropython, wait_for
from pitbench import items
from pitbench.addresses import EMULATED, EMULATED_BOARD, Target
from pitbench.board_facts import board_facts
from pitbench.commands.sim import trouble_of
from pitbench.deadline import Deadline
from pitbench.emulated.board import EmulatedBoard, emulator
from pitbench.emulated.files import lay_out
from pitbench.errors import PitbenchError
from pitbench.image import Image, build_image
from pitbench.protocols.id003 import Command, Status, encode
from pitbench.targets import Board, open_target, prove_same_board
from pitbench.virtual.flash import FLASH_FILE
from pitbench_hil.acceptor import AcceptorBench
from pitbench_hil.acceptor_pins import PinBench, bench_of
from pitbench_hil.acceptor_post import result

TARGET = Target("emu:", True, EMULATED)
NOTE = items.genuine(20)
HEAP_FREE = 100_000
# A flash erase of this kind may take so long (W25Q16JV), and the chip hears nothing meanwhile.
WORST_ERASE_MS = 400
CYCLES_PER_S = 125e6
IDLE_S = 2.0
# What the device may take on top of a write of the flash.
OWN_MS = 60


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Image]:
    micropython()
    folder = tmp_path_factory.mktemp("images")
    return {
        kind: build_image("bill-acceptor", kind, folder / kind, board="rp2040-emulated")
        for kind in ("bench", "release")
    }


@pytest.fixture
def board(images: dict[str, Image], tmp_path: Path) -> Iterator[Board]:
    with open_target(TARGET, image=images["bench"], root=tmp_path / "board") as board:
        yield board


@pytest.fixture
def bench(board: Board) -> AcceptorBench:
    return AcceptorBench(board)


def emulated(board: Board) -> EmulatedBoard:
    assert isinstance(board.virtual, EmulatedBoard)
    return board.virtual


def test_it_says_what_it_is(board: Board, images: dict[str, Image]) -> None:
    identity = board.identity
    assert board.rung == "emu"
    assert identity["board"] == "rp2040-emulated"
    assert identity["interpreter"] == "Raspberry Pi Pico with RP2040"
    assert identity["digest"] == images["bench"].digest
    assert identity["reset"] == "power"
    assert identity["heap_free"] > HEAP_FREE
    prove_same_board(board)


def test_the_wire_has_the_settings_of_its_protocol(board: Board) -> None:
    assert wait_for(lambda: emulated(board).wire_settings == "9600 8E1", 5)


def test_a_power_cut_and_a_watchdog_are_told_apart(board: Board) -> None:
    uid = board.identity["uid"]
    board.cut()
    assert board.power_on()["reset"] == "power"
    board.link.do("restart", how="watchdog")
    identity = board.reconnect()
    assert (identity["reset"], identity["boot"], identity["uid"]) == ("watchdog", 3, uid)


def test_interrupt_characters_change_nothing(board: Board) -> None:
    """0x03 on a board's USB clears its receive ring and stops its program, unless that was forbidden."""
    boot = board.identity["boot"]
    for size in (1, 63, 64, 65, 240, 600):
        board.link.transport.write(b"\x03" * size + b"\n")
    board.wire.write(b"\x03" * 64)
    # Each line of noise was answered with an error first.
    assert board.reconnect()["boot"] == boot
    assert board.link.do("status")["state"] == "power_up"
    prove_same_board(board)


def test_no_poll_is_lost_in_an_erase_and_the_answer_is_as_late_as_the_erase_is_long(bench: AcceptorBench) -> None:
    bench.start()
    chip = emulated(bench.board)
    chip.erase_time(WORST_ERASE_MS)
    before = chip.state
    slowest = 0.0
    for _ in range(3):
        bench.insert(NOTE)
        slowest = max(slowest, polled_until(bench, Status.ESCROW))
        bench.command(Command.STACK_1)
        slowest = max(slowest, polled_until(bench, Status.VEND_VALID))
        bench.ack()
        slowest = max(slowest, polled_until(bench, Status.IDLE))
    assert chip.state.erases > before.erases, "no erase fell into these notes: the test shows nothing"
    assert chip.state.overruns == 0
    assert slowest * 1000 < WORST_ERASE_MS + OWN_MS
    assert bench.truth()["values"] == {"2000": 3}
    assert bench.meters()["bill_20"] == 3


def test_files_are_changed_under_a_running_board(bench: AcceptorBench) -> None:
    flash = bench.board.virtual.flash
    good = bench.do("crc")["crc"]
    name = "/image/device/conditions.mpy"
    data = flash.read()[name]
    flash.change({name: data[:-1] + bytes((data[-1] ^ 1,))})
    assert bench.do("crc")["crc"] != good
    flash.change({name: data, "/image/stray.py": b"x"})
    assert "/image/stray.py" in flash.read()
    flash.change({}, ["/image/stray.py"])
    assert bench.do("crc")["crc"] == good
    with pytest.raises(PitbenchError, match="weren't changed: .*nowhere"):
        flash.change({}, ["/image/nowhere"])
    assert bench.do("crc")["crc"] == good
    bench.cut()
    flash.change({name: data[:-1] + bytes((data[-1] ^ 1,))})
    bench.power_on()
    assert bench.state()["state"] == "inoperable"


def test_a_kept_board_keeps_its_number_and_its_memory(images: dict[str, Image], tmp_path: Path) -> None:
    told = []
    for _ in range(2):
        with open_target(TARGET, image=images["bench"], root=tmp_path / "board") as board:
            told.append(board.identity)
    assert told[0]["uid"] == told[1]["uid"]
    assert told[1]["boot"] == told[0]["boot"] + 1


def test_two_boards_at_a_time_have_two_numbers(board: Board, images: dict[str, Image], tmp_path: Path) -> None:
    with open_target(TARGET, image=images["bench"], root=tmp_path / "other" / "board") as other:
        assert other.identity["uid"] != board.identity["uid"]


def test_a_board_without_our_program_is_said_to_be_mute(tmp_path: Path) -> None:
    folder = tmp_path / "board"
    lay_out({}, folder / FLASH_FILE, micropython(), board_facts(EMULATED_BOARD))
    with EmulatedBoard(folder, emulator(micropython()), forked=True) as prompt:
        assert "The board is mute" in trouble_of(prompt)


# It looks at its ports and feeds a watchdog; with pins in place of the plant, at each pin every few milliseconds.
@pytest.mark.parametrize(("kind", "share"), [("bench", 0.2), ("release", 0.6)])
def test_an_idle_device_leaves_its_processor_idle(
    images: dict[str, Image], tmp_path: Path, kind: str, share: float
) -> None:
    with open_target(TARGET, image=images[kind], root=tmp_path / "board") as board:
        chip = emulated(board)
        began, before = chip.clock(), chip.state.cycles
        assert wait_for(lambda: chip.clock() > began + IDLE_S)
        busy = (chip.state.cycles - before) / CYCLES_PER_S
    assert busy < share * IDLE_S


def test_a_release_image_passes_its_self_test_at_each_start(images: dict[str, Image], tmp_path: Path) -> None:
    """Light has taken its time by then, and what is timed begins when the device looks."""
    with open_target(TARGET, image=images["release"], root=tmp_path / "board") as board:
        bench = PinBench(board)
        bench.start()
        for restart in (bench.power_cycle, lambda: bench.board.supervisor.reset("watchdog")):
            restart()
            bench.reconnect()
            post = result(bench)
            assert (post["ok"], post["why"]) == (True, "power_up"), post


def polled_until(bench: AcceptorBench, wanted: int) -> float:
    """Poll without a pause, in device time, until a status is seen; the slowest answer, in seconds."""
    clock, slowest = bench.board.clock, 0.0
    # While the PC is busy with something else, the device's clock runs on.
    deadline = Deadline(60, clock)
    while not deadline.passed:
        began = clock()
        if bench.status().cmd == wanted:
            return slowest
        slowest = max(slowest, clock() - began)
    raise AssertionError(f"{wanted:02x} was not reached")


@pytest.mark.parametrize(("at", "how"), [(1, "torn"), (4, "after"), (9, "torn")])
def test_a_cut_within_a_flash_operation_is_recovered_from(bench: AcceptorBench, at: int, how: str) -> None:
    bench.start()
    bench.escrow(NOTE)
    chip = emulated(bench.board)
    chip.cut_at_flash(at, how)
    bench.send(encode(Command.STACK_1))
    chip_is_off = wait_for(lambda: not chip.alive or drive(bench))
    assert chip_is_off
    bench.board.power_on()
    bench.forget()
    status = bench.state()
    assert status["state"] != "failure", status
    stacked, metered = bench.truth()["stacked"], bench.meters()["bill_20"]
    assert metered <= stacked <= 1


def drive(bench: AcceptorBench) -> bool:
    """Let device time pass; False as long as the board has power."""
    try:
        bench.link.do_within(2.0, "advance", ms=100)
    except Exception:  # noqa: BLE001  the power went
        return wait_for(lambda: not emulated(bench.board).alive, 5)
    return False


def test_a_release_image_works_on_the_pins_of_the_chip(images: dict[str, Image], tmp_path: Path) -> None:
    with open_target(TARGET, kind="release", image=images["release"], root=tmp_path / "board") as board:
        bench = bench_of(board, "release")
        bench.start()
        bench.stack(NOTE)
        assert bench.meters()["bill_20"] == 1


def test_the_strap_leaves_the_board_to_its_prompt(board: Board) -> None:
    chip = emulated(board)
    board.cut()
    chip.hold_strap(True)
    chip.power_on()
    said = b""

    def prompt() -> bool:
        nonlocal said
        board.link.transport.write(b"\r\x03\r\n")
        said += board.link.transport.read(0.5)
        return b">>>" in said

    assert wait_for(prompt)
    chip.hold_strap(False)
    chip.cut()
    assert board.power_on()["boot"] == 2

"""The supervisor: power cuts, resets, crashes, as a host sees them through the ports."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from double_root import lay_root
from pitbench.deadline import Deadline, DeadlinePassed
from pitbench.link import BoardRebooted, LinkClient, LinkTimeout
from pitbench.transport import open_transport
from pitbench.virtual import Interpreter, VirtualBoard

READY_S = 5.0


def ready(link: LinkClient) -> dict:
    return link.reconnect(Deadline(READY_S))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def ends(pid: int, deadline: Deadline) -> bool:
    while is_running(pid) and not deadline.passed:
        os.sched_yield()
    return not is_running(pid)


def test_the_board_sees_its_own_flash_only(link: LinkClient) -> None:
    assert sorted(link.do("read_only")["root"]) == ["boot.py", "data", "main.py"]


def test_a_cut_is_a_silent_line_and_the_path_stays(board: VirtualBoard, link: LinkClient) -> None:
    ready(link)
    path, pid = board.link_path, board.pid
    board.cut()
    assert not board.alive
    assert not is_running(pid)
    with pytest.raises(LinkTimeout):
        link.do_within(0.02, "status")
    board.power_on()
    assert ready(link)["boot"] == 2
    assert board.link_path == path
    assert board.boots == 2


def test_nothing_stale_arrives_after_a_cut(board: VirtualBoard, link: LinkClient) -> None:
    wire = open_transport(board.wire_path, name="wire")
    for _ in range(5):
        ready(link)
        link.do("flood", n=100)
        board.cut()
        assert link.transport.read(0.005) == b""
        assert wire.read(0.005) == b""
        board.power_on()
    wire.close()


def test_what_is_sent_to_a_dead_board_is_lost(board: VirtualBoard, link: LinkClient) -> None:
    ready(link)
    board.cut()
    wire = open_transport(board.wire_path, name="wire")
    for _ in range(200):
        wire.write(b"\xfc\x05\x88\x6f\x5f" * 100)
    board.power_on()
    ready(link)
    assert link.do("status")["frames"] == 0
    wire.close()


def test_what_was_sent_just_before_power_on_is_lost(board: VirtualBoard, link: LinkClient) -> None:
    ready(link)
    board.cut()
    wire = open_transport(board.wire_path, name="wire")
    with board._changed:  # the supervisor's own thread would drop it otherwise
        wire.write(b"\xfc\x05\x88\x6f\x5f")
        board.power_on()
    ready(link)
    assert link.do("status")["frames"] == 0
    wire.close()


def test_the_board_can_ask_for_a_cut(board: VirtualBoard, link: LinkClient) -> None:
    with pytest.raises(LinkTimeout):
        link.do_within(0.05, "cut")
    board.wait_off(Deadline(READY_S))
    assert not board.alive
    assert board.crashes == 0


def test_wait_off_has_a_deadline(board: VirtualBoard) -> None:
    with pytest.raises(DeadlinePassed):
        board.wait_off(Deadline(0.01))


def test_a_reset_from_within_hands_its_cause_on(board: VirtualBoard, link: LinkClient) -> None:
    with pytest.raises(BoardRebooted):
        link.do_within(0.1, "restart", how="soft")
    assert link.identity["reset"] == "soft"
    assert board.crashes == 0


def test_a_reset_from_outside_hands_its_cause_on(board: VirtualBoard, link: LinkClient) -> None:
    ready(link)
    board.reset("watchdog")
    assert ready(link)["reset"] == "watchdog"


def test_a_reset_does_not_switch_a_dead_board_on(board: VirtualBoard) -> None:
    board.cut()
    board.reset("watchdog")
    assert not board.alive


def test_a_crash_is_counted_and_seen(board: VirtualBoard, link: LinkClient) -> None:
    ready(link)
    with pytest.raises(BoardRebooted):
        link.do_within(0.1, "die")
    assert link.identity["reset"] == "died"
    assert board.crashes == 1
    assert "status 7" in board.console.read_text()


def test_a_board_that_only_crashes_is_left_off(make_board: Callable[..., VirtualBoard]) -> None:
    board = make_board(main="1 / 0")
    board.wait_off(Deadline(READY_S))
    assert board.gave_up
    console = board.console.read_text()
    assert "ZeroDivisionError" in console
    assert console.count("cause died") == board.crashes - 1


def test_a_main_that_returns_is_a_crash(make_board: Callable[..., VirtualBoard]) -> None:
    board = make_board(main="x = 1")
    board.wait_off(Deadline(READY_S))
    assert "REPL" in board.console.read_text()


def test_pins_reach_the_board(board: VirtualBoard, link: LinkClient) -> None:
    ready(link)
    board.pins("entry", 1)
    deadline = Deadline(READY_S)
    while "pin entry 1" not in (pins := link.do("status")["pins"]) and not deadline.passed:
        pass
    assert "pin entry 1" in pins


def test_the_heap_is_that_of_a_small_board(make_board: Callable[..., VirtualBoard]) -> None:
    board = make_board(main="import gc, sys; print(gc.mem_free() + gc.mem_alloc(), file=sys.stderr)")
    board.wait_off(Deadline(READY_S))
    sizes = [int(line) for line in board.console.read_text().splitlines() if line.isdigit()]
    assert sizes
    assert max(sizes) <= 192 * 1024


def test_stop_ends_the_child_and_may_be_repeated(board: VirtualBoard) -> None:
    pid = board.pid
    board.stop()
    board.stop()
    assert not is_running(pid)
    assert not Path(board.link_path).exists()


def test_the_child_dies_with_a_killed_bench(tmp_path: Path) -> None:
    root = lay_root(tmp_path, main="import time\nwhile True:\n    time.sleep(1)")
    bench = (
        "import sys, pathlib; from pitbench.virtual import *\n"
        "board = VirtualBoard(pathlib.Path(sys.argv[1]), find_interpreter('unix')); board.start()\n"
        "print(board.pid, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", bench, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        assert is_running(pid)
        process.send_signal(signal.SIGKILL)
    ended = ends(pid, Deadline(READY_S))
    if not ended:
        os.kill(pid, signal.SIGKILL)
    assert ended


def test_an_interpreter_that_is_not_there_is_said(tmp_path: Path) -> None:
    from pitbench.errors import PitbenchError

    board = VirtualBoard(lay_root(tmp_path), Interpreter("unix", "nowhere", ("/nowhere/micropython",)))
    with pytest.raises(PitbenchError, match="/nowhere/micropython cannot be started"):
        board.start()
    board.stop()

"""Boards forked from a process that has MicroPython loaded: nothing but the time of a start is different."""

import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pitbench.deadline import Deadline
from pitbench.virtual import Interpreter, VirtualBoard, find_interpreter
from pitbench.virtual.fork_server import ForkServer
from pitbench.virtual.fork_server_process import HIGH

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="boards are forked on Linux only")

READY_S = 10.0
STARTS = 200
STAYS = "import time\nwhile True:\n    time.sleep(1)"
SAYS = "import os, sys\nprint('said', {what}, file=sys.stderr)\n" + STAYS
BENCH = """
import os, pathlib, sys
from pitbench.virtual import VirtualBoard, find_interpreter
board = VirtualBoard(pathlib.Path(sys.argv[1]), find_interpreter("unix"))
board.start()
print(board.pid, board.interpreter.start.pid, flush=True)
sys.stdin.read()
"""
FORKING_BENCH = BENCH.replace("print(", "os.fork() or sys.exit(sys.stdin.read())\nprint(")


@pytest.fixture
def wheel() -> Interpreter:
    """The wheel, with a fork server of its own."""
    found = find_interpreter("unix")
    return dataclasses.replace(found, start=ForkServer(found.bare, found.start.program))


@pytest.fixture
def board(wheel: Interpreter, tmp_path: Path) -> Iterator[VirtualBoard]:
    with VirtualBoard(lay_root(tmp_path), wheel) as board:
        yield board


def lay_root(folder: Path, main: str = STAYS) -> Path:
    root = folder / "board"
    root.mkdir()
    (root / "boot.py").write_text("")
    (root / "main.py").write_text(main)
    return root


def stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def is_running(pid: int) -> bool:
    try:
        return stat(pid)[0] != "Z"
    except OSError:
        return False


def holds(condition: Callable[[], bool]) -> bool:
    deadline = Deadline(READY_S)
    while not condition() and not deadline.passed:
        os.sched_yield()
    return condition()


def said(board: VirtualBoard) -> str:
    def found() -> list[str]:
        return [line for line in board.console.read_text().splitlines() if line.startswith("said ")]

    assert holds(lambda: bool(found()))
    return found()[-1].removeprefix("said ")


def test_the_wheel_is_forked() -> None:
    assert isinstance(find_interpreter("unix").start, ForkServer)
    assert find_interpreter("unix").start is find_interpreter("unix").start


def test_a_board_is_a_child_of_the_bench_in_a_group_of_its_own(board: VirtualBoard) -> None:
    _, parent, group, *_ = stat(board.pid)
    assert int(parent) == os.getpid()
    assert int(group) == board.pid


def test_the_server_has_one_thread_and_is_no_fork_of_the_bench(board: VirtualBoard) -> None:
    server = board.interpreter.start.pid
    assert len(os.listdir(f"/proc/{server}/task")) == 1
    assert b"fork_server_process.py" in Path(f"/proc/{server}/cmdline").read_bytes()


def test_a_board_has_no_descriptors_but_its_own(wheel: Interpreter, tmp_path: Path) -> None:
    root = lay_root(tmp_path, SAYS.format(what="'up'"))
    with VirtualBoard(root, wheel) as board:
        said(board)
        numbers = {int(path.name) for path in Path(f"/proc/{board.pid}/fd").iterdir()}
        # Above these are those that this test process was itself started with.
        assert {number for number in numbers if number < HIGH} == {0, 1, 2, 3, 4, 5}


def test_a_board_sees_nothing_of_micropython_in_the_environment(
    wheel: Interpreter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROPYPATH", "/nowhere")
    monkeypatch.setenv("KEPT", "kept")
    root = lay_root(tmp_path, SAYS.format(what="os.getenv('MICROPYPATH'), os.getenv('KEPT')"))
    with VirtualBoard(root, wheel) as board:
        assert said(board) == "None kept"


def test_a_power_cut_is_a_kill_and_the_status_is_seen(wheel: Interpreter, tmp_path: Path) -> None:
    root = lay_root(tmp_path, "import sys\nsys.exit(7)")
    with VirtualBoard(root, wheel) as board:
        board.wait_off(Deadline(READY_S))
        assert "ended by itself, status 7" in board.console.read_text()
        (root / "main.py").write_text(STAYS)
        board.power_on()
        child, pid = board._child, board.pid
        board.cut()
        assert child.status == -signal.SIGKILL
        assert not Path(f"/proc/{pid}").exists()


def test_a_server_that_died_is_replaced_and_its_boards_live_on(board: VirtualBoard, tmp_path: Path) -> None:
    server, first = board.interpreter.start, board.pid
    lost = server.pid
    os.kill(lost, signal.SIGKILL)
    assert holds(lambda: not is_running(lost))
    assert is_running(first)
    board.cut()
    assert not is_running(first)
    with pytest.warns(RuntimeWarning, match="fork server of virtual boards was lost") as warned:
        board.power_on()
    assert len(warned) == 1
    assert is_running(board.pid)
    assert server.pid not in (None, lost)
    assert not Path(f"/proc/{lost}").exists()


def test_without_a_fork_server_a_board_starts_by_itself(wheel: Interpreter, tmp_path: Path) -> None:
    assert isinstance(wheel.start, ForkServer)
    server = ForkServer(wheel.bare, (*wheel.start.program[:-1], str(tmp_path / "no-wheel-here")))
    root = lay_root(tmp_path, SAYS.format(what="'up'"))
    board = VirtualBoard(root, dataclasses.replace(wheel, start=server))
    with pytest.warns(RuntimeWarning):
        board.start()
    assert said(board) == "up"
    assert server.pid is None
    board.cut()
    board.power_on()
    assert is_running(board.pid)
    board.stop()


def test_nothing_outlives_a_killed_bench(tmp_path: Path) -> None:
    board, server = killed_bench(BENCH, tmp_path)
    assert not is_running(board)
    assert not is_running(server)


def test_a_fork_of_the_bench_keeps_no_server_alive(tmp_path: Path) -> None:
    _, server = killed_bench(FORKING_BENCH, tmp_path, lambda board, server: holds(lambda: not is_running(server)))
    assert not is_running(server)


def killed_bench(
    program: str, folder: Path, meanwhile: Callable[[int, int], object] = lambda board, server: None
) -> tuple[int, int]:
    """Board and server of a bench that was killed; what it forked lives until `meanwhile` is over."""
    command = [sys.executable, "-c", program, str(lay_root(folder))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as bench:
        board, server = (int(word) for word in bench.stdout.readline().split())
        assert is_running(board)
        assert is_running(server)
        bench.kill()
        bench.wait()
        ended = meanwhile(board, server)
    assert ended is not False
    holds(lambda: not is_running(board) and not is_running(server))
    return board, server


def test_two_hundred_starts_leave_nothing_open(board: VirtualBoard) -> None:
    server = board.interpreter.start.pid
    places = [Path(f"/proc/{pid}/fd") for pid in (os.getpid(), server)]
    before = [len(list(place.iterdir())) for place in places]
    for _ in range(STARTS):
        board.cut()
        board.power_on()
    # A server that is just handing out a board holds some more; what is left open is left at each start.
    after = [len(list(place.iterdir())) for place in places]
    assert max(now - then for now, then in zip(after, before, strict=True)) < STARTS // 4, (before, after)
    assert board.interpreter.start.pid == server
    assert board.crashes == 0

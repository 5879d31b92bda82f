"""The ways back to a board's REPL: a strap pin at start, and an operation of the bench image."""

import runpy
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from pitbench.board_facts import board_facts, first_lines
from pitbench.deadline import Deadline
from pitbench.link import LinkError
from pitbench.targets import open_target

FIRMWARE = Path(__file__).parents[2] / "firmware"
REPL = "a board would be in its REPL now"


class Start:
    """/boot.py and /main.py of a Pico on CPython, with the strap pin at a level."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, level: int) -> None:
        self.calls: list[object] = []
        self.folder = folder
        pin = SimpleNamespace(value=lambda: level)
        make = type("Pin", (), {"IN": 0, "PULL_UP": 1, "__new__": lambda cls, *how: self.calls.append(how) or pin})
        self._have(monkeypatch, "umachine", Pin=make)
        self._have(monkeypatch, "micropython", kbd_intr=self.calls.append)
        self._have(monkeypatch, "uos", ilistdir=lambda folder: [])
        self._have(monkeypatch, "usys", path=[], stderr=sys.stderr, print_exception=print)
        self._have(monkeypatch, "block", start=lambda: self.calls.append("start"), run=lambda: self.calls.append("run"))

    def _have(self, monkeypatch: pytest.MonkeyPatch, name: str, **names: object) -> None:
        module = ModuleType(name)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, name, module)

    def run(self) -> list[object]:
        boot = self.folder / "boot.py"
        boot.write_text(first_lines((FIRMWARE / "boot.py").read_text(), board_facts("rpi-pico")))
        names = runpy.run_path(str(boot))
        runpy.run_path(str(FIRMWARE / "boot" / "start.py"), names)
        return self.calls


def test_a_strap_pin_held_to_ground_leaves_the_board_to_its_repl(tmp_path, monkeypatch):
    assert Start(tmp_path, monkeypatch, 0).run() == [-1, ("GP22", 0, 1), 3]


def test_an_open_strap_pin_changes_nothing(tmp_path, monkeypatch):
    assert Start(tmp_path, monkeypatch, 1).run() == [-1, ("GP22", 0, 1), "start", -1, "run"]


def test_the_interrupt_character_is_disarmed_again_for_the_second_file(tmp_path, monkeypatch):
    """MicroPython arms it whenever it begins to run a file; 0x03 would then end the program in a REPL."""
    calls = Start(tmp_path, monkeypatch, 1).run()
    second = calls[calls.index("start") + 1 :]
    assert second.index(-1) < second.index("run")


def test_what_interrupts_the_boot_block_shows_no_repl(tmp_path, monkeypatch):
    class Awake(Exception):
        pass

    def interrupted() -> None:
        raise KeyboardInterrupt

    def stay_mute(ms: int) -> None:
        raise Awake

    start = Start(tmp_path, monkeypatch, 1)
    monkeypatch.setattr(sys.modules["block"], "run", interrupted)
    start._have(monkeypatch, "utime", sleep_ms=stay_mute)
    with pytest.raises(Awake):
        start.run()


def test_the_start_after_the_operation_ends_in_the_repl(root, start):
    (root / "data").mkdir(exist_ok=True)
    (root / "data" / "boot").write_text("repl")
    board, deadline = start("soft").board, Deadline(10)
    while not board.crashes:
        assert not deadline.passed
        time.sleep(0.01)
    assert REPL in board.console.read_text()
    assert not (root / "data" / "boot").exists()


def test_a_board_without_a_repl_refuses_the_operation(tmp_path):
    with open_target("unix:", root=tmp_path / "board") as board, pytest.raises(LinkError, match="no REPL"):
        board.link.do("repl")

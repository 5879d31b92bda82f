"""Our loop over the emulator's instructions ends where the package's own loop ends, and serves only where it can."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from emulated_bench import micropython
from pitbench.addresses import EMULATED_BOARD
from pitbench.board_facts import board_facts
from pitbench.emulated import chip as chips
from pitbench.emulated.files import lay_out
from pitbench.emulated.native import package_folder

BOTH_WAYS = Path(__file__).with_name("both_ways.py")
PROGRAMS = 40
# What is less has hung where there is no program.
CYCLES_MIN = 100_000


def both_ways(what: str) -> tuple[str, int]:
    """What differed, and how many cycles the package's loop took."""
    folder = package_folder()
    if folder is None:
        reason = "no C compiler or no Python headers here: the emulator's own loop is the only one"
        warnings.warn(f"Not run: {reason}", stacklevel=2)
        pytest.skip(reason)
    command = [sys.executable, str(BOTH_WAYS), str(folder), what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, int(done.stderr.split()[0])


def test_any_program_under_interrupts_ends_with_the_same_state() -> None:
    differences, cycles = both_ways(str(PROGRAMS))
    assert differences == ""
    assert cycles > CYCLES_MIN


def test_micropython_boots_to_the_same_state(tmp_path: Path) -> None:
    lay_out({}, tmp_path / "flash.bin", micropython(), board_facts(EMULATED_BOARD))
    differences, cycles = both_ways(str(tmp_path / "flash.bin"))
    assert differences == ""
    assert cycles > CYCLES_MIN


@pytest.mark.parametrize("running", [None, 0, 1], ids=["none", "first", "second"])
def test_a_chip_whose_pio_runs_goes_by_the_package(monkeypatch: pytest.MonkeyPatch, running: int | None) -> None:
    went: list[str] = []
    monkeypatch.setattr(chips, "stride", lambda rp2040, nanos: went.append("stride"))
    monkeypatch.setattr(chips.Chip, "_package_run", lambda self: went.append("package"))
    chip = object.__new__(chips.Chip)
    chip.rp2040 = SimpleNamespace(pio=[SimpleNamespace(stopped=number != running) for number in range(2)])
    chip.pacer = SimpleNamespace(hold=lambda: None)  # type: ignore[assignment]
    chip.run()
    assert went == ["stride" if running is None else "package"]

"""Who holds a busy port, as the error sentence names it."""

import os
from pathlib import Path

import pytest
from pitbench.port_holder import holder_of


@pytest.fixture
def port(tmp_path: Path) -> Path:
    (tmp_path / "ttyACM0").touch()
    (tmp_path / "proc").mkdir()
    return tmp_path / "ttyACM0"


def process(port: Path, pid: int, name: str) -> None:
    (port.parent / "proc" / str(pid)).mkdir()
    (port.parent / "proc" / str(pid) / "comm").write_text(f"{name}\n")


def test_the_process_that_locked_it_is_named(port: Path) -> None:
    """A line of /proc/locks as proc(5) lays it out: device in hexadecimal, then the inode."""
    told = os.stat(port)
    where = f"{os.major(told.st_dev):02x}:{os.minor(told.st_dev):02x}:{told.st_ino}"
    locks = f"1: FLOCK  ADVISORY  WRITE 41 00:18:5 0 EOF\n2: FLOCK  ADVISORY  WRITE 42 {where} 0 EOF\n"
    (port.parent / "proc" / "locks").write_text(locks)
    process(port, 42, "pitbench")
    process(port, 43, "ModemManager")
    assert holder_of(str(port), port.parent / "proc") == "another bench (process 42, pitbench)"


def test_modem_manager_is_suspected_where_nobody_locked_it(port: Path) -> None:
    (port.parent / "proc" / "locks").write_text("")
    process(port, 43, "ModemManager")
    assert "ModemManager, which lets go after some 20 s" in holder_of(str(port), port.parent / "proc")


def test_nobody_known_is_another_bench(port: Path) -> None:
    assert holder_of(str(port), port.parent / "proc") == "another bench"

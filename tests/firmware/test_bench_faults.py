"""Faults at the store: the n-th write from now is cut before, in, or after; a full file system stays full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.faults import FaultyFiles
from hal.store import Files

DATA = b"0123456789"


class PowerCut(Exception):
    pass


def cut(_control) -> None:
    raise PowerCut


BOOT = SimpleNamespace(port=SimpleNamespace(cut=cut), control=None)


@pytest.fixture
def armed(tmp_path: Path) -> Callable[[int, str], FaultyFiles]:
    return lambda at, how: FaultyFiles(Files(str(tmp_path)), BOOT, at, how)


LEFT = {
    "before": None,
    "torn_prefix": b"01234",
    "torn_zeros": b"01234\0\0\0\0\0",
    "torn_ff": b"01234\xff\xff\xff\xff\xff",
    "after": DATA,
}


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("how", LEFT)
def test_the_nth_write_leaves_what_such_a_cut_leaves(armed, how, at):
    files = armed(at, how)
    for n in range(1, at):
        files.write(f"good{n}", DATA)
    with pytest.raises(PowerCut):
        files.write("a", DATA)
    assert files.read("a") == LEFT[how]
    assert [files.read(f"good{n}") for n in range(1, at)] == [DATA] * (at - 1)


@pytest.mark.parametrize("how", LEFT)
def test_an_append_is_torn_at_its_end_alone(armed, how):
    armed(9, how).write("log0", b"before\n")
    files = armed(1, how)
    with pytest.raises(PowerCut):
        files.append("log0", DATA)
    assert files.read("log0") == b"before\n" + (LEFT[how] or b"")


def test_a_full_file_system_stays_full_and_writes_nothing(armed):
    armed(9, "full").write("a", b"old")
    files = armed(2, "full")
    files.write("b", b"fits")
    for _ in range(3):
        with pytest.raises(OSError, match="28"):
            files.write("a", DATA)
    assert (files.read("a"), files.read("b"), files.writes) == (b"old", b"fits", 1)


@pytest.mark.parametrize(("at", "how"), [(0, "before"), (-1, "full"), (1, "sideways"), (1, None)])
def test_what_is_no_fault_is_refused(armed, at, how):
    with pytest.raises(ValueError, match="how is one of"):
        armed(at, how)


def test_until_then_it_is_the_store_itself(armed, tmp_path):
    files = armed(9, "before")
    files.write("a", DATA)
    files.append("a", DATA)
    assert (files.size("a"), files.writes, files.path("a")) == (20, 2, f"{tmp_path}/a")
    files.remove("a")
    assert files.read("a") is None

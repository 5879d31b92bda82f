"""Where the boards of a suite have their flash: in memory where there is room, on disk elsewhere."""

import tempfile
from pathlib import Path

import pytest
from pitbench_hil import suites

VARIABLE = "PYTEST_DEBUG_TEMPROOT"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The words that pytest was run with."""
    found: list[list[str]] = []
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(suites.pytest, "main", lambda words: found.append(words) or 3)
    return found


def folder_of(words: list[str]) -> Path:
    (word,) = [word for word in words if word.startswith("--basetemp=")]
    return Path(word.removeprefix("--basetemp=")).parent


def test_in_memory(seen: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(suites, "_RAM", tmp_path)
    monkeypatch.setattr(suites, "_RAM_BYTES", 1)
    assert suites.run_pytest(["-q"]) == 3
    assert seen[0][0] == "-q"
    assert folder_of(seen[0]).parent == tmp_path


@pytest.mark.parametrize("ram", [Path("/nowhere"), Path(tempfile.gettempdir())], ids=["none", "too-small"])
def test_on_disk_where_memory_has_no_room(seen: list[list[str]], monkeypatch: pytest.MonkeyPatch, ram: Path) -> None:
    monkeypatch.setattr(suites, "_RAM", ram)
    monkeypatch.setattr(suites, "_RAM_BYTES", 1 << 60)
    suites.run_pytest([])
    assert folder_of(seen[0]).parent == Path(tempfile.gettempdir())


def test_each_run_has_a_folder_of_its_own_and_leaves_none(seen: list[list[str]]) -> None:
    """Runs at the same time that share one remove each other's boards: pytest keeps the last few of a folder."""
    suites.run_pytest([])
    suites.run_pytest([])
    assert folder_of(seen[0]) != folder_of(seen[1])
    assert not folder_of(seen[0]).exists()


def test_a_folder_that_somebody_named_wins(seen: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/named")
    suites.run_pytest(["-q"])
    assert seen == [["-q"]]

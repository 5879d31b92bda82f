"""Where the boards of a suite have their flash: in memory where there is room, on disk elsewhere."""

import os
import tempfile
from pathlib import Path

import pytest
from pitbench_hil import suites

VARIABLE = "PYTEST_DEBUG_TEMPROOT"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """What pytest's own variable was while pytest ran."""
    found: list[str | None] = []
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(suites.pytest, "main", lambda words: found.append(os.environ.get(VARIABLE)) or 3)
    yield found
    os.environ.pop(VARIABLE, None)


def test_in_memory(seen: list[str | None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(suites, "_RAM", tmp_path)
    monkeypatch.setattr(suites, "_RAM_BYTES", 1)
    assert suites.run_pytest([]) == 3
    assert seen == [str(tmp_path)]


@pytest.mark.parametrize("ram", [Path("/nowhere"), Path(tempfile.gettempdir())], ids=["none", "too-small"])
def test_on_disk_where_memory_has_no_room(seen: list[str | None], monkeypatch: pytest.MonkeyPatch, ram: Path) -> None:
    monkeypatch.setattr(suites, "_RAM", ram)
    monkeypatch.setattr(suites, "_RAM_BYTES", 1 << 60)
    suites.run_pytest([])
    assert seen == [None]


def test_a_folder_that_somebody_named_wins(seen: list[str | None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/named")
    suites.run_pytest([])
    assert seen == ["/named"]

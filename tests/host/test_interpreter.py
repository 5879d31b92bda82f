"""Which interpreter is chosen, and that it starts as quickly as it can."""

import subprocess
from pathlib import Path

import pytest
from pitbench.errors import PitbenchError, UnknownName
from pitbench.virtual import find_interpreter, interpreter


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    found = interpreter.importlib.util.find_spec
    monkeypatch.setattr(interpreter.importlib.util, "find_spec", lambda name: None if name in names else found(name))


def program(folder: Path, exit_code: int) -> None:
    file = folder / "micropython"
    file.write_text(f"#!/bin/sh\nexit {exit_code}\n")
    file.chmod(0o755)


def test_the_wheel_comes_first() -> None:
    assert "jonnor" in find_interpreter().source


def test_then_the_one_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "micropython_run")
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, 0)
    found = find_interpreter()
    assert found.kind == "unix"
    assert found.bare == (str(tmp_path / "micropython"),)
    assert found.command(Path("/r"), "power")[1:3] == ["-X", "heapsize=192k"]


def test_one_on_path_that_cannot_mount_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without(monkeypatch, "micropython_run")
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, 1)
    assert find_interpreter().kind == "wasm"


def test_then_wasm(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "micropython_run")
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_interpreter().command(Path("/r"), "soft")[-4:] == ["-m", "pitbench.virtual.wasm_runner", "/r", "soft"]


def test_none_at_all_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "micropython_run", "wasmtime")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(PitbenchError, match="pip install"):
        find_interpreter()


def test_another_kind_gets_the_choices() -> None:
    with pytest.raises(UnknownName, match="unix, wasm"):
        find_interpreter("qemu")


def test_it_is_micropython() -> None:
    asked = [*find_interpreter("unix").bare, "-c", "import sys; print(sys.implementation.name)"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "micropython\n"

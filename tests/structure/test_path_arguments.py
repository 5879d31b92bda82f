"""Every command with a path that can't be used: one sentence, exit code 2, no traceback."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from pitbench.cli import all_commands

# What stands for the arguments that a command can't do without.
SAMPLES = {"device": "bill-acceptor", "op": "status", "link": "/dev/null/x", "wire": "/dev/null/x"}
SAMPLES |= {"what": "authenticate"}
# Nothing can be read from them or made there, by anybody.
UNUSABLE = {"in a device": "/dev/null/x", "in a system's folder": "/proc/nobody/x"}


def parser_of(command: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    importlib.import_module(all_commands()[command]).add_arguments(parser)
    return parser


def rows() -> list[tuple[str, str]]:
    return [
        (command, action.dest)
        for command in sorted(all_commands())
        for action in parser_of(command)._actions
        if action.type is Path
    ]


def words_for(command: str, dest: str, path: str) -> list[str]:
    words = []
    for action in parser_of(command)._actions:
        value = path if action.dest == dest else SAMPLES.get(action.dest)
        needed = action.dest == dest or action.required
        if needed and value is not None:
            words += [action.option_strings[-1], value] if action.option_strings else [value]
    return words


def outcome(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pitbench", *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=folder, stdin=subprocess.DEVNULL, check=False
    )


def is_one_sentence(done: subprocess.CompletedProcess[str], command: str) -> bool:
    """A sentence of ours, or argparse's own behind the command's usage."""
    last = done.stderr.splitlines()[-1:]
    ours = done.stderr.startswith("pitbench: ") and done.stderr.count("\n") == 1
    return ours or bool(last and last[0].startswith(f"pitbench {command}: error: "))


def test_there_are_paths_to_try():
    assert {("sim", "folder"), ("image", "out"), ("report", "folder"), ("rejudge", "folder")} <= set(rows())
    assert {("kiosk", "journal"), ("kiosk", "vouchers"), ("verify", "run_dir")} <= set(rows())


@pytest.mark.parametrize("path", UNUSABLE.values(), ids=UNUSABLE)
@pytest.mark.parametrize(("command", "dest"), rows())
def test_a_path_that_cannot_be_used_is_one_sentence(command, dest, path, tmp_path):
    done = outcome([command, *words_for(command, dest, path)], tmp_path)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2, done.stdout + done.stderr
    assert is_one_sentence(done, command), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["sim", "bill-acceptor", "--folder", "FILE"],
        ["image", "bill-acceptor", "--out", "FILE"],
        ["verify", "bill-acceptor", "--run-dir", "FILE"],
        ["verify", "bill-acceptor", "--image", "bench=FILE"],
        ["report", "FILE"],
        ["report", "FOLDER"],
        ["report"],
        ["rejudge", "FILE"],
        ["rejudge", "FOLDER"],
        ["kiosk", "--wire", "/dev/ptmx", "--journal", "FOLDER"],
        ["kiosk", "--wire", "/dev/ptmx", "--vouchers", "FILE"],
        ["kiosk", "--wire", "/dev/ptmx", "--vouchers", "FOLDER"],
        ["kiosk", "--wire", "FOLDER"],
        ["do", "--link", "FILE", "status"],
        ["do", "--link", "FOLDER", "status"],
    ],
    ids=" ".join,
)
def test_a_path_of_the_wrong_kind_is_one_sentence(words, tmp_path):
    (tmp_path / "file").write_text("no such thing\n")
    (tmp_path / "folder").mkdir()
    places = {"FILE": str(tmp_path / "file"), "FOLDER": str(tmp_path / "folder")}
    done = outcome(
        [word.replace("FILE", places["FILE"]).replace("FOLDER", places["FOLDER"]) for word in words], tmp_path
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("pitbench: ")
    assert done.stderr.count("\n") == 1

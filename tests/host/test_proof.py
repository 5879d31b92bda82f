"""A person proves a role at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pitbench import cli
from pitbench.proof import asked
from pitbench.targets import Board, open_target

SECRET = "b1" * 16


@pytest.fixture
def shuffler():
    with open_target("unix:", device="shuffler") as board:
        board.link.do("advance", ms=3000)
        yield board


@pytest.fixture
def port(shuffler: Board) -> str:
    """The board's link, free for others."""
    shuffler.link.transport.close()
    return shuffler.link.transport.url


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tech.hex"
    path.write_text(SECRET + "\n")
    return path


def do(port: str, *words: str) -> int:
    return cli.main(["do", "--link", port, *words])


def test_what_a_proof_covers():
    assert asked("history", {}) == "history"
    assert asked("configure", {"set": {"recognise": True, "game": "war", "decks": 2}}) == (
        'configure|decks=2,game="war",recognise=true'
    )
    assert asked("service", {"what": "entry", "who": "a", "licence": "b", "reason": "c"}) == "entry|a b c"
    assert asked("commission", {"role": "attendant", "secret": "00"}) == "commission|attendant|00"


def test_each_request_that_takes_a_proof_is_obeyed(port, file, capsys):
    as_technician = ("--as", "technician", "--secret-file", str(file))
    assert do(port, "commission", "role=technician", f"secret={SECRET}") == 0
    assert do(port, *as_technician, "configure", 'set={"decks": 6}') == 0
    assert do(port, *as_technician, "commission", "role=regulator", f"secret={'c2' * 16}") == 0
    assert do(port, *as_technician, "service", "what=service", "who=A", "licence=N1", "reason=jam") == 0
    capsys.readouterr()
    assert do(port, *as_technician, "history") == 0
    assert json.loads(capsys.readouterr().out)["games"] == []


def test_another_secret_is_refused(port, file, capsys):
    do(port, "commission", "role=technician", f"secret={'ee' * 16}")
    assert do(port, "--as", "technician", "--secret-file", str(file), "history") == 2
    assert "the proof does not fit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--as", "technician"], "Give both --as ROLE and --secret-file FILE."),
        (["--as", "technician", "--secret-file", "nowhere"], "nowhere can't be read: No such file or directory."),
        (["--as", "technician", "--secret-file", __file__], "holds no hex."),
    ],
)
def test_what_is_missing_is_said(words, said, capsys):
    assert do("/dev/null", *words, "history") != 0
    assert said in capsys.readouterr().err

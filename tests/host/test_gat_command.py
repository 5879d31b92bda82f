"""`pitbench gat` against a scripted device on a pty: what it prints, its exit codes, its sentences."""

from pathlib import Path

import pytest
from gat_double import FILES, FUNCTIONS, GatDouble, digest
from pitbench import cli


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, content in FILES.items():
        (tmp_path / path[1:]).parent.mkdir(exist_ok=True)
        (tmp_path / path[1:]).write_bytes(content)
    return tmp_path


def test_status(gat_port: str, gat_double: GatDouble, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["gat", "status", "--wire", gat_port]) == 0
    assert capsys.readouterr().out == "GAT 3.50, idle, text.\nLast calculation: none.\n"
    gat_double.level, gat_double.age, gat_double.state, gat_double.format = 0xBA, b"\0\0\0\x07", 6, 2
    assert cli.main(["gat", "status", "--wire", gat_port]) == 0
    assert capsys.readouterr().out == "GAT 3.50, done, XML.\nLast calculation: level ba, 7 s ago.\n"
    gat_double.cut()
    assert cli.main(["gat", "status", "--wire", gat_port]) == 0
    assert "level ba, at an unknown time." in capsys.readouterr().out


def test_authenticate_against_a_folder(gat_port, gat_double, folder, capsys):
    words = ["gat", "authenticate", "--wire", gat_port, "--seed", "3132", "--against", str(folder)]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"{digest(FILES['/boot.py'], b'12')}  /boot.py  HMAC-SHA1"
    assert printed[-2:] == ["Not digested: interpreter.", f"Components: 4. Differences from {folder}: 0."]
    assert cli.main([*words, "--xml"]) == 0
    assert capsys.readouterr().out.splitlines() == [line for line in printed if not line.startswith("Not digested")]
    gat_double.files = {**FILES, "/image/rng.mpy": b"y"}
    assert cli.main(words) == 1
    right = digest(b"x", b"12")
    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"/image/rng.mpy has {digest(b'y', b'12')}, and should have {right}.",
        f"Components: 4. Differences from {folder}: 1.",
    ]


def test_one_component(gat_port, folder, capsys):
    words = ["gat", "authenticate", "--wire", gat_port, "--component", "/image/rng.mpy", "--against", str(folder)]
    assert cli.main(words) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{digest(b'x', b'')}  /image/rng.mpy  SHA-1",
        f"Components: 1. Differences from {folder}: 0.",
    ]


def test_one_component_answered_by_another(gat_port, gat_double, capsys):
    row = b'<Game Algorithm="SHA-1"><Component Name="/b" Checksum="' + b"ab" * 20 + b'"/></Game>'
    gat_double.levels[0xBA] = lambda parameter: (2, b"<Components>" + row + b"</Components>")
    assert cli.main(["gat", "authenticate", "--wire", gat_port, "--component", "/a"]) == 2
    assert "/a was asked for, and it names /b" in capsys.readouterr().err


def test_why_a_device_is_in_error(gat_port, capsys):
    assert cli.main(["gat", "authenticate", "--wire", gat_port, "--component", "/none"]) == 2
    assert "(status 0c): no component /none. Look" in capsys.readouterr().err
    assert cli.main(["gat", "status", "--wire", gat_port]) == 0
    assert capsys.readouterr().out.endswith(
        "GAT 3.50, error, XML.\nLast calculation: level ba, 0 s ago.\nWhy: no component /none.\n"
    )


def test_functions(gat_port, capsys):
    assert cli.main(["gat", "functions", "--wire", gat_port]) == 0
    assert capsys.readouterr().out == "Get Special Functions\nGet File  <PATH>\nComponent  /image/crc  <SHA1_HMAC>\n"


def test_raw(gat_port, gat_double, capsysbinary):
    assert cli.main(["gat", "functions", "--wire", gat_port, "--raw"]) == 0
    assert capsysbinary.readouterr().out == FUNCTIONS
    gat_double.levels[0x01] = lambda seed: (1, b"\xff\x00 no report")
    assert cli.main(["gat", "authenticate", "--wire", gat_port]) == 2
    assert b"with --raw" in capsysbinary.readouterr().err
    assert cli.main(["gat", "authenticate", "--wire", gat_port, "--raw"]) == 0
    assert capsysbinary.readouterr().out == b"\xff\x00 no report"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--wire", "/dev/none"], "There is no port /dev/none."),
        (["--wire", "x", "--seed", "123"], "'123' is no seed. Write it as pairs of hex digits, as in 3132."),
        (["--wire", "x", "--crc", "md5"], "There is no CRC 'md5'."),
        (
            ["--wire", "x", "--against", "EMPTY"],
            "holds no built image. Build one with `pitbench image`, and name its --out folder.",
        ),
    ],
)
def test_what_cannot_be_asked_is_one_sentence(words, sentence, tmp_path, capsys):
    words = [word.replace("EMPTY", str(tmp_path)) for word in words]
    assert cli.main(["gat", "authenticate", *words]) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.startswith("pitbench: ")
    assert error.count("\n") == 1

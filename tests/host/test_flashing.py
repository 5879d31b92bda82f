"""Flashing, against a board with the real MicroPython prompt on a pty."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_board import fake_board, fake_facts
from pitbench import flashing
from pitbench import image as images
from pitbench.board_facts import board_facts
from pitbench.cli import main
from pitbench.errors import PitbenchError
from pitbench.flashing import FlashError, check_board, flash_board, make_plan
from pitbench.image import Image, build_image, install
from pitbench.probing import FIRMWARE, PROMPT, Running, what_answers, what_runs
from pitbench.repl import BoardSays, Repl, ReplError, open_repl
from pitbench.sources import FIRMWARE as SOURCES
from pitbench.virtual import VirtualBoard

WAY_BACK = "Hold GP22."


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image("bill-acceptor", "bench", tmp_path_factory.mktemp("image"))


@pytest.fixture
def board(tmp_path: Path) -> Iterator[VirtualBoard]:
    with fake_board(tmp_path / "flash") as board:
        yield board


@pytest.fixture
def facts(board: VirtualBoard) -> dict[str, Any]:
    with open_repl(board.link_path, WAY_BACK) as repl:
        return fake_facts(repl.facts().machine)


def lay(board: VirtualBoard, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        (board.root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
        (board.root / path[1:]).write_bytes(data)


def files_on(board: VirtualBoard) -> dict[str, bytes]:
    found = [path for path in board.root.rglob("*") if path.is_file()]
    return {f"/{path.relative_to(board.root)}": path.read_bytes() for path in found}


def without_data(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if not path.startswith("/data/")}


def test_an_empty_board_is_flashed_and_greeted(board: VirtualBoard, facts: dict[str, Any], image: Image) -> None:
    said: list[str] = []
    done = flash_board(board.link_path, image, facts, say=said.append)
    assert without_data(files_on(board)) == dict(image.files)
    assert done["identity"]["digest"] == image.digest
    assert done["port"] == board.link_path
    assert sorted(done["copied"]) == sorted(image.files)
    assert len(said) == 2


@pytest.mark.parametrize("place", ["/flash", "/"])
def test_a_flash_that_is_mounted_elsewhere_becomes_the_root(tmp_path: Path, image: Image, place: str) -> None:
    """STM32 boards and Teensys mount it at /flash; firmware of ours that ran before left it at /."""
    with fake_board(tmp_path / "flash", place) as board:
        with open_repl(board.link_path, WAY_BACK) as repl:
            machine = repl.facts().machine
        again = f"import vfs; vfs.umount('/flash'); vfs.mount(vfs.VfsPosix({str(board.root)!r}), '/')"
        flash_board(board.link_path, image, fake_facts(machine) | {"remount": again})
        assert without_data(files_on(board)) == dict(image.files)


def test_what_is_there_already_is_left(board: VirtualBoard, facts: dict[str, Any], image: Image) -> None:
    lay(board, dict(image.files) | {"/image/old/x.mpy": b"x", "/boot/q.mpy": b"q", "/data/a": b"meters"})
    lay(board, {"/image/main.mpy": b"another"})
    (board.root / "main.py").unlink()
    done = flash_board(board.link_path, image, facts)
    assert sorted(done["copied"]) == ["/image/main.mpy", "/main.py"]
    assert done["removed"] == ["/image/old/x.mpy", "/image/old/", "/boot/q.mpy"]
    assert without_data(files_on(board)) == dict(image.files)
    assert not (board.root / "image/old").exists()


def test_a_flashed_board_needs_nothing(board: VirtualBoard, facts: dict[str, Any], image: Image) -> None:
    lay(board, dict(image.files))
    written: list[str] = []
    board_says = flash_board(board.link_path, image, facts, say=written.append)
    assert board_says["copied"] == []
    assert board_says["kept"] == len(image.files)


def test_data_stay_unless_it_shall_be_fresh(board: VirtualBoard, facts: dict[str, Any], image: Image) -> None:
    lay(board, {"/data/log0": b"[kept]"})
    with open_repl(board.link_path, WAY_BACK) as repl:
        there = repl.digests()
    assert make_plan(there, image.files, fresh=False).remove == []
    assert make_plan(there, image.files, fresh=True).remove == ["/data/log0"]


def test_a_shadowing_module_is_named_before_anything_is_written(
    board: VirtualBoard, facts: dict[str, Any], image: Image
) -> None:
    strays = {"/hashlib.py": b"sha256 = None", "/lib/thing.txt": b"mine"}
    lay(board, strays)
    with pytest.raises(FlashError, match="hashlib.py .it hides MicroPython's own hashlib., /lib/, /lib/thing.txt"):
        flash_board(board.link_path, image, facts)
    assert files_on(board) == strays


def test_extra_files_go_when_asked(board: VirtualBoard, facts: dict[str, Any], image: Image) -> None:
    lay(board, {"/hashlib.py": b"sha256 = None", "/lib/thing.txt": b"mine"})
    done = flash_board(board.link_path, image, facts, clean=True)
    assert done["removed"] == ["/lib/thing.txt", "/lib/", "/hashlib.py"]
    assert done["identity"]["inoperable"] is None


def test_another_board_is_said_before_anything_is_written(board: VirtualBoard, image: Image) -> None:
    with pytest.raises(FlashError, match="and unix is a Teensy. There is no board file for it"):
        flash_board(board.link_path, image, fake_facts("Teensy"))
    assert files_on(board) == {}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"implementation": "circuitpython"},
            "runs circuitpython, not MicroPython. Get MicroPython from micropython.org",
        ),
        (
            {"machine": "Raspberry Pi Pico W with RP2040"},
            "Pico W with RP2040, and rpi-pico is a Raspberry Pi Pico with",
        ),
        ({"version": (1, 9, 4)}, "has MicroPython 1.9.4, and 1.24 is the least"),
    ],
)
def test_what_will_not_do_is_said(changed: dict[str, Any], said: str) -> None:
    good = {
        "implementation": "micropython",
        "version": (1, 24, 1),
        "machine": "Raspberry Pi Pico with RP2040",
        "uid": "",
    }
    check_board(BoardSays(**good), fake_facts(good["machine"]), "COM5")
    with pytest.raises(FlashError, match=said):
        check_board(BoardSays(**good | changed), fake_facts(str(good["machine"])) | {"name": "rpi-pico"}, "COM5")


def test_a_failure_in_the_middle_leaves_a_prompt_and_can_be_repeated(
    board: VirtualBoard, facts: dict[str, Any], image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, count = Repl.write, iter(range(10))

    def fail_at_the_fifth(self: Repl, path: str, data: bytes) -> None:
        if next(count) == 4:
            raise ReplError("The board stopped answering.")
        write(self, path, data)

    lay(board, {"/boot.py": b"", "/main.py": b"x = 1"})
    monkeypatch.setattr(Repl, "write", fail_at_the_fifth)
    with pytest.raises(ReplError):
        flash_board(board.link_path, image, facts)
    assert "/main.py" not in files_on(board)
    assert what_runs(board.link_path).kind == PROMPT
    monkeypatch.undo()
    assert flash_board(board.link_path, image, facts)["kept"] == 4


def test_a_file_that_comes_back_wrong_is_named(
    board: VirtualBoard, facts: dict[str, Any], image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Repl.write
    monkeypatch.setattr(Repl, "write", lambda self, path, data: write(self, path, data[:-1] + b"?"))
    with pytest.raises(FlashError, match="is not what was written"):
        flash_board(board.link_path, image, facts)


def test_a_file_that_cannot_be_written_is_said(board: VirtualBoard) -> None:
    said = "failed while writing /no/x: OSError: .*ENOENT. Look at the cable"
    with open_repl(board.link_path, WAY_BACK) as repl, pytest.raises(ReplError, match=said):
        repl.write("/no/x", b"x")


def test_a_command_that_fails_is_said(board: VirtualBoard) -> None:
    said = "failed while carrying out a command: ZeroDivisionError"
    with open_repl(board.link_path, WAY_BACK) as repl, pytest.raises(ReplError, match=said):
        repl._run("1/0")


def test_a_board_that_goes_away_is_said(board: VirtualBoard) -> None:
    with open_repl(board.link_path, WAY_BACK) as repl:
        board.stop()
        with pytest.raises(ReplError, match="The board on .* while carrying out a command"):
            repl.facts()


def test_a_silent_board_gets_the_way_back(tmp_path: Path, facts: dict[str, Any], image: Image) -> None:
    with fake_board(tmp_path / "mute") as board:
        board.cut()
        with pytest.raises(ReplError, match="shows a MicroPython prompt. Hold GP22 to GND while you reset"):
            flash_board(board.link_path, image, facts)


def test_what_runs_is_told(board: VirtualBoard, image: Image) -> None:
    assert what_runs(board.link_path).kind == PROMPT
    board.cut()
    install(image, board.root)
    board.power_on()
    found = what_runs(board.link_path)
    assert (found.kind, found.identity["device"]) == (FIRMWARE, "bill-acceptor")


def test_another_image_on_the_board_is_said(
    board: VirtualBoard, facts: dict[str, Any], image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flashing, "what_answers", lambda transport: what_runs_as(transport, digest="00"))
    with pytest.raises(FlashError, match="reports the digest 00"):
        flash_board(board.link_path, image, facts)


def what_runs_as(transport: Any, **changed: Any) -> Any:
    found = what_answers(transport)
    return Running(found.kind, found.identity and found.identity | changed)


def test_a_release_image_has_no_way_back(tmp_path: Path, facts: dict[str, Any], image: Image) -> None:
    release = build_image("bill-acceptor", "release", tmp_path / "release")
    install(release, tmp_path / "sealed")
    said = "no way back over the link. Hold GP22"
    with fake_board(tmp_path / "sealed") as board, pytest.raises(PitbenchError, match=said):
        flash_board(board.link_path, image, facts)


def test_several_boards_are_flashed_at_once_and_each_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with fake_board(tmp_path / "one") as one, fake_board(tmp_path / "two") as two:
        lay(two, {"/stray.txt": b"x"})
        ports = ["--port", one.link_path, "--port", two.link_path]
        assert main(["flash", "bill-acceptor", "--board", "unix", *ports]) == 1
        told = capsys.readouterr().out
        assert f"{two.link_path}  NOT FLASHED: The board on {two.link_path} holds files that are no part" in told
        assert f"{one.link_path}  flashed: " in told
        assert f"bill-acceptor answers on {one.link_path}, boot 1" in told
        assert main(["flash", "bill-acceptor", "--board", "unix", *ports[2:], "--clean"]) == 0
        assert "1 removed" in capsys.readouterr().out


@pytest.fixture
def image_with_a_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Image:
    """An image that knows a strap pin, as on boards with a prompt; its boot.py must not look for the pin here."""
    strapped = board_facts("unix") | {"strap": "GP22"}
    monkeypatch.setattr(images, "board_facts", lambda name: strapped)
    boot = (SOURCES / "boot.py").read_text().replace("STRAP = None\n", "STRAP = None  # no pins here\n")
    return build_image("bill-acceptor", "bench", tmp_path / "strapped", patches={"boot.py": boot})


def test_a_running_bench_image_is_asked_for_its_prompt(
    tmp_path: Path, facts: dict[str, Any], image_with_a_prompt: Image
) -> None:
    said: list[str] = []
    install(image_with_a_prompt, tmp_path / "running")
    with fake_board(tmp_path / "running") as board:
        done = flash_board(board.link_path, image_with_a_prompt, facts, say=said.append)
    assert "asked for its prompt" in said[0]
    assert (done["copied"], done["identity"]["digest"]) == ([], image_with_a_prompt.digest)

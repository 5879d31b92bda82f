"""The command line: commands by rows, errors in one sentence, answers as JSON."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from pitbench import cli, usb_ports
from pitbench.addresses import Target
from pitbench.commands import do, sim
from pitbench.deadline import Deadline
from pitbench.devices import BUILT, examples
from pitbench.errors import PitbenchError
from pitbench.event_watch import EventWatch
from pitbench.folder_lock import FolderLock
from pitbench.image import KINDS
from pitbench.link import LinkClient
from pitbench.transport import open_transport
from pitbench.virtual import VirtualBoard


@pytest.fixture
def greet(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("greet_command", "Say hello.\n\nAnd more.")
    module.__dict__.update(add_arguments=lambda parser: parser.add_argument("name"), run=lambda args: len(args.name))
    monkeypatch.setitem(sys.modules, "greet_command", module)
    monkeypatch.setattr(cli, "all_commands", lambda: {"greet": "greet_command"})
    return module


def test_a_command_is_a_module(greet: ModuleType) -> None:
    assert cli.main(["greet", "abc"]) == 3


def test_the_overview_names_every_command(greet: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "greet      Say hello." in capsys.readouterr().out


def test_an_error_is_one_sentence_and_two(greet: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    def run(args: object) -> int:
        raise PitbenchError("It broke.", "Mend it.")

    greet.__dict__["run"] = run
    assert cli.main(["greet", "x"]) == 2
    assert capsys.readouterr().err == "pitbench: It broke. Mend it.\n"


def test_a_file_that_cannot_be_used_is_a_sentence_and_a_program_error_is_not(
    greet: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    greet.__dict__["run"] = lambda args: (tmp_path / "nowhere" / "x").write_text("")
    assert cli.main(["greet", "x"]) == 2
    assert capsys.readouterr().err.startswith(f"pitbench: {tmp_path / 'nowhere' / 'x'} can't be used: No such file")
    greet.__dict__["run"] = lambda args: os.close(9999)
    with pytest.raises(OSError, match="Bad file descriptor"):
        cli.main(["greet", "x"])


def test_an_unknown_command_gets_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simm"]) == 2
    assert "do, " in capsys.readouterr().err


def test_commands_of_other_packages_are_found() -> None:
    assert {"sim", "do", "image", "verify", "rabbits", "rules", "report", "rejudge", "draw"} <= set(cli.all_commands())


@pytest.mark.parametrize("command", [["sim", "toaster"], ["image", "toaster"]])
def test_an_unknown_device_gets_the_choices(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(command) == 2
    assert f"There is no device 'toaster'. Choose from: {', '.join(BUILT)}." in capsys.readouterr().err


def test_do_prints_json(board: VirtualBoard, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["do", "--link", board.link_path, "insert", "usd20"]) == 0
    assert json.loads(capsys.readouterr().out)["item"]["worth"] == 2000


@pytest.mark.parametrize("words", [["do", "--link", "usb:E67", "status"], ["kiosk", "--wire", "usb:E67"]])
def test_a_port_may_be_named_by_its_usb_serial_number(
    words: list[str], board: VirtualBoard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [SimpleNamespace(serial_number="E66", device=board.link_path, location="1-1")]
    monkeypatch.setattr(usb_ports.list_ports, "comports", lambda: rows)
    assert cli.main(words) == 2
    assert "No USB serial port has the serial number E67. Plugged in now: E66." in capsys.readouterr().err
    assert cli.main(["do", "--link", "usb:E66", "hello"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "double"


def test_do_says_a_refusal(board: VirtualBoard, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["do", "--link", board.link_path, "fly"]) == 2
    assert "no such operation (unknown_op)" in capsys.readouterr().err


def test_values_are_json_where_they_can_be() -> None:
    asked = do.arguments("door", ["which=stacker", "open=true", "mv=2900", 'item={"a":[1]}'])
    assert asked == {"which": "stacker", "open": True, "mv": 2900, "item": {"a": [1]}}


@pytest.mark.parametrize("word", ["open", "=1", "id=4", "do=x"])
def test_what_is_no_argument_is_said(word: str) -> None:
    with pytest.raises(PitbenchError, match="no argument"):
        do.arguments("door", [word])


def test_news_of_a_board(board: VirtualBoard) -> None:
    with open_transport(board.link_path) as transport:
        LinkClient(transport).reconnect(Deadline(5))
    watch = EventWatch(board)
    assert watch.news() == ["     0.000 s  started"]
    assert watch.news() == []
    board.cut()
    assert watch.news() == ["power off: the ports stay, and are silent"]
    board.power_on()
    assert "power on" in watch.news()[0]


def test_without_events_sim_never_opens_the_link(board: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = EventWatch(board, events=False)
    with open_transport(board.link_path) as transport:
        link = LinkClient(transport)
        link.reconnect(Deadline(5))
        monkeypatch.setattr("pitbench.event_watch.open_transport", None)
        assert watch.news() == []
        assert link.do("status")
    board.cut()
    assert watch.news() == ["power off: the ports stay, and are silent"]


def test_sim_of_a_release_image_does_not_advise_what_only_a_bench_image_does() -> None:
    for device in BUILT:
        assert all(examples(device, kind) for kind in KINDS)
        assert not {words.split()[0] for words in examples(device, "release")} & {"insert", "load", "press"}


def test_sim_names_the_wire_of_its_device() -> None:
    built = (("bill-acceptor", "id003"), ("shuffler", "gat"))
    images = [SimpleNamespace(device=device, wire=wire, kind="bench") for device, wire in built]
    acceptor, shuffler = (sim.advice(image, "LINK", "WIRE") for image in images)
    assert (acceptor["protocol"], shuffler["protocol"]) == ("ID-003, 9600 8E1", "GAT, 9600 8N1")
    assert "pitbench do --link LINK insert usd20\n" in acceptor["examples"]
    assert "pitbench do --link LINK load cards=deck\n" in shuffler["examples"]
    assert shuffler["hint"].endswith("pitbench gat status --wire WIRE")


def test_a_deck_is_loaded_by_its_name() -> None:
    assert do.arguments("load", ["cards=deck"]) == {"cards": bytes(range(52)).hex()}
    assert do.arguments("load", ["cards=000102"]) == {"cards": "000102"}


MUTE = "import time\nwhile True:\n    time.sleep(1)\n"


def test_a_mute_board_is_said_with_its_console(
    make_board: Callable[[str], VirtualBoard], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sim, "START_S", 0.6)
    board = make_board(MUTE)
    assert (
        sim.trouble_of(board) == f"The board is mute: it answers nothing on its link. Its console is {board.console}."
    )


def test_an_inoperable_board_is_said_with_its_console(board: VirtualBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sim.trouble_of(board) == ""
    monkeypatch.setattr(LinkClient, "reconnect", lambda *_: {"inoperable": "extra file /image/x"})
    said = f"The board is inoperable: extra file /image/x. Its console is {board.console}."
    assert sim.trouble_of(board) == said


@pytest.mark.parametrize("words", [["sim", "bill-acceptor"], ["kiosk", "--wire", "WIRE"]])
def test_ctrl_c_ends_a_command_quietly(board: VirtualBoard, tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, "-m", "pitbench", *(board.wire_path if word == "WIRE" else word for word in words)]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    assert process.stderr
    assert process.stderr.read() == ""


def test_sim_leaves_the_link_to_others(board: VirtualBoard) -> None:
    watch = EventWatch(board)
    with open_transport(board.link_path):
        assert watch.news() == []


def test_two_sims_of_one_folder_never_run_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FolderLock(tmp_path / sim.LOCK):
        # Another open file of the same process holds the lock as another process would.
        assert cli.main(["sim", "bill-acceptor", "--folder", str(tmp_path)]) == 2
    said = f"pitbench: The board in {tmp_path} runs already (process {os.getpid()}). Stop it, or give this one another"
    assert capsys.readouterr().err.startswith(said)
    assert not (tmp_path / "board").exists()


def test_a_folder_of_another_device_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / sim.MARK).write_text("virtual shuffler\n")
    assert cli.main(["sim", "bill-acceptor", "--folder", str(tmp_path)]) == 2
    said = f"pitbench: {tmp_path} holds another board: virtual shuffler. Give this one its own --folder.\n"
    assert capsys.readouterr().err == said
    assert not (tmp_path / sim.LOCK).exists()


def test_sim_starts_the_board_of_its_target_and_says_the_rung(
    board: VirtualBoard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str | None] = []
    image = SimpleNamespace(device="shuffler", wire="gat", kind="bench", revision="r1", crc=0xC0DE)
    monkeypatch.setattr(sim, "build_image", lambda *what, **more: image)
    monkeypatch.setattr(sim, "prove_startable", lambda target: None)
    monkeypatch.setattr(sim, "keep_up", lambda *what: None)

    def made(target: Target, root: Path, put: object) -> object:
        asked.append(target.interpreter)
        assert put is image
        return nullcontext(board)

    monkeypatch.setattr(sim, "make_board", made)
    assert cli.main(["sim", "bill-acceptor", "--target", "emu:"]) == 0
    assert asked == ["emu"]
    assert f"runs on {board.interpreter.kind}: (" in capsys.readouterr().out


def test_sim_obeys_what_is_typed(
    board: VirtualBoard, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sim.obey(board, "cut")
    assert not board.alive
    assert sim.obey(board, "power")
    assert board.alive
    assert sim.obey(board, "")
    assert sim.obey(board, "fly")
    assert "type cut, power or quit" in capsys.readouterr().out
    assert not sim.obey(board, "quit")


def test_a_real_board_is_no_sim(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sim", "bill-acceptor", "--target", "/dev/ttyACM0,wire=/dev/ttyUSB0"]) == 2
    assert "real board already" in capsys.readouterr().err


def test_a_command_whose_module_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "all_commands", lambda: {"fly": "nowhere.commands.fly"})
    assert cli.main(["fly"]) == 2
    assert cli.main([]) == 0
    assert "not installed" in capsys.readouterr().out

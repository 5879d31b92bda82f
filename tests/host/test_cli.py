"""The command line: commands by rows, errors in one sentence, answers as JSON."""

import json
import sys
from types import ModuleType

import pytest
from pitbench import cli
from pitbench.commands import do, sim
from pitbench.deadline import Deadline
from pitbench.errors import PitbenchError
from pitbench.event_watch import EventWatch
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


def test_an_unknown_command_gets_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simm"]) == 2
    assert "do, " in capsys.readouterr().err


def test_commands_of_other_packages_are_found() -> None:
    assert {"sim", "do", "image", "verify", "rabbits", "rules", "report", "rejudge", "draw"} <= set(cli.all_commands())


@pytest.mark.parametrize("command", [["sim", "toaster"], ["image", "toaster"]])
def test_an_unknown_device_gets_the_choices(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(command) == 2
    assert "There is no device 'toaster'. Choose from: bill-acceptor." in capsys.readouterr().err


def test_do_prints_json(board: VirtualBoard, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["do", "--link", board.link_path, "insert", "usd20"]) == 0
    assert json.loads(capsys.readouterr().out)["item"]["worth"] == 2000


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


def test_sim_leaves_the_link_to_others(board: VirtualBoard) -> None:
    watch = EventWatch(board)
    with open_transport(board.link_path):
        assert watch.news() == []


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

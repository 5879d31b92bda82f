"""The acceptor's suite on a board that lasts: a virtual one, of which the suite has the two ports only."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from pitbench import targets
from pitbench.cli import main
from pitbench.image import Image, build_image, install
from pitbench.targets import open_target
from pitbench.virtual import VirtualBoard, find_interpreter
from pitbench_hil import lasting
from pitbench_hil.commands import verify
from pitbench_hil.lasting import BudgetSpent, LastingBoard
from pitbench_hil.suites import suites_of

pytest_plugins = ["pytester"]

DOOR = "NJ-1.28N(i)2/idle"
SUITES = suites_of("bill-acceptor")


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Image]:
    folder = tmp_path_factory.mktemp("images")
    return {kind: build_image("bill-acceptor", kind, folder / kind) for kind in ("bench", "release")}


class Bench:
    """Boards that stay, and runs against them."""

    def __init__(self, pytester: pytest.Pytester, images: dict[str, Image]) -> None:
        self.pytester, self.images = pytester, images
        self.boards: list[VirtualBoard] = []

    def board(self, kind: str = "bench") -> VirtualBoard:
        root = self.pytester.mkdir(f"board{len(self.boards)}") / "flash"
        install(self.images[kind], root)
        board = VirtualBoard(root, find_interpreter("unix"))
        board.start()
        self.boards.append(board)
        return board

    def run(self, target: str, *words: str, rules: str = DOOR, plugins: tuple[object, ...] = ()) -> pytest.RunResult:
        given = [f"--image={kind}={image.folder}" for kind, image in self.images.items()]
        where = ["--device", "bill-acceptor", "--target", target, "--rules", rules, "--run-dir", self.folder]
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:randomly"]
        return self.pytester.runpytest_inprocess(
            *SUITES, *where, *options, *given, *words, no_reraise_ctrlc=True, plugins=plugins
        )

    @property
    def folder(self) -> Path:
        return self.pytester.path / "run"

    def head(self) -> dict:
        return json.loads((self.folder / "run.json").read_text())

    def verdicts(self) -> dict[str, tuple[str, str]]:
        found = [json.loads(path.read_text()) for path in (self.folder / "rules").glob("*.json")]
        return {evidence["rule"]["id"]: (evidence["verdict"], evidence["why"]) for evidence in found}


@pytest.fixture
def bench(pytester: pytest.Pytester, images: dict[str, Image], monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("COLUMNS", "200")
    bench = Bench(pytester, images)
    yield bench
    for board in bench.boards:
        board.stop()


def ports(board: VirtualBoard, other: VirtualBoard | None = None) -> str:
    return f"{board.link_path},wire={(other or board).wire_path}"


def test_a_board_that_lasts_gives_the_same_verdict_every_time(bench: Bench) -> None:
    """The test leaves a door open, so a board that stays as it was fails the next time."""
    board = bench.board()
    for name in ("earlier", "later"):
        result = bench.run(ports(board))
        assert result.ret == 0
        assert bench.verdicts()[DOOR][0] == "PASS"
        head = bench.head()
        bench.folder.rename(bench.folder.with_name(name))
    assert board.boots > 2
    assert "one board, so one process; it holds a bench image" in result.outlines
    assert any(line.startswith("store writes: ") and line[14] != "0" for line in result.outlines)
    assert head["wear"].startswith("store writes: ")
    (identity,) = head["identities"]
    assert (identity["rung"], identity["cut"]) == ("board", "")


def test_a_virtual_board_is_not_started_over(bench: Bench) -> None:
    assert bench.run("unix:").ret == 0
    (identity,) = bench.head()["identities"]
    assert identity["cut"] == "process killed"
    assert "power cut: process killed" in (bench.folder / "report.html").read_text()
    assert bench.head()["wear"] == ""


def test_tests_of_the_other_kind_of_image_are_not_tested(bench: Bench) -> None:
    held, worked = "NJ-1.20(a)1/board-holds-it", "NJ-1.28N(a)/damaged-frames"
    result = bench.run(ports(bench.board("release")), rules=f"{DOOR},{held},{worked}")
    assert result.ret == 0
    assert bench.verdicts()[DOOR] == ("NOT TESTED", "the board holds a release image")
    assert bench.verdicts()[held][0] == "PASS"
    assert bench.verdicts()[worked][0] == "NOT TESTED"
    result.stdout.fnmatch_lines([f"*{worked}*can't make a release image forget the test before this one*"])


def nothing_but(bench: Bench, result: pytest.RunResult, *words: str) -> None:
    """The run ended before pytest or the suite said anything."""
    assert result.ret == 2
    assert result.outlines == []
    (line,) = result.errlines
    for word in words:
        assert word in line
    assert not bench.folder.exists()


def test_two_ports_of_two_boards_are_said_before_any_rule(bench: Bench) -> None:
    first, second = bench.board(), bench.board()
    nothing_but(bench, bench.run(ports(first, second)), "are not one board", "counted 0", "Look at the cables")


def test_the_firmware_of_another_build_is_said_before_any_rule(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    other = SimpleNamespace(digest="ab" * 32, crc=0xABCD, key="")
    monkeypatch.setattr(lasting, "load_image", lambda *where: other)
    nothing_but(bench, bench.run(ports(bench.board())), "The board holds another image: its digest is")


def test_an_inoperable_board_is_said_before_any_rule(bench: Bench) -> None:
    board = bench.board()
    board.cut()
    (board.root / "image/main.mpy").write_bytes(b"M")
    board.power_on()
    nothing_but(bench, bench.run(ports(board)), "The board is inoperable: ")


def test_one_board_is_one_process(bench: Bench) -> None:
    nothing_but(bench, bench.run(ports(bench.board()), "-n", "2"), "A real board is one process, and 2 were asked for")


@pytest.mark.parametrize(("target", "processes"), [("/dev/a,wire=/dev/b", "0"), ("unix:", "2")])
def test_the_command_asks_for_one_process_on_a_real_board(
    target: str, processes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(verify, "run_pytest", lambda words: asked.append(words) or 0)
    assert main(["verify", "bill-acceptor", "--target", target, "--jobs", "2", "--erase-budget", "9"]) == 0
    assert asked[0][asked[0].index("-n") + 1] == processes
    assert "--erase-budget=9" in asked[0]


def test_a_spent_budget_stops_the_run(bench: Bench) -> None:
    rules = "NJ-1.28N(i)2/idle,NJ-1.28N(i)3/idle"
    result = bench.run(ports(bench.board()), "--erase-budget", "5", rules=rules)
    assert result.ret == 2
    later = bench.verdicts()["NJ-1.28N(i)3/idle"]
    assert later[0] == "NOT TESTED"
    assert "times, and --erase-budget is 5" in later[1]


class Unplugging:
    """Takes the board away after the first test that passed."""

    def __init__(self, board: VirtualBoard) -> None:
        self.board = board

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.board.stop()


def test_unplugged_in_mid_suite_the_first_cause_stands(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "BACK_S", 0.1)
    board = bench.board()
    rules = "NJ-1.28N(i)2/idle,NJ-1.28N(i)3/idle,NJ-1.28N(i)4/idle"
    assert bench.run(ports(board), rules=rules, plugins=(Unplugging(board),)).ret == 2
    found = bench.verdicts()
    assert [verdict for verdict, _ in found.values()].count("NOT TESTED") == len(found)
    causes = {why for _, why in found.values() if why.startswith("the rig broke")}
    (cause,) = causes
    assert board.link_path in cause


def test_start_over_makes_a_new_board_in_a_new_world(bench: Bench) -> None:
    board = bench.board()
    with open_target(ports(board)) as target:
        target.link.do("box", count=7)
        target.link.do("break", part="exit", how="stuck_1")
        target.link.do("calendar", set=1_800_000_000)
        target.link.do("advance", ms=10_000)
        target.link.do("restart", how="power")
        target.reconnect()
        assert target.link.do("plant")["box"] == 7
        now = target.link.do("status")["now"]
        identity = target.start_over()
        assert (identity["boot"], identity["reset"]) == (1, "start_over")
        assert target.link.do("plant")["box"] == 0
        status = target.link.do("status")
        assert (status["standing"], status["calendar"] != 1_800_000_000) == ([], True)
        assert status["now"] < now + 10_000
        assert [entry[4:6] for entry in target.link.do("log")["entries"]] == [["power_on", "start_over"]]


def test_writes_are_counted_over_restarts(bench: Bench) -> None:
    one = LastingBoard("rpi-pico", "bench", budget=3)
    with open_target(ports(bench.board())) as target:
        target.start_over()
        ever = target.link.do("store")["ever"]
        target.link.do("door", which="stacker", open=True)
        target.link.do("restart", how="power")
        target.reconnect()
        told = target.link.do("store")
        assert told["ever"] > ever + told["writes"] - 1
        one.count(target)
        assert one.store_writes == told["ever"]
        assert one.wear() == f"store writes: {told['ever']}; the board's budget is 100,000 erases a sector"
        with pytest.raises(BudgetSpent):
            one.start_over(target)


def test_a_release_image_tells_no_writes(bench: Bench) -> None:
    one = LastingBoard("rpi-pico", "release")
    with open_target(ports(bench.board("release"))) as target:
        one.start_over(target)
        one.count(target)
    assert one.wear() == ""

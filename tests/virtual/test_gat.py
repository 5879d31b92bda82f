"""GAT from end to end: the PC's own terminal on a virtual shuffler, which nobody has told of each other."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pitbench import cli
from pitbench.image import Image, build_image
from pitbench.protocols.gat_host import CalculationFailed, GatHost, NotStarted
from pitbench.protocols.gat_report import SpecialFunction, differences, parse_report
from pitbench.targets import Board, open_target

SEED = b"1234"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    return build_image("shuffler", "bench", tmp_path_factory.mktemp("gat") / "image")


@pytest.fixture
def board(image: Image, tmp_path: Path) -> Iterator[Board]:
    with open_target("unix:", device="shuffler", image=image, root=tmp_path / "board") as board:
        yield board


@pytest.fixture
def host(board: Board) -> GatHost:
    return GatHost(board.wire)


def test_every_result_is_understood_and_as_the_files_say(host: GatHost, image: Image) -> None:
    for seed in (None, SEED, bytes(range(100))):
        xml = host.xml_result(seed)
        assert differences(host.report(seed), image.files, seed) == []
        assert differences(parse_report(xml.data, xml.format), image.files, seed) == []
        one = host.component("/boot/verify.mpy", seed)
        assert differences({one.id: one}, image.files, seed, whole=False) == []
    for path in ("/boot.py", "/image/crc", "/image/device/generator.mpy"):
        assert host.file(path) == image.files[path]


def test_its_special_functions_name_every_file(host: GatHost, image: Image) -> None:
    functions = host.functions()
    assert {f.parameters[0] for f in functions if f.name == "Component"} == set(image.files)
    assert SpecialFunction("Get File", ("%%PATH%%",)) in functions


def test_why_it_could_not_is_said(host: GatHost) -> None:
    with pytest.raises(CalculationFailed, match=r"\(status 0c\): no component /data/a\. Look"):
        host.file("/data/a")
    with pytest.raises(NotStarted, match=r"did not take up level ba \(it answers 01\)"):
        host.special("Put File", "/boot.py")


def test_long_results_again_and_again_on_a_heap_that_was_used(board: Board, host: GatHost) -> None:
    free = []
    for _ in range(8):
        assert len(host.functions()) > 50
        host.xml_result(SEED)
        host.report()
        free.append(board.link.do("heap")["free"])
    assert min(free) >= 39 * 1024
    assert max(free[2:]) - min(free[2:]) < 2048


def test_a_result_outlasts_a_cut(board: Board, host: GatHost) -> None:
    result = host.xml_result(SEED)
    board.cut()
    board.power_on()
    assert host.status().state == 4
    assert host.results(result.format, host.deadline()) == result.data


def test_the_command(board: Board, image: Image, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ["gat", "authenticate", "--wire", board.supervisor.wire_path, "--against", str(image.folder)]
    board.wire.close()
    for more in ([], ["--seed", "31323334"], ["--xml"], ["--xml", "--seed", "31323334"], ["--component", "/main.py"]):
        assert cli.main([*ask, *more]) == 0
        assert capsys.readouterr().out.endswith(f"Differences from {image.folder}: 0.\n")
    with (tmp_path / "board/image/device/drbg.mpy").open("ab") as file:
        file.write(b"\0")
    for more in (["--seed", "31323334"], ["--xml"], ["--component", "/image/device/drbg.mpy"]):
        assert cli.main([*ask, *more]) == 1
        assert "/image/device/drbg.mpy has " in capsys.readouterr().out
    assert cli.main([*ask[:4], "--component", "/none"]) == 2
    assert "no component /none" in capsys.readouterr().err
    assert cli.main(["gat", "functions", *ask[2:4]]) == 0
    assert "Component  /image/main.mpy  <SHA1_HMAC>\n" in capsys.readouterr().out
    assert cli.main(["gat", "status", *ask[2:4]]) == 0
    assert capsys.readouterr().out.startswith("GAT 3.50, done, XML.\nLast calculation: level ba, ")

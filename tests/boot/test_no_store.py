"""A board whose data lie on a chip of their own: without the chip it says so, and accepts nothing."""

import shutil

import pytest
from boot_bench import Bench
from pitbench import image as images
from pitbench.board_facts import board_facts
from pitbench.sources import FIRMWARE

CHIP = "def mount(facts, folder):\n    return {answer!r} and {answer!r} % facts['spi']\n"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a virtual board with such a chip, in the place of which stands a function."""
    facts = {**board_facts("unix"), "fram": {"spi": 2, "cs": "Y5", "bytes": 65536}}
    monkeypatch.setattr(images, "board_facts", lambda name: facts)
    shutil.copytree(FIRMWARE, tmp_path / "firmware", ignore=shutil.ignore_patterns("__pycache__"))
    benches = []

    def start(answer: str) -> Bench:
        (tmp_path / "firmware" / "boot" / "fram.py").write_text(CHIP.format(answer=answer))
        built = images.build_image("bill-acceptor", "bench", tmp_path / "out", sources=tmp_path / "firmware")
        images.install(built, tmp_path / "board")
        benches.append(Bench(tmp_path / "board", "power"))
        return benches[-1]

    yield start
    for bench in benches:
        bench.close()


def test_a_missing_chip_is_named_on_the_link_and_the_wire_reports_failure(start):
    bench = start("no FRAM answers on SPI %d")
    status = bench.ask(do="status")["ok"]
    assert (status["standing"], status["why"]) == (["store"], "no FRAM answers on SPI 2")
    assert bench.frame(bytes.fromhex("fc05112756"))[2:4] == b"\x49\xb0"


def test_with_its_chip_the_board_runs(start):
    bench = start("")
    assert bench.ask(do="hello", session=1)["ok"]["inoperable"] is None

"""A program error in the device ends the run: it is nobody's bad argument, and it tells no voucher's number."""

import os
import signal
from pathlib import Path

import pytest
from pitbench import items
from pitbench.image import build_image
from pitbench.link import BoardRebooted
from pitbench.sources import FIRMWARE
from pitbench.targets import open_target
from pitbench_hil.acceptor import AcceptorBench

NUMBER = "098765432112345678"
JUDGE = "    def judge(self, reading):\n"


def test_a_program_error_restarts_the_board_and_hides_the_number(tmp_path: Path) -> None:
    source = (FIRMWARE / "device/validator.py").read_text()
    patch = source.replace(JUDGE, JUDGE + '        raise ValueError(reading["barcode"])\n')
    image = build_image("bill-acceptor", "bench", tmp_path / "image", patches={"device/validator.py": patch})
    with open_target("unix:", image=image, root=tmp_path / "root" / "board") as board:
        bench = AcceptorBench(board)
        bench.start()
        bench.insert(items.voucher(NUMBER))
        with pytest.raises(BoardRebooted) as rebooted:
            bench.advance(2000)
        assert rebooted.value.by_program_error
        assert board.virtual is not None
        assert board.virtual.crashes == 0
        assert board.identity["reset"] == "crash"
        assert "software_error" in bench.logged()
        assert NUMBER not in str(bench.log())
        assert NUMBER not in (tmp_path / "root" / "console.log").read_text()


def test_an_interpreter_that_was_killed_is_no_program_error() -> None:
    with open_target("unix:") as board:
        assert board.virtual is not None
        assert board.virtual.pid
        os.kill(board.virtual.pid, signal.SIGKILL)
        with pytest.raises(BoardRebooted, match=r"rebooted \(died\)") as rebooted:
            board.link.do("status")
        assert not rebooted.value.by_program_error
        assert board.virtual.crashes == 1

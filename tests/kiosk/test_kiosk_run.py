"""The runner and the command, in real time over a pty."""

import argparse
import os
import pty
import threading
import time
import tty

import pytest
from acceptor_model import Acceptor, Paper, Times, frame
from pitbench.commands import kiosk as command
from pitbench.protocols.id003 import Decoder
from pitbench.transport import PortAbsent


@pytest.fixture
def acceptor():
    """A model acceptor on a pty, with the path that a host opens."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    model = Acceptor(times=Times(50, 50, 20, 20, 20))
    stop = threading.Event()
    thread = threading.Thread(target=_serve, args=(model, master, stop))
    thread.start()
    model.path = os.ttyname(slave)
    yield model
    stop.set()
    thread.join(5)
    os.close(master)
    os.close(slave)


def _serve(model: Acceptor, master: int, stop: threading.Event) -> None:
    decoder = Decoder()
    papers = [Paper(0x65), Paper(0x61)]
    while not stop.wait(0.002):
        now = int(time.monotonic() * 1000)
        try:
            data = os.read(master, 4096)
        except BlockingIOError:
            data = b""
        for heard in decoder.feed(data):
            os.write(master, model.answer(frame(heard.cmd, heard.data), now))
        model.step(now)
        if papers and model.insert(papers[0]):
            papers.pop(0)


def arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def test_the_command_takes_two_notes_and_prints_them(acceptor, tmp_path, capsys):
    args = arguments("--wire", acceptor.path, "--journal", str(tmp_path / "j"), "--seconds", "3")
    assert command.run(args) == 0
    printed = capsys.readouterr().out
    assert "Credited: note of 20.00, by vend valid." in printed
    assert "2 credits, 21.00 in all; 0 disputes." in printed
    assert acceptor.stacked == [Paper(0x65), Paper(0x61)]


def test_a_port_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(PortAbsent, match="There is no port"):
        command.run(arguments("--wire", str(tmp_path / "none"), "--journal", str(tmp_path / "j")))
    assert not (tmp_path / "j").exists()


def test_arguments_become_policy_and_settings(tmp_path):
    args = arguments("--wire", "x", "--take", "5,20", "--no-coupons", "--stack-2", "--interrupt")
    policy = command._policy(args)
    assert policy.denominations == frozenset({500, 2000})
    assert not policy.coupons
    assert policy.stack == 0x42
    assert args.interrupt

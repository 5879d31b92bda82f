"""The link on a board's USB: no byte is special, no length is, and a host that doesn't read holds nobody up."""

import json
import runpy
import sys
from types import SimpleNamespace

import crcmod.predefined
import pytest
from board_stdio import FIRMWARE, PACKET, SHORT_AFTER_MS, Board, module
from link.frame import REQUEST_MAX
from link.server import Server

crc16 = crcmod.predefined.mkCrcFun("kermit")
EVERY_BYTE = bytes(range(256))


def line(**request: object) -> bytes:
    text = json.dumps(request).encode()
    return text + b"\t%04x\n" % crc16(text)


def answers(data: bytes) -> list[dict]:
    return [json.loads(text.rpartition(b"\t")[0]) for text in data.splitlines()]


class Linked:
    """The link's server on a board's USB, with the interrupt character as boot.py leaves it."""

    def __init__(self, board: Board) -> None:
        self.usb = board.usb
        self.done: list[str] = []
        board.kbd_intr(-1)
        self.server = Server(board.serial.StdioPort(), crc16, (self,), dict)

    def takes(self, name: str) -> list[str] | None:
        return ["what=:str|:empty", "long?=:int"] if name == "note" else None

    def carry_out(self, request: dict) -> dict:
        self.done.append(request["what"])
        return {"x": "y" * request.get("long", 0)}

    def ask(self, data: bytes) -> list[dict]:
        self.usb.received = b""
        self.usb.host_sends(data)
        while self.usb.ring:
            self.server.poll()
        return answers(self.usb.received)


@pytest.fixture
def linked(board: Board) -> Linked:
    linked = Linked(board)
    assert linked.ask(line(id=0, do="hello", session=1)) == [{"id": 0, "ok": {"session": 1}}]
    return linked


def test_the_double_has_the_traps(board):
    usb, stdin, stdout = board.usb, sys.modules["usys"].stdin, sys.modules["usys"].stdout
    usb.host_sends(b"abc\x03d")
    with pytest.raises(KeyboardInterrupt):
        stdin.buffer.read(1)
    assert stdin.buffer.read(1) == b"d"
    usb.host_sends(b"\r")
    assert stdin.read(1) == "\n"
    stdout.write("a\n")
    assert usb.received == b"a\r\n"
    with pytest.raises(AssertionError, match="block"):
        stdin.buffer.readinto(bytearray(1))


def test_every_byte_comes_and_goes_as_it_is(board):
    board.kbd_intr(-1)
    port = board.serial.StdioPort()
    board.usb.host_sends(EVERY_BYTE)
    assert port.read() == EVERY_BYTE
    assert port.read() == b""
    assert port.write(EVERY_BYTE) == 256
    assert board.usb.received == EVERY_BYTE


def test_boot_disarms_the_interrupt_character_before_anything_else(board, monkeypatch):
    calls = []

    def kbd_intr(character: int) -> None:
        calls.append(character)
        board.kbd_intr(character)

    monkeypatch.setitem(sys.modules, "micropython", module("micropython", kbd_intr=kbd_intr))
    monkeypatch.setitem(sys.modules, "block", SimpleNamespace(start=lambda: calls.append("start")))
    monkeypatch.setitem(sys.modules, "uos", module("uos", ilistdir=lambda folder: []))
    runpy.run_path(str(FIRMWARE / "boot.py"))
    assert calls == [-1, "start"]


def test_a_frame_full_of_interrupt_characters_changes_nothing(linked):
    assert linked.ask(b"\x03" * 64 + b"\n")[0]["err"]["code"] == "bad_crc"
    what = "\x03" * 20
    text = ('{"id":1,"do":"note","what":"' + what + '"}').encode()
    linked.ask(text + b"\t%04x\n" % crc16(text))
    assert linked.ask(line(id=1, do="note", what="a"))[0]["id"] == 1
    assert linked.server.session == 1


@pytest.mark.parametrize("length", [PACKET - 1, PACKET, PACKET + 1, 2 * PACKET, 3 * PACKET])
def test_frames_of_whole_packets_are_answered(linked, length):
    shortest = len(line(id=1, do="note", what=""))
    request = line(id=1, do="note", what="w" * (length - shortest))
    assert len(request) == length
    assert linked.ask(request) == [{"id": 1, "ok": {"x": ""}}]


@pytest.mark.parametrize("length", [PACKET, 2 * PACKET, 8 * PACKET])
def test_replies_of_whole_packets_arrive(linked, length):
    shortest = len(line(id=1, ok={"x": ""})) - 2  # replies have no spaces
    reply = linked.ask(line(id=1, do="note", what="", long=length - shortest - 2))
    assert reply[0]["ok"]["x"]
    assert max(linked.usb.packets) <= PACKET


@pytest.mark.parametrize("ring", [512, 128])
def test_the_longest_request_passes_any_ring(monkeypatch, ring):
    linked = Linked(Board(monkeypatch, ring))
    linked.ask(line(id=0, do="hello", session=1))
    shortest = len(line(id=1, do="note", what="")) - 1
    request = line(id=1, do="note", what="w" * (REQUEST_MAX - shortest))
    assert len(request) == REQUEST_MAX + 1
    assert linked.ask(request) == [{"id": 1, "ok": {"x": ""}}]
    assert linked.done == ["w" * (REQUEST_MAX - shortest)]


def test_where_poll_always_says_yes_a_host_that_doesnt_read_costs_one_wait_a_write(board):
    board.usb.reads_by_host = board.usb.knows_its_room = False
    assert board.serial.StdioPort().write(b"x" * 1000) == board.usb.room
    assert board.usb.now == SHORT_AFTER_MS


def test_a_host_that_doesnt_read_costs_nothing_and_loses_nothing(linked):
    usb = linked.usb
    usb.reads_by_host, usb.received = False, b""
    usb.host_sends(line(id=1, do="note", what="a", long=900))
    while usb.ring:
        linked.server.poll()
    assert usb.now <= SHORT_AFTER_MS  # the piece that met the full FIFO, and none after it
    for _ in range(5):
        linked.server.poll()
    assert usb.now <= SHORT_AFTER_MS
    usb.reads_by_host = True
    linked.server.poll()
    assert answers(usb.received) == [{"id": 1, "ok": {"x": "y" * 900}}]

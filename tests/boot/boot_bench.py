"""A started board, spoken to byte by byte: no code of the link client or of a protocol host in between."""

import json
import os
import select
import time
from collections.abc import Callable
from pathlib import Path

import crcmod.predefined
from pitbench.virtual import VirtualBoard, find_interpreter

KERMIT = crcmod.predefined.mkCrcFun("kermit")


class Bench:
    """A started board, spoken to byte by byte."""

    def __init__(self, root: Path, cause: str, kind: str = "unix") -> None:
        self.board = VirtualBoard(root, find_interpreter(kind), cause=cause)
        self.board.start()
        self.link = os.open(self.board.link_path, os.O_RDWR | os.O_NOCTTY)
        self.wire = os.open(self.board.wire_path, os.O_RDWR | os.O_NOCTTY)

    def close(self) -> None:
        os.close(self.link)
        os.close(self.wire)
        self.board.stop()

    def line(self, seconds: float = 5.0) -> bytes:
        """The next line on the link."""
        return self.receive(self.link, lambda data: data.endswith(b"\n"), seconds)

    def receive(self, port: int, whole: Callable[[bytes], bool], seconds: float) -> bytes:
        data, end = b"", time.monotonic() + seconds
        while not whole(data) and time.monotonic() < end:
            if select.select([port], [], [], max(0.0, end - time.monotonic()))[0]:
                data += os.read(port, 4096)
        return data

    def tell(self, text: str) -> bytes:
        os.write(self.link, text.encode() + b"\n")
        return self.line()

    def ask(self, **request: object) -> dict:
        """A request in the link's own frame, and its reply."""
        return self.reply(pack(json.dumps({"id": 0, **request}).encode()))

    def reply(self, line: bytes) -> dict:
        os.write(self.link, line)
        return self.next_reply()

    def next_reply(self) -> dict:
        text, _, crc = self.line().rstrip(b"\n").rpartition(b"\t")
        assert crc == b"%04x" % KERMIT(text)
        return json.loads(text)

    def frame(self, data: bytes, seconds: float = 2.0) -> bytes:
        """Bytes sent over the wire, and the frame that answers them (empty: silence)."""
        os.write(self.wire, data)
        return self.receive(self.wire, lambda got: len(got) > 1 and len(got) >= got[1], seconds)


def pack(text: bytes) -> bytes:
    return text + b"\t%04x\n" % KERMIT(text)

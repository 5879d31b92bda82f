"""GAT's wire on a board of files in a folder, stepped by hand; digests are hashlib's and hmac's of this PC."""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import json
import sys
from pathlib import Path
from types import SimpleNamespace

from fake_port import Port
from hal.store import Files
from kermit import crc16

ROOT = Path(__file__).parents[2]
# The boot block's list of files; its own CRC has nothing to do here.
sys.modules.setdefault("crc", SimpleNamespace(crc16=crc16))
SPEC = importlib.util.spec_from_file_location("boot_verify", ROOT / "firmware" / "boot" / "verify.py")
verify = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(verify)
# The image builder's module, as a board has it.
sys.modules["product"] = PRODUCT = SimpleNamespace(DEVICE="shuffler", VERSION="0.1.0", REVISION="c0ffee", KIND="bench")

from wire import gat_report  # noqa: E402
from wire.gat import Wire  # noqa: E402

VECTORS = json.loads((ROOT / "tests" / "vectors" / "gat.json").read_text())
FRAMES = {(row["from"], row["name"]): bytes.fromhex(row["hex"]) for row in VECTORS["frames"]}
HOST = [data for (sender, _), data in FRAMES.items() if sender == "host"]
STATUS, LAST_STATUS = FRAMES["host", "status query"], FRAMES["host", "last status query"]
IDLE, STARTED = FRAMES["device", "idle, text"], FRAMES["device", "started"]

CODE = {
    "/boot.py": b"import block\n",
    "/main.py": b"",
    "/boot/block.mpy": b"M\x06\x00\x1f" + bytes(1500),
    "/boot/board.mpy": b"NAME",
    "/image/crc": b"\x12\x34",
    "/image/main.mpy": bytes(range(256)) * 9,
    "/image/device/drbg.mpy": b"drbg" * 128,
    "/image/device/generator.mpy": b"g" * 511,
    "/image/wire/gat.mpy": b"w",
}
SECRET = b"the secret of the technician"


class Board:
    """A board's files in a folder, with GAT on its wire. Every event that the wire gives the device is noted."""

    def __init__(self, root: Path, monkeypatch) -> None:
        self.root, self.events, self.calls, self.today = root, [], [], 1_700_000_000
        for path, data in {**CODE, "/data/a": SECRET}.items():
            (root / path[1:]).parent.mkdir(parents=True, exist_ok=True)
            (root / path[1:]).write_bytes(data)
        # What is absolute on a board lies in the folder.
        monkeypatch.setattr(gat_report, "open", self.open, raising=False)
        names = verify._names
        monkeypatch.setattr(verify, "_names", lambda folder: names(self.path(folder)))
        self.files = Files(str(root / "data"))
        self.start(1000)

    def open(self, path: str, mode: str):
        return Path(self.path(path)).open(mode)

    def path(self, path: str) -> str:
        return path if path.startswith(str(self.root)) else str(self.root) + path

    def start(self, now: int) -> None:
        """The board starts: what it had in memory is gone."""
        self.now, self.port = now, Port()
        self.heard = []
        device = SimpleNamespace(calendar=lambda: self.today, host_spoke=self.heard.append)
        identity = {"board": "unix", "uid": "0123", "python": "3.4.0"}
        boot = SimpleNamespace(find_code=verify.find_code, identity=lambda: identity)
        self.wire = Wire(device, self.port, crc16, self.step, boot, now)
        self.wire.store = SimpleNamespace(files=self.files)

    def step(self, event) -> None:
        self.events.append(event)

    def send(self, data: bytes, after_ms: int = 1) -> bytes:
        self.now += after_ms
        self.port.sent, self.port.incoming = b"", data
        self.wire.poll(self.now)
        return self.port.sent

    def turn(self, ms: int = 1) -> None:
        self.now += ms
        self.wire.tick(self.now)

    def finish(self) -> int:
        """Let the calculation end; how many turns it took."""
        turns = 0
        while self.wire.work:
            self.turn()
            turns += 1
            assert turns < 2000
        return turns

    def ask(self, command: int, data: bytes = b"") -> bytes:
        """Command and data of the one frame that answers."""
        reply = self.send(frame(command, data))
        assert reply == frame(reply[0], reply[2:-2])
        return reply[:1] + reply[2:-2]

    def status(self) -> int:
        return self.ask(1)[3]

    def result(self, form: int) -> bytes:
        """All parts of the last result."""
        text, number, status = b"", 1, 0
        while status == 0:
            reply = self.ask(3, bytes((form,)) + number.to_bytes(2, "big"))
            status = reply[1]
            assert status in (0, 2)
            assert reply[2:4] == number.to_bytes(2, "big")
            assert len(reply) - 4 == 248 or status == 2
            text, number = text + reply[4:], number + 1
        return text

    def calculate(self, level: int, parameter: bytes = b"") -> str:
        """A whole calculation that ends well, and its result."""
        assert self.ask(4, bytes((level,)) + parameter) == b"\x84\x03"
        self.finish()
        assert self.status() == 6
        return self.result(1 if level == 1 else 2).decode()

    def function(self, *words: str) -> str:
        return self.calculate(0xBA, b"\0" + "\t".join(words).encode())

    def fails(self, level: int, parameter: bytes = b"") -> str:
        assert self.ask(4, bytes((level,)) + parameter) == b"\x84\x03"
        self.finish()
        assert self.status() == 0x0C
        return self.result(1 if level == 1 else 2).decode()


def frame(command: int, data: bytes = b"") -> bytes:
    head = bytes((command, len(data) + 4)) + data
    return head + crc16(head).to_bytes(2, "big")


def digest(data: bytes, seed: bytes = b"", how: str = "sha1") -> str:
    return hmac.new(seed, data, how).hexdigest() if seed else hashlib.new(how, data).hexdigest()


def rows(report: str) -> dict[str, str]:
    """Path → digest of a report of level 1."""
    pairs = [line.split("  ", 1) for line in report.split("\r\n") if "  /" in line]
    assert len(pairs) == len({path for _, path in pairs})
    return {path: found for found, path in pairs}


def expected(seed: bytes = b"", how: str = "sha1", files: dict[str, bytes] = CODE) -> dict[str, str]:
    return {path: digest(data, seed, how) for path, data in files.items()}

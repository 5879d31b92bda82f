"""The boot block's CRC in the PC's own code: the same values as crcmod's, for whatever holds bytes."""

import json
import platform
import subprocess
from pathlib import Path

import crcmod.predefined
import pytest
from pitbench.board_facts import board_facts, march_of
from pitbench.compiler import compile_one
from pitbench.image import build_image
from pitbench.sources import FIRMWARE
from pitbench.virtual import find_interpreter

LENGTHS = (0, 1, 2, 63, 64, 65, 511, 512, 513, 4096)
ASK = """
import json, sys
sys.path[:] = [sys.argv[1]]
from crc import crc16
found = []
for n in json.loads(sys.argv[2]):
    data = bytes((i * 31 + i // 256 + n) & 255 for i in range(n))
    found.append([crc16(data), crc16(bytearray(data)), crc16(memoryview(data)), crc16(data, 0xBEEF)])
print(json.dumps([crc16(b"123456789"), found]))
"""
# Catalogue of parametrised CRC algorithms, CRC-16/KERMIT: check.
CHECK = 0x2189


def expected(length: int) -> list[int]:
    data = bytes((i * 31 + i // 256 + length) & 255 for i in range(length))
    crc = crcmod.predefined.mkCrcFun("kermit")
    return [crc(data)] * 3 + [crc(data, 0xBEEF)]


def test_machine_of_the_pc_chooses() -> None:
    assert march_of({"march": {platform.machine(): "x64", "other": "armv6m"}}) == "x64"
    assert march_of({"march": {"other": "armv6m"}}) is None
    assert march_of({"march": "armv6m"}) == "armv6m"
    assert march_of({}) is None


@pytest.mark.skipif(march_of(board_facts("unix")) is None, reason="the boot block's CRC is bytecode on this machine")
def test_same_values(tmp_path: Path) -> None:
    image = build_image("bill-acceptor", "release", tmp_path / "image")
    # mpy-cross writes the CPU into bits 2 to 5 of the third byte; bytecode has none.
    assert image.files["/boot/crc.mpy"][2] >> 2 & 15
    assert asked(tmp_path / "image" / "boot", tmp_path) == [CHECK, [expected(length) for length in LENGTHS]]


def test_same_values_in_bytecode(tmp_path: Path) -> None:
    text = (FIRMWARE / "boot" / "crc.py").read_text()
    (tmp_path / "crc.mpy").write_bytes(compile_one("boot/crc.py", text, "crc.py"))
    assert asked(tmp_path, tmp_path) == [CHECK, [expected(length) for length in LENGTHS]]


def asked(boot: Path, folder: Path) -> list:
    script = folder / "ask.py"
    script.write_text(ASK)
    command = [*find_interpreter("unix").bare, str(script), str(boot), json.dumps(LENGTHS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)

"""The type check of the firmware: each port is checked, and what MicroPython hasn't got is an error."""

import shutil

import pytest
from firmware_types import ROOT, check, ports, sources

FIRMWARE = ROOT / "firmware"
WRONG = """

def wrong():
    import hashlib
    import os
    import time

    os.fsync(3)
    time.monotonic()
    hashlib.blake2b()
    time.ticks_ms("now")
    import dataclasses
"""
ERRORS = ('"fsync"', '"monotonic"', '"blake2b"', 'for "ticks_ms"', 'named "dataclasses"')


def test_every_port_of_the_firmware_is_checked():
    checked = {path for port in ports() for path in sources(FIRMWARE, port)}
    assert checked == {str(path) for path in FIRMWARE.rglob("*.py") if "__pycache__" not in path.parts}


def test_a_port_is_checked_without_the_others():
    own = [path for path in sources(FIRMWARE, "rp2") if "/port_" in path]
    assert own == [str(FIRMWARE / "hal" / "port_rp2.py")]


@pytest.mark.parametrize(
    ("port", "file", "wrong", "errors"),
    [
        ("unix", "hal/power.py", WRONG, ERRORS),
        ("rp2", "hal/port_rp2.py", "\nimport umachine\n\numachine.UART(0).read_all()\n", ['"read_all"']),
        ("stm32", "boot/serial.py", "\numachine.WDT(patience=3)\n", ['"WDT"']),
    ],
)
def test_the_type_check_knows_what_micropython_has_not(port, file, wrong, errors, tmp_path):
    for folder in ("firmware", "typings"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    with (tmp_path / "firmware" / file).open("a") as f:
        f.write(wrong)
    run = check(port, tmp_path)
    found = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert len(found) == len(errors), run.stdout + run.stderr
    assert all(file in line and error in line for line, error in zip(found, errors, strict=True))

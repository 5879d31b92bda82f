"""Discovery and hot-plug by the real pyserial and libusb, on devices that umockdev makes."""

import json
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

WRAPPER = "umockdev-wrapper"
MISSING = f"{WRAPPER} is missing: install umockdev and libusb-1.0-0 (Debian) to try discovery on devices of its own"


@pytest.fixture(scope="module")
def steps() -> dict[str, dict[str, Any]]:
    if shutil.which(WRAPPER) is None:
        # A skip shows its reason to nobody; a warning stands in the summary.
        warnings.warn(MISSING, stacklevel=2)
        pytest.skip(MISSING)
    command = [WRAPPER, sys.executable, str(Path(__file__).with_name("plugged.py"))]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return {told["step"]: told for told in map(json.loads, run.stdout.splitlines())}


def boards(step: dict[str, Any]) -> list[list[str]]:
    return [[serial, port] for serial, port, _ in step["boards"]]


def test_a_root_hub_alone_is_no_board(steps: dict[str, dict[str, Any]]) -> None:
    assert steps["nothing"]["boards"] == []


def test_two_boards_are_told_apart_by_their_serial_numbers(steps: dict[str, dict[str, Any]]) -> None:
    assert boards(steps["two"]) == [["E660A", "/dev/ttyACM0"], ["E660B", "/dev/ttyACM1"]]
    assert steps["two"]["port"] == "/dev/ttyACM1"


def test_a_board_that_is_pulled_out_is_gone(steps: dict[str, dict[str, Any]]) -> None:
    assert boards(steps["unplugged"]) == [["E660A", "/dev/ttyACM0"]]
    assert steps["unplugged"]["again"] is None
    assert "No USB serial port has the serial number E660B. Plugged in now: E660A." in steps["unplugged"]["port"]


def test_a_board_that_comes_back_under_another_name_is_found(steps: dict[str, dict[str, Any]]) -> None:
    assert boards(steps["renamed"]) == [["E660A", "/dev/ttyACM0"], ["E660B", "/dev/ttyACM7"]]
    assert steps["renamed"]["port"] == steps["renamed"]["again"] == "/dev/ttyACM7"


def test_libusb_sees_a_chip_in_its_boot_rom(steps: dict[str, dict[str, Any]]) -> None:
    """It has no serial port; its serial number comes from the system, as umockdev answers no transfers."""
    assert ["E0C912", "", "in its boot ROM"] in steps["boot ROM"]["boards"]
    assert len(steps["boot ROM"]["boards"]) == 3

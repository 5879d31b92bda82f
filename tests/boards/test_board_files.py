"""boards/*.toml: every fact is there, no pin has two uses, and the UARTs exist on the pins that they are given."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pitbench import board_facts as facts_of
from pitbench.board_facts import REQUIRED, REQUIRED_ON_BOARDS, VIRTUAL_PORTS, board_facts, board_module, board_names
from pitbench.errors import PitbenchError
from pitbench.image import Image, build_image
from pitbench.image_error import ImageError

SENSORS = {"entry", "centre", "exit", "lever", "chute", "moving", "home", "box", "lock", "full"}
SENSORS |= {"acceptor_door", "stacker_door", "battery", "scanner"}
OUTPUTS = {"transport_motor", "stack_motor", "emitters", "light_red", "light_amber", "light_green"}
NO_PADS = {"GND", "AGND", "3V3", "5V", "VIN", "VBUS", "VSYS", "RUN", "RST", "RESET", "NRST", "NC"}
ON_BOARDS = [name for name in board_names() if board_facts(name)["port"] not in VIRTUAL_PORTS]

# What MicroPython's sources say: UART → its tx and rx, on boards where they are fixed.
FIXED_UARTS = {
    "pyboard-v1.1": {6: ("Y1", "Y2"), 4: ("X1", "X2"), 1: ("X9", "X10"), 3: ("Y9", "Y10"), 2: ("X3", "X4")},
    "nucleo-h743zi": {2: ("D53", "D52"), 6: ("D16", "D21")},
    "nucleo-f429zi": {2: ("PD5", "PD6"), 5: ("PC12", "PD2"), 4: ("PA0", "PC11")},
    "teensy-4.1": {1: ("D1", "D0"), 2: ("D8", "D7"), 3: ("D14", "D15")},
    # A SERCOM sends on its first pad: PA22 and PA23 are SERCOM 3, PB12 and PB13 SERCOM 4.
    "adafruit-metro-m4": {3: ("D1", "D0"), 4: ("D7", "D4")},
}
# Names that a board gives to the chip's GPIOs.
NANO = {"TX": 0, "RX": 1, "D12": 4, "D10": 5}


@pytest.fixture(params=ON_BOARDS)
def board(request: pytest.FixtureRequest) -> dict[str, Any]:
    return board_facts(request.param)


def uses(facts: dict[str, Any]) -> list[str | int]:
    """Every pin that a board's file gives a use to."""
    pins = [facts["strap"]]
    pins += [facts[line][end] for line in ("wire", "rig") if line in facts for end in ("tx", "rx")]
    pins += [row[key] for table in ("pins", "outputs") for row in facts[table].values() for key in row if "pin" in key]
    return pins + ([facts["fram"]["cs"]] if "fram" in facts else [])


def test_there_are_boards_of_every_port():
    ports = {board_facts(name)["port"] for name in board_names()}
    assert ports == {"unix", "wasm", "rp2", "esp32", "stm32", "samd", "mimxrt"}
    assert len(ON_BOARDS) >= 10


@pytest.mark.parametrize("name", board_names())
def test_a_file_is_named_as_its_board_and_lacks_no_fact(name):
    facts = board_facts(name)
    assert facts["name"] == name
    assert facts.keys() >= (REQUIRED if facts["port"] in VIRTUAL_PORTS else REQUIRED_ON_BOARDS)
    assert not {"like", "wired_like"} & facts.keys()


def test_usb_ids_are_vid_and_pid(board):
    ids = board["usb"] + board["bootloader"]
    assert board["usb"] or "emulated" in board["name"]
    assert [one for one in ids if not re.fullmatch(r"[0-9A-F]{4}:[0-9A-F]{4}", one)] == []


def test_boards_that_share_a_usb_id_differ_in_what_the_interpreter_says():
    real = [board_facts(name) for name in ON_BOARDS if "emulated" not in name]
    assert len({facts["machine"] for facts in real}) == len(real)


def test_no_pin_has_two_uses(board):
    pins = uses(board)
    assert sorted({pin for pin in pins if pins.count(pin) > 1}, key=str) == []


def test_every_pin_is_a_pad_that_people_can_reach(board):
    pads = [pad for column in board["header"].values() for pad in column]
    names = {str(pin) for pin in uses(board)}
    assert sorted(names - set(pads)) == []
    assert not names & NO_PADS


def test_sensors_and_outputs_are_those_that_the_device_knows(board):
    assert board["pins"].keys() <= SENSORS
    assert board["outputs"].keys() <= OUTPUTS
    assert set(board["sensors"]["from_pins"]) <= board["pins"].keys()
    for row in board["pins"].values():
        assert row["pull"] in ("up", "down", "none")
        assert row["active"] in ("high", "low")
        assert row["part"]
    assert all(row["part"] for row in board["outputs"].values())


def test_a_wire_that_comes_off_never_reads_as_all_is_well(board):
    """An open pad: no item, no box, an open door, a flat battery."""
    at_rest = {name: (row["pull"] == "up") == (row["active"] == "high") for name, row in board["pins"].items()}
    assert {name for name, level in at_rest.items() if level} <= {"acceptor_door", "stacker_door"}


def gpio(name: str | int) -> int:
    return NANO[name] if name in NANO else int(str(name).removeprefix("GP"))


def test_uarts_exist_on_their_pins(board):
    lines = [board[line] for line in ("wire", "rig") if line in board]
    assert len({line["uart"] for line in lines}) == len(lines)
    for line in lines:
        if board["port"] == "rp2":
            tx, rx = gpio(line["tx"]), gpio(line["rx"])
            # RP2040 data sheet, table 2: UARTs alternate every eight pins, beginning at 4.
            assert (tx % 4, rx % 4) == (0, 1)
            assert {(tx + 4) // 8 % 2, (rx + 4) // 8 % 2} == {line["uart"]}
        elif board["port"] == "esp32":
            assert line["uart"] in (1, 2)  # 0 is the console; any pin will do
        else:
            assert FIXED_UARTS[board["name"]][line["uart"]] == (line["tx"], line["rx"])


def test_what_a_board_says_of_its_store_agrees(board):
    assert board["cut_safe"] == ("cut_safe_store" in board["capabilities"]) == ("cut_safe_store" not in board["lacks"])
    assert (board["store"] == "fram") == ("fram" in board)
    assert board["store"] in ("lfs-nor", "fram", "files")
    if board["fs"] == "fat":
        assert board["store"] != "lfs-nor"
    assert not set(board["lacks"]) & set(board["capabilities"])


def test_a_board_that_mounts_its_flash_elsewhere_says_how_it_becomes_the_root(board):
    assert ("root" in board) == ("remount" in board) == (board["port"] in ("stm32", "mimxrt"))
    if "root" in board:
        assert f"umount('{board['root']}')" in board["remount"]
        compile(board["remount"], board["name"], "exec")


def test_the_watchdog_can_count_that_far(board):
    most = {"rp2": 8388, "samd": 16384, "stm32": 32760, "mimxrt": 128000, "esp32": 60000}[board["port"]]
    assert 0 <= board["watchdog_ms"] <= most


def module(facts: dict[str, Any]) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(board_module(facts), names)
    return names


def test_the_boot_blocks_facts_are_those_of_the_file():
    names = module(board_facts("rpi-pico"))
    assert names["PINS"]["entry"] == ("GP6", "up", 0)
    assert names["PINS"]["acceptor_door"] == ("GP2", "up", 1)
    assert names["OUTPUTS"]["transport_motor"] == ("GP16", "GP17")
    assert names["OUTPUTS"]["emitters"] == ("GP19",)
    assert names["WIRE"] == {"uart": 0, "tx": "GP0", "rx": "GP1"}
    assert (names["STRAP"], names["FRAM"], names["FROM_PINS"]) == ("GP22", None, ())
    unix = module(board_facts("unix"))
    assert (unix["STRAP"], unix["WIRE"], unix["PINS"], unix["WATCHDOG_MS"]) == (None, None, {}, 0)


def test_a_file_says_only_what_differs(tmp_path, monkeypatch):
    for name in ("rpi-pico", "esp32-s3-devkitc"):
        shutil.copy(facts_of.BOARDS / f"{name}.toml", tmp_path)
    monkeypatch.setattr(facts_of, "BOARDS", tmp_path)
    (tmp_path / "mine.toml").write_text('like = "rpi-pico"\nname = "mine"\n[wire]\nuart = 1\ntx = "GP8"\nrx = "GP9"\n')
    mine, pico = board_facts("mine"), board_facts("rpi-pico")
    assert mine == {**pico, "name": "mine", "wire": {"uart": 1, "tx": "GP8", "rx": "GP9"}}
    esp = board_facts("esp32-s3-devkitc")
    assert esp["pins"]["entry"] == {**pico["pins"]["entry"], "pin": 5}
    assert "battery" not in esp["pins"]


def test_a_file_that_lacks_a_fact_is_refused_by_its_name(tmp_path, monkeypatch):
    monkeypatch.setattr(facts_of, "BOARDS", tmp_path)
    (tmp_path / "poor.toml").write_text('name = "poor"\nport = "unix"\n')
    with pytest.raises(ImageError, match="poor.toml lacks .*cut_safe"):
        board_facts("poor")
    with pytest.raises(PitbenchError, match="nowhere"):
        board_facts("nowhere")


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Image]:
    """One bench image a board."""
    folder: Path = tmp_path_factory.mktemp("images")
    return {name: build_image("bill-acceptor", "bench", folder / name, board=name) for name in board_names()}


def test_every_board_has_the_same_image(images):
    assert len({(image.digest, image.crc, image.revision) for image in images.values()}) == 1


def test_a_board_has_its_own_port_beside_its_boot_block_and_nobody_elses(images):
    port = {name: image.files["/boot/port.mpy"] for name, image in images.items()}
    assert len({port[name] for name in ("unix", "wasm", "rpi-pico", "pyboard-v1.1", "teensy-4.1")}) == 5
    assert port["rpi-pico"] == port["rpi-pico2"]
    assert not [path for image in images.values() for path in image.files if "port_" in path]


def test_the_first_file_of_a_board_knows_strap_and_folder(images):
    first = {name: image.files["/boot.py"].decode() for name, image in images.items()}
    assert 'STRAP = None\nBOOT = "/boot"\n' in first["unix"]
    assert "STRAP = 'GP22'\nBOOT = \"/boot\"\n" in first["rpi-pico"]
    assert "STRAP = 4\n" in first["esp32-s3-devkitc"]
    assert "STRAP = 'Y12'\nBOOT = \"/flash/boot\"\n" in first["pyboard-v1.1"]

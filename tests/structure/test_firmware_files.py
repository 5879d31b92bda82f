"""Firmware as files: no docstring, nobody's orphan, in an image of the right kind, and in MicroPython's words."""

from __future__ import annotations

import ast
import json
import subprocess
from pathlib import Path

import pytest
from pitbench.image import build_image
from pitbench.sources import TUNNEL, Tree
from pitbench.virtual.interpreter import find_interpreter
from tree import FIRMWARE, imports, parsed, sources

IDS = {"ids": lambda path: str(path.relative_to(FIRMWARE))}
DEVICES = Tree().devices
PRODUCTS = [(device, wire) for device in DEVICES for wire in Tree().wires(device)]


def name(path: Path) -> str:
    return path.relative_to(FIRMWARE).as_posix()


@pytest.mark.parametrize("path", sources(FIRMWARE), **IDS)
def test_no_docstring_takes_room_on_a_board(path):
    strings = [
        node.lineno
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    assert strings == []


def test_every_file_is_in_some_image_or_on_some_board():
    in_images = {file for device, wire in PRODUCTS for file in Tree().files(device, "bench", wire, tunnel=True)}
    assert {name(path) for path in sources(FIRMWARE)} == in_images


def test_every_pattern_of_a_product_matches_a_file_and_every_product_has_its_device():
    for device, wire in PRODUCTS:
        stem, files = device.replace("-", "_"), set(Tree().files(device, "bench", wire))
        assert {f"device/{stem}.py", f"bench/plant/{stem}.py", f"wire/{wire}.py"} <= files


def dotted(path: Path) -> str:
    return name(path).removesuffix(".py").replace("/", ".")


def test_no_file_is_an_orphan():
    named = {found for path in sources(FIRMWARE) for found in imports(path)}
    text = "".join(path.read_text() for path in sources(FIRMWARE))
    orphans = []
    for path in sources(FIRMWARE):
        late = f'"{dotted(path)}"' in text or path.parent.name == "plant" or name(path) in _by_product()
        by_board = path.parent == FIRMWARE or name(path).startswith(("boot/", "hal/port_"))
        if not (dotted(path) in named or late or by_board):
            orphans.append(name(path))
    assert orphans == []


def _by_product() -> set[str]:
    files = {"hal/sensors.py", *TUNNEL}
    for device, wire in PRODUCTS:
        facts = Tree().constants(device, wire)
        files |= {f"device/{device.replace('-', '_')}.py", f"wire/{facts['WIRE']}.py"}
        files |= {module.replace(".", "/") + ".py" for module in facts["LATE_OPS"][::2]}
    return files


@pytest.mark.parametrize("device", DEVICES)
def test_a_release_image_holds_nothing_of_the_bench(device, tmp_path):
    image = build_image(device, "release", tmp_path / "board")
    on_board = [path.relative_to(image.folder).as_posix() for path in image.folder.rglob("*") if path.is_file()]
    assert not [path for path in on_board if "bench" in path]
    assert "image/main.mpy" in on_board
    words = (b"store_fault", b"clear_path", b"torn_prefix", b"sticks_at")
    found = [(path, word) for path in on_board for word in words if word in (image.folder / path).read_bytes()]
    assert found == []


# -- MicroPython's own names

BUILT_IN = "array binascii gc hashlib json micropython os select struct sys time"


def used(path: Path) -> set[tuple[str, str]]:
    """(module, name) of everything that a source takes from a built-in module."""
    known = {module: module for word in BUILT_IN.split() for module in (word, "u" + word)}
    found, tree = set(), parsed(path)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in known:
            found |= {(node.module, alias.name) for alias in node.names}
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            found.add((node.value.id, node.attr))
    imported = imports(path)
    return {(module, attribute) for module, attribute in found if module in imported}


ASK = """
import json
missing = []
for module, name in WANTED:
    try:
        if not hasattr(__import__(module), name):
            missing.append([module, name])
    except ImportError:
        missing.append([module, name])
print(json.dumps(missing))
"""


# The `micropython.viper` of this file is the compiler's, on the PC: no interpreter ever looks for it.
COMPILED_AWAY = FIRMWARE / "boot" / "crc_viper.py"


def test_every_name_taken_from_micropython_is_in_the_interpreter(tmp_path):
    wanted = sorted({pair for path in sources(FIRMWARE) if path != COMPILED_AWAY for pair in used(path)})
    assert len(wanted) > 25
    assert missing(wanted, tmp_path) == []
    assert missing([("os", "fsync"), ("utime", "monotonic")], tmp_path) == [["os", "fsync"], ["utime", "monotonic"]]


def missing(wanted: list[tuple[str, str]], folder: Path) -> list[list[str]]:
    script = folder / "ask.py"
    script.write_text(f"WANTED = {wanted!r}\n{ASK}")
    command = [*find_interpreter("unix").bare, str(script)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout)

"""One direction: who may import whom, parsed from the sources. The table is that of docs/design.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tree import FIRMWARE, ROOT, imports, parsed, root, sources

# Built-ins of MicroPython that a stray file can't shadow: by their u-name, and the two that have none.
U_NAMES = {"uarray", "ubinascii", "uhashlib", "ujson", "uos", "uselect", "ustruct", "usys", "utime"}
U_NAMES |= {"gc", "micropython", "umachine"}
# Built-ins of boards that are looked for before any file: nothing can shadow them.
FIXED = {"vfs", "pyb", "mimxrt"}
BOOT = {path.stem for path in (FIRMWARE / "boot").glob("*.py")}
# Made by the image builder beside the boot block: facts of the board, the signing key's modulus, its hal/port_*.py, and
# boot/responder_*.py of the product's wire.
BOARD_MADE = {"board", "key", "port", "responder_wire"}
PURE = {"micropython", "hashlib", "json", "binascii", "array"}
FIRMWARE_PLACES = {"hal", "device", "wire", "link", "bench"}

# Place → what may be imported there, by first name.
TABLE = {
    "boot.py": U_NAMES | {"block"},
    "boot": U_NAMES | FIXED | BOOT | BOARD_MADE | {"main"},
    "main.py": FIRMWARE_PLACES | PURE | {"gc", "sys", "product"},
    "hal": U_NAMES | FIXED | {"hal", "host", "serial"},
    "device": PURE | {"device"},
    "wire": PURE | {"device", "wire", "product", "gc", "ucryptolib"},
    "link": PURE | {"hal", "device", "link", "gc", "os", "sys"},
    "bench": PURE | {"hal", "device", "link", "bench", "sys"},
}
# Who loads a module by a name that is made at run time: one door, which holds it against the manifest before.
LOADERS = {"link/late.py"}
# Who imports within a function, and when: pins at the start, right after the boot block has checked them.
AT_THE_START = {"hal/wiring.py"}
FIRMWARE_NAMES = FIRMWARE_PLACES | {"boot", "main", "block", "verify", "responder"}


def place(path: Path) -> str:
    return path.relative_to(FIRMWARE).parts[0]


@pytest.mark.parametrize("path", sources(FIRMWARE), ids=lambda path: str(path.relative_to(FIRMWARE)))
def test_firmware_imports_only_what_its_place_may(path):
    allowed = TABLE[place(path)]
    assert {name for name in imports(path) if root(name) not in allowed} == set()


def test_every_place_has_sources():
    assert {place(path) for path in sources(FIRMWARE)} == set(TABLE)


@pytest.mark.parametrize("path", sorted((FIRMWARE / "hal").glob("port_*.py")), ids=lambda path: path.name)
def test_a_port_is_part_of_the_boot_block_too_and_imports_nothing_of_the_image(path):
    assert {name for name in imports(path) if root(name) not in U_NAMES | FIXED | {"host", "serial"}} == set()


def test_modules_are_loaded_by_name_only_where_it_is_said():
    dynamic = {"__import__", "exec", "eval", "compile"}
    found = set()
    for path in sources(FIRMWARE):
        calls = [node.func for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
        if any(isinstance(func, ast.Name) and func.id in dynamic for func in calls):
            found.add(path.relative_to(FIRMWARE).as_posix())
    assert found == LOADERS


def test_nothing_of_the_image_is_imported_late_but_through_that_door():
    found = set()
    for path in sources(FIRMWARE):
        functions = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.FunctionDef)]
        late = [node for f in functions for node in ast.walk(f) if isinstance(node, ast.Import | ast.ImportFrom)]
        if late and place(path) not in ("boot", "boot.py"):
            found.add(path.relative_to(FIRMWARE).as_posix())
    assert found == AT_THE_START


PC = [path for folder in ("host", "hil") for path in sources(ROOT / folder)]


@pytest.mark.parametrize("path", PC, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_pc_side_never_imports_firmware_and_host_never_hil(path):
    forbidden = FIRMWARE_NAMES | ({"pitbench_hil"} if path.is_relative_to(ROOT / "host") else set())
    assert {name for name in imports(path) if root(name) in forbidden | {"tests"}} == set()


# What only a part of the PC side may import → that part. Nobody else waits for it to load.
EMULATED = "host/pitbench/emulated/"
KEPT_APART = {"rp2040py": (EMULATED,), "pitbench.emulated": (EMULATED, "host/pitbench/targets.py")}


def within(name: str, package: str) -> bool:
    return f"{name}.".startswith(f"{package}.")


@pytest.mark.parametrize("path", PC, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_emulator_is_imported_by_its_own_files_and_by_the_targets_alone(path):
    kept_from = [
        package for package, places in KEPT_APART.items() if not path.relative_to(ROOT).as_posix().startswith(places)
    ]
    assert [name for name in imports(path) for package in kept_from if within(name, package)] == []


def test_the_targets_import_the_emulator_late():
    body = parsed(ROOT / "host" / "pitbench" / "targets.py").body
    at_start = [node.module for node in body if isinstance(node, ast.ImportFrom)]
    assert "pitbench.addresses" in at_start
    assert not [name for name in at_start if within(str(name), "pitbench.emulated")]


def test_firmware_never_imports_the_pc_side():
    names = {root(name) for path in sources(FIRMWARE) for name in imports(path)}
    assert not names & {"pitbench", "pitbench_hil", "crcmod", "pytest"}

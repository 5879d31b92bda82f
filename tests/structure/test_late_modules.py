"""What is loaded late is vouched for by `load`, and so is all that it imports: an import of its own asks nobody."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pitbench.sources import Tree
from pitbench_hil.authentic import LATE
from pitbench_hil.common_device import described, has_description
from tree import FIRMWARE, imports, parsed, sources

DEVICES = Tree().devices
KINDS = ("bench", "release")
# Loaded while main.py makes its machine, right after the boot block has looked, by names that are made at run time; a
# release image has sensors where a bench image has a plant.
AT_THE_START = ("device.{device}", "wire.{wire}")
OF_EACH_KIND = {"bench": "bench.plant.{device}", "release": "hal.sensors"}


def path_of(module: str) -> Path:
    return FIRMWARE / f"{module.replace('.', '/')}.py"


@cache
def imported(module: str) -> frozenset[str]:
    return frozenset(imports(path_of(module)))


def own(module: str, files: frozenset[str]) -> set[str]:
    """Modules of the image that a module imports."""
    return {name for name in imported(module) if f"{name.replace('.', '/')}.py" in files}


def closure(first: set[str], files: frozenset[str]) -> set[str]:
    """These modules and all that they import."""
    found, waiting = set[str](), set(first)
    while waiting:
        module = waiting.pop()
        found.add(module)
        waiting |= own(module, files) - found
    return found


@cache
def files_of(device: str, kind: str) -> frozenset[str]:
    return frozenset(Tree().files(device, kind))


@cache
def started(device: str, kind: str) -> frozenset[str]:
    """Modules that are there once the machine is made."""
    wire, files = Tree().constants(device)["WIRE"], files_of(device, kind)
    names = (*AT_THE_START, OF_EACH_KIND[kind])
    first = {name.format(device=device.replace("-", "_"), wire=wire) for name in names}
    return frozenset(closure({"main", *first}, files))


def called(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def loads(tree: ast.AST) -> list[str]:
    """Modules that are loaded by name there, in order."""
    calls = [node for node in ast.walk(tree) if called(node, "load")]
    calls.sort(key=lambda node: (node.lineno, node.col_offset))
    return [node.args[0].value for node in calls if isinstance(node.args[0], ast.Constant)]


def late_operations(device: str, path: Path) -> Iterator[str]:
    """Modules of operations that `Late` loads with the first request."""
    for node in ast.walk(parsed(path)):
        if called(node, "Late") and isinstance(node.args[1], ast.Constant):
            yield node.args[1].value
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "LATE"
            and isinstance(node.value, ast.Tuple)
        ):
            yield from (name.value for name in node.value.elts[:1])


@cache
def late(device: str, kind: str) -> set[str]:
    """Every module of an image that is loaded by name, and isn't there at the start."""
    files = files_of(device, kind)
    paths = [path for path in sources(FIRMWARE) if path.relative_to(FIRMWARE).as_posix() in files]
    found = {name for path in paths for name in (*loads(parsed(path)), *late_operations(device, path))}
    found |= set(Tree().constants(device).get("LATE_OPS", ())[::2])
    # Named in main.py, for the other kind of image.
    found -= started(device, kind) | {OF_EACH_KIND["release"]}
    return {name for name in found if f"{name.replace('.', '/')}.py" in files}


@cache
def loading_functions() -> list[list[str]]:
    """What each function of the firmware loads by name, in order."""
    functions = (node for path in sources(FIRMWARE) for node in ast.walk(parsed(path)))
    return [loads(node) for node in functions if isinstance(node, ast.FunctionDef)]


def loaded_before(module: str) -> set[str]:
    """Modules that `load` loads before this one, in each function that loads it."""
    before = []
    for names in loading_functions():
        if module in names:
            before.append(set(names[: names.index(module)]))
    return set.intersection(*before) if before else set()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", DEVICES)
def test_a_late_module_imports_only_what_is_there_or_was_vouched_for_before(device, kind):
    files, there = files_of(device, kind), started(device, kind)
    found = late(device, kind)
    assert found
    unvouched = {module: left for module in found if (left := own(module, files) - there - loaded_before(module))}
    assert unvouched == {}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", DEVICES)
def test_what_every_image_loads_late_is_found_by_this_test(device, kind):
    assert {"link.audit", "link.service", "link.args_words", "device.access"} <= late(device, kind)
    assert {"main", "link.ops", "link.server", "hal.store"} <= started(device, kind)


def loaded_later(device: str, kind: str) -> set[str]:
    """Those that no start loads: where there is a generator, it draws its seed then."""
    return late(device, kind) - ({"hal.entropy"} if "device.generator" in started(device, kind) else set())


@pytest.mark.parametrize("device", [name for name in DEVICES if has_description(name)])
def test_the_suite_exchanges_every_file_that_is_loaded_late(device):
    tried = {name.replace("/", ".") for name in {**LATE, **described(device).late}}
    assert tried == loaded_later(device, "bench")
    assert loaded_later(device, "release") <= tried

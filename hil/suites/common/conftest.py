"""Tests of what devices share run over the tables of the device under test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from pitbench.image import Image
from pitbench_hil.access_rights import COMMISSION, ENTRY, Request
from pitbench_hil.acts import nothing
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.authentic import Altered
from pitbench_hil.check import Check
from pitbench_hil.common_device import Device, described, has_description
from pitbench_hil.drawing_bench import DrawingBench
from pitbench_hil.gat_terminal import Terminal
from pitbench_hil.marks import rule

SIGNALS = ("NY-5321.12(f)/{}-signal", "NY-5321.15(d)/{}-signal")
# Stands for a row where a table has none.
NOTHING = object()
# Requests about anything else have rules of their own.
ABOUT = ("files", "passwords", "settings")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What a generator gives is asked where there is one: a suite of other devices needn't load what that takes."""
    if not collection_path.name.startswith("test_generator"):
        return None
    name = config.option.device
    draws = name and has_description(name) and issubclass(described(name).bench, DrawingBench)
    return None if draws else True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.config.option.device
    for fixture in TABLES.keys() & set(metafunc.fixturenames):
        rows = TABLES[fixture](name, described(name)) if name and has_description(name) else ()
        metafunc.parametrize(fixture, list(rows) or [NOTHING])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test of a table in which this device has no row is none."""
    items[:] = [item for item in items if not _is_of_nothing(item)]


def _is_of_nothing(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    return callspec is not None and NOTHING in callspec.params.values()


@pytest.fixture
def altered(fresh: AttendedBench, image: Image, device: Device[Any]) -> Altered:
    """Its files can be altered, off or running."""
    return Altered(fresh, image, device)


@pytest.fixture
def terminal(fresh: AttendedBench, image: Image, check: Check) -> Terminal:
    """A GAT terminal on its wire."""
    return Terminal(fresh, image, check)


def faults(name: str, device: Device[Any]) -> Iterable[Any]:
    return [pytest.param(fault, id=f"{fault.name}-{number}") for number, fault in enumerate(device.faults)]


def openings(name: str, device: Device[Any]) -> Iterable[Any]:
    return [pytest.param(opening, id=opening.name) for opening in device.openings]


def signals(name: str, device: Device[Any]) -> Iterable[Any]:
    clauses = [clause.format(name.replace("_", "-")) for clause in SIGNALS]
    return [pytest.param(part, marks=rule(*(f"{clause}/{part}" for clause in clauses))) for part in device.signals]


def refused(name: str, device: Device[Any]) -> Iterable[Any]:
    return by_rule(requests(device), "refused")


def permitted(name: str, device: Device[Any]) -> Iterable[Any]:
    return by_rule((each for each in requests(device) if each.before is nothing), "permitted")


def placed(name: str, device: Device[Any]) -> Iterable[Any]:
    """What people have to prepare with their hands: only a bench image's plant has hands."""
    return by_rule((each for each in requests(device) if each.before is not nothing), "permitted")


def requests(device: Device[Any]) -> list[Request]:
    return [each for each in device.requests if each.about in ABOUT]


def by_rule(requests: Iterable[Request], what: str) -> list[Any]:
    return [pytest.param(each, marks=rule(f"NJ-1.28X(d)/{what}/{each.about}"), id=each.name) for each in requests]


def bent(name: str, device: Device[Any]) -> Iterable[Any]:
    """For a proof that is bent, any request will do that leaves something to see."""
    return [as_param(each) for each in (device.configure, COMMISSION, ENTRY)]


def once(name: str, device: Device[Any]) -> Iterable[Any]:
    return [*bent(name, device), *([as_param(device.reading)] if device.reading else [])]


def as_param(request: Request) -> Any:
    return pytest.param(request, id=request.name)


def other_settings(name: str, device: Device[Any]) -> Iterable[Any]:
    return device.other_settings


# Fixture of a test -> what it is run with.
TABLES: dict[str, Callable[[str, Device[Any]], Iterable[Any]]] = {
    "fault": faults,
    "opening": openings,
    "signal": signals,
    "refused_request": refused,
    "permitted_request": permitted,
    "placed_request": placed,
    "bent_request": bent,
    "served_request": once,
    "changed": other_settings,
}

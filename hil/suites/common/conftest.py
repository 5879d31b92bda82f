"""Tests of what devices share run over the tables of the device under test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from pitbench_hil.access_rights import COMMISSION, ENTRY, REQUESTS, Request
from pitbench_hil.common_device import Device, described, has_description
from pitbench_hil.marks import rule

SIGNALS = ("NY-5321.12(f)/{}-signal", "NY-5321.15(d)/{}-signal")
# Requests about anything else have rules of their own.
ABOUT = ("files", "passwords", "settings")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    name = metafunc.config.option.device
    for fixture in TABLES.keys() & set(metafunc.fixturenames):
        there = bool(name) and has_description(name)
        metafunc.parametrize(fixture, TABLES[fixture](name, described(name)) if there else [])


def faults(name: str, device: Device[Any]) -> Iterable[ParameterSet]:
    return [pytest.param(fault, id=f"{fault.name}-{number}") for number, fault in enumerate(device.faults)]


def openings(name: str, device: Device[Any]) -> Iterable[ParameterSet]:
    return [pytest.param(opening, id=opening.name) for opening in device.openings]


def signals(name: str, device: Device[Any]) -> Iterable[ParameterSet]:
    clauses = [clause.format(name.replace("_", "-")) for clause in SIGNALS]
    return [pytest.param(part, marks=rule(*(f"{clause}/{part}" for clause in clauses))) for part in device.signals]


def refused(name: str, device: Device[Any]) -> Iterable[ParameterSet]:
    return by_rule(device, "refused")


def permitted(name: str, device: Device[Any]) -> Iterable[ParameterSet]:
    return by_rule(device, "permitted")


def by_rule(device: Device[Any], what: str) -> list[ParameterSet]:
    requests = [each for each in (device.configure, *REQUESTS, *device.proven) if each.about in ABOUT]
    return [pytest.param(each, marks=rule(f"NJ-1.28X(d)/{what}/{each.about}"), id=each.name) for each in requests]


def bent(name: str, device: Device[Any]) -> Iterable[ParameterSet]:
    """For a proof that is bent, any request will do that leaves something to see."""
    return [as_param(each) for each in (device.configure, COMMISSION, ENTRY)]


def once(name: str, device: Device[Any]) -> Iterable[ParameterSet]:
    return [*bent(name, device), *([as_param(device.reading)] if device.reading else [])]


def as_param(request: Request) -> ParameterSet:
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
    "bent_request": bent,
    "served_request": once,
    "changed": other_settings,
}

"""An error of an attended device as a row: how it comes up, how its cause is taken away, what names it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pitbench_hil.acts import Act, afresh, nothing
from pitbench_hil.attended_bench import AttendedBench

NOTICED_MS, LOOK_MS = 5000, 250


@dataclass(frozen=True)
class Error:
    """One row.

    Args:
        name: part of the rules on this error.
        condition: its name on the link; where a part may fail in several ways, "".
        says: words of the documented message, one of which the display shows.
        ways: how it comes up, by name, each from an idle device; it is due within 5 s.
        end: takes the cause away, as a person does.
        stops: whether it ends operation.
    """

    name: str
    condition: str
    says: tuple[str, ...]
    ways: Mapping[str, Act]
    end: Act
    stops: bool = True


@dataclass(frozen=True)
class Fault:
    """What goes wrong from idle, and how its cause is taken away; the attendant's clear comes after that.

    Args:
        name: as `standing` has it.
        by_clear: whether clearing it is the attendant's; a self-test or memory that failed may need another start.
    """

    name: str
    make: Act
    end: Act = nothing
    by_clear: bool = True


def raised(bench: AttendedBench, error: Error, way: str) -> bool:
    """Bring it about on a new device; whether the device tells of it within 5 s. Raises Unreached."""
    afresh(bench)
    error.ways[way](bench)
    for _ in range(NOTICED_MS // LOOK_MS):
        if told(bench.status(), error):
            return True
        bench.advance(LOOK_MS)
    return False


def told(status: Mapping[str, Any], error: Error) -> bool:
    """Whether status tells of it: a condition where it stops the device, else the light."""
    standing = status["standing"]
    if not error.stops:
        return bool(status["light"] != "green")
    return bool(standing) and (not error.condition or error.condition in standing)


def named(status: Mapping[str, Any], error: Error) -> bool:
    """Whether the display names it."""
    return any(words in str(status["message"]) for words in error.says)


def shown(status: Mapping[str, Any], error: Error) -> bool:
    """Whether the indicator stands."""
    return status["light"] == "red" if error.stops else status["light"] in ("red", "amber")

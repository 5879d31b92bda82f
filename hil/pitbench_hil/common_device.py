"""What a device gives the suite that all attended devices share: one description a device, found by its name.

A device that speaks GAT, has a signed manifest and roles with secrets has a module `<device>_common.py` here with its
`DEVICE`. The tests in suites/common take it as the fixture `device`; for a device without one they are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from pitbench.sources import product_name
from pitbench.targets import Board

from pitbench_hil.access_rights import REQUESTS, Request
from pitbench_hil.attended_bench import AttendedBench
from pitbench_hil.errors_raised import Error, Fault

# The fixture by whose name a test says that it works a device by its description.
DESCRIPTION = "device"
Bench = TypeVar("Bench", bound=AttendedBench)
Op = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Game:
    """A game played whole: what came out, in order, whether nothing was lost, and device ms that each part took."""

    outcome: Sequence[Any]
    whole: bool
    lasted: Mapping[str, int]


@dataclass(frozen=True)
class Settings:
    """Every setting of the device, three times: at its most, at its least, and somewhere between, no default.

    Args:
        beyond: values that it doesn't declare, and refuses: name, value.
    """

    most: Mapping[str, Any]
    least: Mapping[str, Any]
    between: Mapping[str, Any]
    beyond: Sequence[tuple[str, Any]]


@dataclass(frozen=True)
class Device(Generic[Bench]):
    """One kind of device.

    Args:
        bench: the bench of an open board; its `start` brings a new board to where it waits for people.
        buttons: all but clear; the first begins what the device does.
        work: from idle, begin what it does, and be in the middle of it: its longest. What people have to do before it
            (fill it, say) is part of it, here and in every act below.
        busy: the states meanwhile; rests: those in which it has ended well.
        work_ms: device time within which that has surely ended; middle_ms: within which it surely has not.
        play: from idle, a game whole to idle again, `meanwhile` called at each step of time: thirty times or more, for
            twelve validations to have room; of short games several.
        repeat: before a start, so that from the next on chance gives the same.
        to_idle: whatever a cleared error left behind, idle again.
        openings: the doors, lids and locks that it senses, two or more, each with a way "idle"; the first stands beside
            each of the others, and the second beside the first.
        faults: everything that its tower light has to show.
        signals: part of the rules `NY-5321.12(f)/<device>-signal` -> error, its way, another that stands beside it.
        settings: what `configure` takes.
        calm: colours of its light while it waits for people and nothing is wrong.
        configure: the request that the access suite bends; other_settings: sets that its proof doesn't cover.
        proven: its other requests that take a proof; reading: the one of them that reads, if there is one.
        reads: requests of its own that take none.
        late: what it loads after its start beside what all do: a path below /image -> the request that loads it.
        critical: files below /image on which its outcome hangs, each without its suffix.
        trials: capability -> whether the device has it, beside those that all are asked for.
    """

    bench: Callable[[Board], Bench]
    buttons: tuple[str, ...]
    work: Callable[[Bench], object]
    busy: tuple[str, ...]
    rests: tuple[str, ...]
    work_ms: int
    middle_ms: int
    play: Callable[[Bench, Callable[[], object]], Game]
    repeat: Callable[[Bench], object]
    to_idle: Callable[[Bench], object]
    openings: tuple[Error, ...]
    faults: tuple[Fault, ...]
    signals: Mapping[str, tuple[Error, str, Error]]
    settings: Settings
    configure: Request
    other_settings: tuple[Mapping[str, Any], ...]
    critical: tuple[str, ...]
    calm: tuple[str, ...] = ("green",)
    proven: tuple[Request, ...] = ()
    reading: Request | None = None
    reads: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    late: Mapping[str, Op] = field(default_factory=dict)
    trials: Mapping[str, Callable[[Bench], bool]] = field(default_factory=dict)

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request of it that takes a proof."""
        return (self.configure, *REQUESTS, *self.proven)


def has_description(device: str) -> bool:
    """Whether a device, by its name on the command line, has such a module."""
    return find_spec(_module(device)) is not None


@cache
def described(device: str) -> Device[Any]:
    """The description of a device. Raises ModuleNotFoundError where it has none."""
    found: Device[Any] = import_module(_module(device)).DEVICE
    return found


def _module(device: str) -> str:
    return f"{__package__}.{product_name(device).replace('-', '_')}_common"

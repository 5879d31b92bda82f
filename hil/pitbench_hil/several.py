"""Several devices in one command: each in a process of its own, one after the other with all jobs, and one summary.

Side by side, each with half the jobs, they end later: the longer suite goes on alone, on half the cores (two suites on
two cores: 251 s, and 155 s one after the other).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from pitbench.addresses import LOOKS_LIKE_A_PORT, parse_target
from pitbench.devices import BUILT, device_named
from pitbench.errors import EXIT_ERROR, EXIT_INTERRUPTED, PitbenchError
from pitbench.targets import open_target

from pitbench_hil.evidence import free_folder
from pitbench_hil.terminal import fit, width

PITBENCH = (sys.executable, "-m", "pitbench")
# What ends a command: the terminal's Ctrl-C, a time limit's kill, a closed terminal.
_ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass(frozen=True)
class Part:
    """One device's share: what is started for it, and where its evidence goes."""

    device: str
    command: Sequence[str]
    folder: Path


@dataclass(frozen=True)
class Ended:
    """A share after its process ended, or one that was never begun (`code` None)."""

    part: Part
    code: int | None
    seconds: float = 0.0


# What a command says of one share, by column: "PASS": "12".
Columns = Callable[[Ended], dict[str, str]]


def devices_meant(named: Sequence[str], target: str) -> list[str]:
    """The devices that a person means: those named, else every one that there is, else the one that a real board is.

    Raises PitbenchError: an unknown name, a board that can't be opened, several devices for one board.
    """
    is_virtual = not LOOKS_LIKE_A_PORT.match(target) and parse_target(target).virtual
    devices = list(dict.fromkeys(device_named(name) for name in named))
    if is_virtual:
        return devices or list(BUILT)
    if len(devices) > 1:
        raise PitbenchError(f"{target} is one board, and {' and '.join(devices)} were named.", "Name the one it is.")
    return devices or [_device_on(target)]


def _device_on(target: str) -> str:
    with open_target(target) as board:
        return str(board.identity["device"])


def run_parts(parts: Sequence[Part], say: Callable[[str], None] = print) -> list[Ended]:
    """Run each part after the other; once the person wants to end it, none is begun any more."""
    ended: list[Ended] = []
    for number, part in enumerate(parts, 1):
        if any(one.code == EXIT_INTERRUPTED for one in ended):
            ended.append(Ended(part, None))
            continue
        say(f"{'' if number == 1 else chr(10)}{part.device} ({number} of {len(parts)})")
        sys.stdout.flush()
        began = time.monotonic()
        ended.append(Ended(part, _run(part.command), time.monotonic() - began))
    return ended


def run_each(
    command: str, shares: Mapping[str, Sequence[str]], target: str, run_dir: Path | None, columns: Columns
) -> int:
    """Run a command of pitbench for each device, and print the summary of all. Returns the worst exit code.

    Args:
        shares: name of a share, a device's or a device's with a wire → the device, and the words behind it.
        target: names the new folders in `runs`; with `run_dir`, each device has one in it.
        columns: what the summary says of a share.

    Raises OSError for a folder that can't be made, before anything is started.
    """
    root = (run_dir or Path("runs")).resolve()
    root.mkdir(parents=True, exist_ok=True)
    parts = []
    for name, words in shares.items():
        folder = root / name if run_dir else free_folder(root, name, target)
        device, *more = words
        parts.append(Part(name, (*PITBENCH, command, device, "--run-dir", str(folder), *more), folder))
    ended = run_parts(parts)
    print("\n" + "\n".join(summary(ended, columns)), flush=True)
    return exit_code(ended)


def _run(command: Sequence[str]) -> int:
    """Exit code of a process; EXIT_INTERRUPTED where it was ended for us. A death by signal is trouble."""
    # A group of its own: the terminal tells us alone, and we tell it once. A second Ctrl-C would cut its closing short.
    apart = {"start_new_session": True} if os.name == "posix" else {}
    with _handed_on() as handed:
        # Begun where we listen: a shell's background job ignores Ctrl-C, and its children would too.
        handed.process = subprocess.Popen(command, **apart)  # type: ignore[call-overload]
        handed.catch_up()
        code = int(handed.process.wait())
    if handed.signals:
        return EXIT_INTERRUPTED
    return code if code >= 0 else EXIT_ERROR


class _Handed:
    """What would end us ends the process first, by Ctrl-C; the second time by force."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.signals: list[int] = []

    def take(self, number: int, _: FrameType | None) -> None:
        """Handler of a signal."""
        self.signals.append(number)
        if self.process is not None:
            self._end(signal.SIGINT if len(self.signals) == 1 else signal.SIGKILL)

    def catch_up(self) -> None:
        """Hand on what came before there was a process."""
        if self.signals:
            self._end(signal.SIGINT)

    def _end(self, number: int) -> None:
        if os.name == "posix" and self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                # To all of its group, as a terminal does: workers that aren't told finish their tests first.
                os.killpg(self.process.pid, number)


@contextlib.contextmanager
def _handed_on() -> Iterator[_Handed]:
    handed = _Handed()
    before = {number: signal.signal(number, handed.take) for number in _ENDS}
    try:
        yield handed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def exit_code(ended: Iterable[Ended]) -> int:
    """The worst one: interrupted, then trouble, then a FAIL."""
    return max((one.code or 0 for one in ended), default=0)


def summary(ended: Sequence[Ended], columns: Columns) -> list[str]:
    """A line for each device with what `columns` says of it, and one for all of them."""
    told = [columns(one) for one in ended]
    names = list(dict.fromkeys(name for row in told for name in row))
    head = ["device", *names, "exit code", "time", "evidence"]
    rows = [
        [one.part.device, *(row.get(name, "") for name in names), *_end(one)]
        for one, row in zip(ended, told, strict=True)
    ]
    sizes = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    lines = [
        "  ".join(fit(cell, size) for cell, size in zip(row, sizes, strict=True)).rstrip() for row in [head, *rows]
    ]
    seconds = sum(one.seconds for one in ended)
    total = f"{len(ended)} runs in {seconds:.0f} s, exit code {exit_code(ended)}"
    return [" devices ".center(min(width(), 80), "="), *lines, total]


def _end(one: Ended) -> list[str]:
    if one.code is None:
        return ["not run", "", ""]
    return [str(one.code), f"{one.seconds:.0f} s", str(one.part.folder)]


def counts(summary: dict[str, Any]) -> dict[str, str]:
    """The verdicts of a run's summary that came up at all."""
    return {name: str(number) for name, number in summary.items() if name.isupper() and number}

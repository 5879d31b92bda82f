"""Where the suites lie, and the pytest command line that runs one: `pitbench verify` and plain pytest are the same."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pitbench.errors import PitbenchError

from pitbench_hil.catalogue import normal_device
from pitbench_hil.selection import SUITES

HIL = Path(__file__).parents[1]
# Nothing is cached between runs; Hypothesis works without its plugin, which takes most of a second to start.
_WITHOUT = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--assert=plain")


def suite_of(device: str, suites: Path | None = None) -> Path:
    """The folder of a device's suite. Raises PitbenchError when there is none."""
    suites = suites or HIL / SUITES
    for folder in sorted(suites.glob("*/")):
        if folder.is_dir() and normal_device(folder.name) == normal_device(device):
            return folder
    raise PitbenchError(f"There is no suite for '{device}' in {suites}.", "`pitbench rules` names the devices.")


def pytest_words(places: Iterable[Path], device: str, target: str, *more: str, rules: Iterable[str] = ()) -> list[str]:
    """The words after `pytest` that run a suite, or those of its files."""
    chosen = ",".join(rules)
    words = [*map(str, places), "--target", target, "--device", normal_device(device), "-q", *_WITHOUT]
    return words + (["--rules", chosen] if chosen else []) + list(more)

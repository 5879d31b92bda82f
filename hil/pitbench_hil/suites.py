"""Where the suites lie, and the pytest command line that runs one: `pitbench verify` and plain pytest are the same."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from pitbench.errors import PitbenchError

from pitbench_hil.catalogue import normal_device
from pitbench_hil.selection import SUITES, both_suites

HIL = Path(__file__).parents[1]
# Nothing is cached between runs; Hypothesis works without its plugin, which takes most of a second to start.
_WITHOUT = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest", "--assert=plain")
# Where the system has it, boards' flash lies in memory: a suite makes 40,000 files that nobody keeps.
_RAM = Path("/dev/shm")
_RAM_BYTES = 512 << 20
# Of the tests that passed no flash is kept, so that the memory of two boards is enough.
_KEEP_FAILED = ("-o", "tmp_path_retention_policy=failed")
_TEMP_ROOT = "PYTEST_DEBUG_TEMPROOT"


def suites_of(device: str) -> list[Path]:
    """The folders of a device's suite and of the common one. Raises PitbenchError when it has none of its own."""
    return both_suites(suite_of(device), device)


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
    words = [*map(str, places), "--target", target, "--device", normal_device(device), "-q", *_WITHOUT, *_KEEP_FAILED]
    return words + (["--rules", chosen] if chosen else []) + list(more)


def run_pytest(words: list[str]) -> int:
    """Run pytest with these words, boards' flash in memory where there is room; returns its exit code.

    A folder named by pytest's own variable for that wins. Otherwise each run has a folder of its own, gone with it:
    of runs at the same time one would take another's for an old one, and remove it.
    """
    if _TEMP_ROOT in os.environ:
        return int(pytest.main(words))
    place = _RAM if _has_room(_RAM) else None
    with tempfile.TemporaryDirectory(prefix="pitbench-flash-", dir=place, ignore_cleanup_errors=True) as folder:
        return int(pytest.main([*words, f"--basetemp={folder}/boards"]))


def _has_room(folder: Path) -> bool:
    return os.access(folder, os.W_OK) and shutil.disk_usage(folder).free >= _RAM_BYTES

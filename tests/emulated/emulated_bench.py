"""Emulated boards for tests, and the UF2 that they need."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from pitbench.errors import PitbenchError
from pitbench.uf2 import find_uf2


def micropython() -> Path:
    """The UF2 to boot; a test without one is skipped, and its reason stands in the summary."""
    try:
        return find_uf2()
    except PitbenchError as error:
        warnings.warn(f"Not run, for want of a MicroPython UF2: {error}", stacklevel=2)
        pytest.skip(str(error))


def wait_for(happened: Callable[[], bool], seconds: float = 120.0) -> bool:
    """Whether it happened; an emulated board on a busy PC takes its time."""
    end = time.monotonic() + seconds
    while not happened() and time.monotonic() < end:
        time.sleep(0.02)
    return happened()

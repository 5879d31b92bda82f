"""Makes the firmware importable on CPython: its sources, and the MicroPython modules that they name, as a shim."""

import sys
from pathlib import Path

TESTS = Path(__file__).parent
sys.path += [str(TESTS.parent / "firmware"), str(TESTS / "shim")]

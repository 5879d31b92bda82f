"""Makes the firmware importable on CPython: its sources, and the MicroPython modules that they name, as a shim."""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parent
sys.path += [str(TESTS.parent / "firmware"), str(TESTS / "shim")]
# Images of these tests are signed with the published test key, whatever key their person builds with.
os.environ.pop("PITBENCH_SIGNING_KEY", None)

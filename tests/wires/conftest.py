"""The benches of both sides of a wire."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / "kiosk"), str(TESTS / "firmware")]

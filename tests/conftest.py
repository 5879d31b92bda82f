"""Makes the firmware importable on CPython: its sources, and the MicroPython modules that they name, as a shim.

What a test has recorded as `record_property("shown", line)` stands in the summary of the run.
"""

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parent
sys.path += [str(TESTS.parent / "firmware"), str(TESTS / "shim")]
# Images of these tests are signed with the published test key, whatever key their person builds with.
os.environ.pop("PITBENCH_SIGNING_KEY", None)


def pytest_terminal_summary(terminalreporter) -> None:
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    last = [report for report in reports if getattr(report, "when", "") == "teardown"]
    for report in sorted(last, key=lambda report: report.nodeid):
        shown = [line for name, line in report.user_properties if name == "shown"]
        if shown:
            terminalreporter.section(report.nodeid)
            terminalreporter.write_line("\n".join(f"  {line}" for line in shown))

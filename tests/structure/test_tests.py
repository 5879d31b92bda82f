"""The project's own tests, as files."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]


def test_no_test_imports_a_conftest() -> None:
    """There are several, and which one `conftest` means depends on what was collected before."""
    found = [
        str(path)
        for path in TESTS.rglob("*.py")
        if re.search(r"^\s*(from conftest import|import conftest)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert found == []


def test_no_two_helper_modules_share_a_name() -> None:
    """Folders of tests stand on one path: the first of two modules would be taken for both."""
    names = [path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py" and "shim" not in path.parts]
    modules = [name for name in names if not name.startswith("__")]
    double = {"boot.py", "main.py"}  # files of a board's folder, never imported
    assert sorted({name for name in modules if modules.count(name) > 1} - double) == []


def test_no_two_tests_of_suites_that_run_together_share_a_name() -> None:
    """A device's suite and the common one are collected in one run, and pytest takes the one for the other."""
    suites = TESTS.parent / "hil" / "suites"
    common = {path.name for path in (suites / "common").glob("test_*.py")}
    assert common
    for folder in suites.glob("*/"):
        assert folder.name == "common" or not common & {path.name for path in folder.glob("test_*.py")}, folder.name


def test_no_test_file_of_ours_has_the_name_of_one_of_a_suite() -> None:
    """One process imports both where a test runs a suite, and pytest knows a file by its name."""
    suites = {path.name for path in (TESTS.parent / "hil" / "suites").rglob("test_*.py")}
    assert sorted(suites & {path.name for path in TESTS.rglob("test_*.py")}) == []

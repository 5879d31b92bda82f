"""A fabricated suite: a board that is a dictionary, and three rules of its own."""

import json
import textwrap
from pathlib import Path

import pytest

RULES = """
[defaults]
devices = ["bill-acceptor"]
basis = "TEXT"
method = "Look."
needs = ["wire"]

[[rule]]
id = "NJ-1.28N(i)2/idle"
reads = "Idle."
limits.accepted = { max = 0, unit = "items" }

[[rule]]
id = "NJ-1.28N(h)/boots"
reads = "Boots."
images = ["bench", "release"]

[[rule]]
id = "HOUSE-reason"
clause = "NJ-1.28N(b)"
basis = "HOUSE"
reads = "Reason."

[[rule]]
id = "NJ-1.28N(e)/wiring"
reads = "Wiring."
instead = "INSPECT"
condition = "Look at the cables."
"""

CONFTEST = """
import time
import pytest

@pytest.fixture
def board(run, image_kind):
    caps = {"wire", "plant"} if image_kind == "bench" else {"wire"}
    run.identify({"image": image_kind, "digest": "aa11", "uid": "1"}, rung="unix", caps=caps, pc={"digest": "aa11"})
    run.trace(time.monotonic(), "wire", "to_board", bytes.fromhex("fc05112756"))
    return {"kind": image_kind}
"""

GOOD = """
from pitbench_hil.marks import images, needs, rule

@rule("NJ-1.28N(i)2/idle")
def test_door(board, check):
    check.stimulus("door opened", number="123456789012345678")
    check.measure("accepted", 0)

@images("bench", "release")
@rule("NJ-1.28N(h)/boots")
def test_boots(board, check):
    check.expect("state", "ready", "ready")

@rule("HOUSE-reason")
def test_reason(board, check):
    check.expect("reason", 0x71, 0x71)
"""


class Bench:
    """A project folder with a suite in it; `run` runs it and keeps the folder of the run."""

    def __init__(self, pytester):
        self.pytester = pytester
        self.suite = pytester.mkdir("suites") / "bill_acceptor"
        self.suite.mkdir()
        self.rules = pytester.mkdir("rule_files")
        self.folder = pytester.path / "run"
        self.write("conftest.py", CONFTEST)
        (self.rules / "10_some.toml").write_text(RULES, encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        (self.suite / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def run(self, *words: str):
        where = ("--run-dir", str(self.folder)) if "--run-dir" not in words else ()
        options = ("--device", "bill-acceptor", "--rule-files", str(self.rules), *where)
        # A process of its own only where workers or signals need one: it costs a second.
        apart = "-n" in words or "KeyboardInterrupt" in (self.suite / "test_good.py").read_text(encoding="utf-8")
        start = self.pytester.runpytest_subprocess if apart else self.pytester.runpytest_inprocess
        return start("suites", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options, *words)

    def verdicts(self, folder: Path | None = None) -> dict[str, str]:
        found = [json.loads(path.read_text()) for path in ((folder or self.folder) / "rules").glob("*.json")]
        return {evidence["rule"]["id"]: evidence["label"] for evidence in found}

    def why(self, rule: str) -> str:
        found = [json.loads(path.read_text()) for path in (self.folder / "rules").glob("*.json")]
        return next(evidence["why"] for evidence in found if evidence["rule"]["id"] == rule)


@pytest.fixture
def bench(pytester, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    bench = Bench(pytester)
    bench.write("test_good.py", GOOD)
    return bench

"""A fabricated suite that runs in a folder of its own."""

import json
import textwrap
from pathlib import Path

import pytest
from fabricated import CONFTEST, GOOD, RULES


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
        apart = ("-n" in words and "-3" not in words) or "KeyboardInterrupt" in (self.suite / "test_good.py").read_text(
            encoding="utf-8"
        )
        start = self.pytester.runpytest_subprocess if apart else self.inprocess
        return start("suites", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options, *words)

    def inprocess(self, *words: str):
        # pytester takes exit code 2 for a Ctrl-C that it has to hand on.
        return self.pytester.runpytest_inprocess(*words, no_reraise_ctrlc=True)

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

"""The part of the plugin that runs in each process that runs tests: records, and makes test outcomes of verdicts."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from pitbench.errors import BeyondRig
from pitbench.link import BoardRebooted, LinkTimeout

from pitbench_hil.catalogue import IMAGE_KINDS
from pitbench_hil.check import RuleBroken
from pitbench_hil.durable import EvidenceError, to_json, write_whole
from pitbench_hil.evidence import COLLECTION, SIMULATED
from pitbench_hil.records import Record
from pitbench_hil.run import Run
from pitbench_hil.selection import (
    binds,
    both_suites,
    decided,
    gaps,
    image_of,
    narrowed,
    needs_of,
    not_asked,
    sampled,
    suite_folder,
    trouble_of,
    wanted,
)
from pitbench_hil.verdict import Verdict, counts, judge, short

PROPERTY = "pitbench"
_RUN_BY_ONE = ("main", "gw0")


class SuiteTrouble(Exception):
    """A test that is written wrongly: an error of the suite, not of rig or device."""


class Runner:
    """Hooks around collection and each test."""

    def __init__(self, run: Run, config: pytest.Config) -> None:
        self.run = run
        self.config = config

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the tests of the chosen rules and kinds of image."""
        kinds = IMAGE_KINDS if config.option.image_kind == "both" else (config.option.image_kind,)
        mine = [item for item in items if not self._mine(item) or self._binds(item)]
        keep = [item for item in mine if self._foreign_or_in_trouble(item) or wanted(item, self.run.rules, kinds)]
        self.run.tests_there = len(keep)
        if self.run.sample:
            keep = sampled(keep, self.run.rules, self.run.sample)
        if dropped := [item for item in items if item not in keep]:
            config.hook.pytest_deselected(items=dropped)
        items[:] = keep

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say what was collected, and what is wrong with it."""
        if self.run.worker not in _RUN_BY_ONE:
            return
        mine = [item for item in session.items if self._mine(item)]
        folder = suite_folder(mine[0].path, self.run.device) if mine else None
        folders = both_suites(folder, self.run.device) if folder else []
        tests = {item.nodeid: (decided(item, self.run.catalogue), image_of(item)) for item in mine}
        is_narrowed = narrowed(self.config.option, self.config.args, folders)
        problems = [trouble for item in mine if (trouble := trouble_of(item, self.run.catalogue))]
        problems += [] if is_narrowed else gaps(self.run.rules.values(), tests)
        collected = {"tests": {name: rules for name, (rules, _) in tests.items()}, "problems": problems}
        files = {item.nodeid: str(item.path) for item in mine}
        row = {**collected, "files": files, "narrowed": is_narrowed}
        row["sample"] = {"tests_a_rule": self.run.sample, "of_tests": self.run.tests_there}
        write_whole(self.run.folder / COLLECTION, to_json(row, indent=1))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Open the record; a broken rig leaves the rule NOT TESTED, with the first cause."""
        if not self._mine(item):
            return
        if trouble := trouble_of(item, self.run.catalogue):
            raise SuiteTrouble(trouble)
        record = self.run.open_record(
            item.nodeid, decided(item, self.run.catalogue), image_of(item), needs_of(item, self.run.catalogue)
        )
        if why := self._refusal(image_of(item)) or not_asked(item, self.run.catalogue):
            record.add("skipped", why=why)
            pytest.skip(why)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Record how each phase ended; judge after the last one that matters."""
        report = yield
        if not self._mine(item) or self.run.record is None:
            return report
        try:
            self._record_phase(item, call, report)
        except EvidenceError as error:
            _stop(item, report, error)
        return report

    def pytest_unconfigure(self) -> None:
        self.run.close()

    def _refusal(self, kind: str) -> str | None:
        """Why no test can run any more, or none on this kind of image."""
        if broken := self.run.broken:
            return f"the rig broke: {broken}"
        return self.run.lasting.refusal(kind) if self.run.lasting else None

    def _record_phase(self, item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
        error = call.excinfo.value if call.excinfo else None
        if isinstance(error, EvidenceError):
            raise error
        self._note_error(item, report, error)
        if report.when == "call" or (report.when == "setup" and not report.passed):
            self._judge(item, report)
        if report.when == "teardown":
            self.run.close_record(outcome=report.outcome)

    def _note_error(self, item: pytest.Item, report: pytest.TestReport, error: BaseException | None) -> None:
        record = self.run.record
        if error is None or record is None:
            return
        if isinstance(error, pytest.skip.Exception):
            if not any(row["kind"] == "skipped" for row in record.rows):
                record.add("skipped", why=str(error) or "skipped without a reason")
        elif isinstance(error, BeyondRig):
            # What this rig can't do says nothing about it or the device.
            record.add("skipped", why=str(error))
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, str(error))
        elif isinstance(error, BoardRebooted) and error.by_program_error:
            _add_unmet(record, "program error", str(error), "none")
        elif isinstance(error, LinkTimeout) and _is_simulated(record) and report.when == "call":
            # There is no cable that could be out.
            _add_unmet(record, "answers on its link", str(error), "in time")
        elif report.when == "call" and isinstance(error, AssertionError | pytest.fail.Exception):
            if not isinstance(error, RuleBroken):
                _add_unmet(record, "assertion", short(str(error), 400), "holds")
        else:
            self.run.break_rig(_cause(error), item.nodeid)

    def _judge(self, item: pytest.Item, report: pytest.TestReport) -> None:
        """Verdicts of the facts so far, as rows on the report; a FAIL that counts is a failed test."""
        named = self.run.record.rows[0]["rules"] if self.run.record else []
        rows = [self._row(name) for name in named if name in self.run.rules]
        report.user_properties.append((PROPERTY, rows))
        failing = [row for row in rows if row["fails"]]
        if failing and self.config.option.stop_at_fail:
            item.session.shouldstop = "a rule failed, and --stop-at-fail was given"
        if failing and report.passed:
            report.outcome = "failed"
            report.longrepr = "\n".join(f"{row['rule']}: {row['why']}" for row in failing)
        elif not failing and report.failed and all(row["verdict"] == Verdict.FAIL for row in rows):
            _forgive(item, report)

    def _row(self, name: str) -> dict[str, Any]:
        assert self.run.record is not None
        rule = self.run.rules[name]
        judgement = judge(rule, self.run.record.facts(name))
        fails = judgement.verdict is Verdict.FAIL and counts(rule, self.run.profiles)
        said = {"observed": judgement.observed, "limit": judgement.limit, "why": judgement.why}
        return {"rule": name, "verdict": str(judgement.verdict), "fails": fails, **said}

    def _foreign_or_in_trouble(self, item: pytest.Item) -> bool:
        """Tests outside the suite aren't ours to leave out; one in trouble is run, so that it fails."""
        return not self._mine(item) or trouble_of(item, self.run.catalogue) is not None

    def _binds(self, item: pytest.Item) -> bool:
        return binds(item, self.run.device, self.run.catalogue)

    def _mine(self, item: pytest.Item) -> bool:
        return suite_folder(item.path, self.run.device) is not None


def _add_unmet(record: Record, name: str, observed: str, expected: str) -> None:
    """A failure of the device that no expectation of the test was about: it fails every rule of the test."""
    record.add("expect", name=name, observed=observed, expected=expected, met=False, rule=None)


def _is_simulated(record: Record) -> bool:
    """Whether the board of this test is virtual or emulated."""
    return any(row["kind"] == "identity" and row.get("rung") in SIMULATED for row in record.rows)


def _forgive(item: pytest.Item, report: pytest.TestReport) -> None:
    """A FAIL that doesn't count is no failed test; one that failed in its fixtures has no body to run."""
    report.outcome, report.longrepr = "passed", None
    if report.when == "setup":
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, "a rule that doesn't count fails in setup")


def _cause(error: BaseException) -> str:
    return str(error) if isinstance(error, SuiteTrouble) else f"{type(error).__name__}: {error}"


def _stop(item: pytest.Item, report: pytest.TestReport, error: EvidenceError) -> None:
    """Evidence can't be kept any longer: end the session with that one sentence."""
    report.outcome, report.longrepr = "failed", str(error)
    item.session.shouldstop = str(error)

"""The part of the plugin that runs once a run: progress on the terminal, and the folder closed at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pitbench.errors import EXIT_INTERRUPTED

from pitbench_hil.durable import EvidenceError
from pitbench_hil.evidence import Outcome, assemble, broken_rig, collection
from pitbench_hil.run import Run
from pitbench_hil.running import PROPERTY
from pitbench_hil.terminal import markup, progress_line, summary_lines, table

_PROBLEMS_SHOWN = 12
_JUDGED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


class Closer:
    """Hooks of the process that a person started; xdist's workers don't have it.

    `bare` leaves the folder as recorded: whoever started the run judges it.
    """

    def __init__(self, run: Run, bare: bool) -> None:
        self.run = run
        self.bare = bare
        self.outcomes: list[Outcome] = []
        self.error: EvidenceError | None = None
        self.stopped = False
        self._shown = 0
        self._terminal: Any = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Our lines stand for pytest's: say first what is run, and where its evidence goes."""
        self._terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if self._terminal is not None and not self.bare:
            profiles = ",".join(self.run.profiles)
            self._terminal.write_line(f"{self.run.device} on {self.run.target}, profile {profiles}")
            if self.run.lasting:
                self._terminal.write_line(f"one board, so one process; it holds a {self.run.lasting.kind} image")
            self._terminal.write_line(f"evidence: {self.run.folder}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker which folder the run has."""
        node.workerinput["pitbench_run"] = str(self.run.folder)

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Ctrl-C is no trouble: what was recorded is judged, and pytest has nothing to say about it."""
        # What ends a session on purpose (--stop-at-fail, a full disk) is derived from it.
        self.stopped = excinfo.type is KeyboardInterrupt
        if self.stopped and self._terminal is not None:
            self._terminal._report_keyboardinterrupt = lambda: None

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Our own line stands for pytest's letter."""
        # Reports of a failed collection come here too, and have no properties.
        judged = PROPERTY in dict(getattr(report, "user_properties", []))
        return (report.outcome, "", "") if judged else None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One line a rule."""
        rows: Any = dict(report.user_properties).get(PROPERTY, ())
        for row in rows:
            self._shown += 1
            if self._terminal is not None:
                self._terminal.write_line(progress_line(self._shown, row), **markup(row["verdict"]))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Judge, write report and manifest, set the exit code: 1 after a FAIL, 2 for a rig or suite in trouble."""
        if self.bare:
            return
        done = exitstatus in _JUDGED and not session.shouldstop
        status, wear = "finished" if done else "interrupted", self._wear()
        try:
            self.outcomes = assemble(self.run.folder, list(self.run.rules.values()), status, wear=wear)
        except EvidenceError as error:
            self.error = error
            session.exitstatus = pytest.ExitCode.INTERRUPTED
            return
        if self.stopped:
            session.exitstatus = EXIT_INTERRUPTED
        elif done:
            session.exitstatus = self._exit_code(exitstatus)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Table, then what matters most, last."""
        if self.bare:
            return
        write = terminalreporter.write_line
        if self.outcomes:
            terminalreporter.section("rules")
            for line, verdict in table(self.outcomes):
                write(line, **(markup(verdict.partition(" (")[0]) if verdict else {"bold": True}))
        terminalreporter.section("run")
        for line in self._troubles():
            write(line, red=True)
        if words := self._sampled():
            write(words, yellow=True)
        if words := self._wear():
            write(words)
        for line, verdict in summary_lines(self.run.folder, self.outcomes) if self.outcomes else []:
            write(line, **(markup(verdict) if verdict else {}))

    def _wear(self) -> str:
        return self.run.lasting.wear() if self.run.lasting else ""

    def _sampled(self) -> str:
        """What was left out where each rule gets a few of its tests only."""
        sample = collection(self.run.folder).get("sample", {})
        if not sample.get("tests_a_rule"):
            return ""
        run, there = len(collection(self.run.folder)["tests"]), sample["of_tests"]
        few = f"at most {sample['tests_a_rule']} a rule and kind of image"
        return f"sampled: {run} of {there} tests were run, {few} (--sample 0 runs all)"

    def _exit_code(self, exitstatus: int) -> int:
        if any(outcome.fails for outcome in self.outcomes):
            return pytest.ExitCode.TESTS_FAILED
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and all(o.rule.instead for o in self.outcomes):
            return pytest.ExitCode.OK  # only rules that a person or a paper answers
        in_trouble = broken_rig(self.run.folder) or collection(self.run.folder)["problems"]
        return pytest.ExitCode.INTERRUPTED if in_trouble else exitstatus

    def _troubles(self) -> list[str]:
        if self.error:
            return [str(self.error)]
        broken = broken_rig(self.run.folder)
        said = [f"The rig broke in {broken['test']}: {broken['cause']}"] if broken else []
        problems = collection(self.run.folder)["problems"]
        more = len(problems) - _PROBLEMS_SHOWN
        return said + problems[:_PROBLEMS_SHOWN] + ([f"… and {more} more, listed in run.json"] if more > 0 else [])


def runs_root(config: pytest.Config) -> Path:
    """Where runs are kept unless --run-dir says otherwise."""
    return Path(config.invocation_params.dir) / "runs"

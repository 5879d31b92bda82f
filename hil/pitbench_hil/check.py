"""The `check` fixture: what a test did, saw and measured. It records; `verdict.py` decides."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pitbench.deadline import DeadlinePassed
from pitbench.link import LinkTimeout
from pitbench.protocols import protocol_named

from pitbench_hil.catalogue import Limit, Rule
from pitbench_hil.run import Run
from pitbench_hil.speech import Words, as_told, unsaid_in, untold_in, words_of
from pitbench_hil.verdict import Expectation, Measurement, judge_measurement
from pitbench_hil.wire_names import has_code, with_names

# The device didn't answer: its fault inside `check.duty`, the rig's elsewhere.
SILENCE = (TimeoutError, LinkTimeout, DeadlinePassed)
_PER_MS = {"ms": 1.0, "s": 0.001, "us": 1000.0}


class RuleBroken(AssertionError):
    """The device doesn't keep a rule, and the test can't go on."""


class Check:
    """Records for the test that runs now. Every call is kept with its time, numbers of vouchers masked."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.started = run.watch_lateness()

    @property
    def rules(self) -> list[Rule]:
        """The rules that this test names."""
        return [self._run.catalogue[name] for name in self._record.rows[0]["rules"]]

    def stimulus(self, text: str, **data: Any) -> None:
        """Say what is done to the device, before it is done: `check.stimulus("door opened", which="stacker")`."""
        self._record.add("stimulus", text=text, data=data)

    def note(self, text: str, **data: Any) -> None:
        """Say something that decides nothing: a bound, a sample size, a limit of the rig."""
        self._record.add("note", text=text, data=data)

    def picture(self, title: str, svg: str) -> None:
        """Keep a picture of what was measured: a file of its own, which the report shows with the rule."""
        self._record.picture(title, svg)

    def measure(
        self, name: str, value: Any, *, limit: Limit | None = None, unit: str = "", uncertainty: float | None = None,
        rule: str | None = None,
    ) -> bool:  # fmt: skip
        """Record a measurement. Returns whether it is within its limit; the verdict is made later.

        Args:
            name: the catalogue's limit of this name decides; a name that it hasn't got is decided by `limit`, or not.
            unit: the limit's, unless said.
            uncertainty: in the unit. A time (ms, s, us) carries the rig's own, unless said.
            rule: where a test of several rules means one of them.
        """
        known = self._limit(name, rule) or limit
        unit = unit or (known.unit if known else "")
        band = self._band(unit) if uncertainty is None else uncertainty
        measurement = Measurement(name, value, unit, band, known)
        self._record.measure(measurement, rule)
        return known is None or judge_measurement(measurement, known) != "FAIL"

    def expect(self, name: str, observed: Any, expected: Any, *, rule: str | None = None) -> bool:
        """Record that `observed` should equal `expected` (plain data). Returns whether it does, and doesn't raise.

        A `Status` or `Command` on either side says that both hold codes of the wire: they are recorded with names, and
        compared as far as the wire tells them apart. What it doesn't tell is noted, and decides nothing.
        """
        if why := self._untold(observed, expected):
            self._record.add("untold", name=name, why=why, rule=rule)
            return True
        if has_code(observed) or has_code(expected):
            observed, expected = (as_told(value, self._words) for value in (observed, expected))
        expectation = Expectation(name, *with_names(observed, expected))
        self._record.expect(expectation, rule)
        return expectation.holds

    def fail(self, name: str, why: str) -> None:
        """Record that the device doesn't keep the rule, and end the test. Raises RuleBroken."""
        self._record.expect(Expectation(name, why, "kept", met=False), None)
        raise RuleBroken(f"{name}: {why}")

    @contextmanager
    def duty(self, name: str, *silence: type[BaseException]) -> Iterator[None]:
        """The device has to answer in here: a time-out is its fault, and fails the rule instead of breaking the rig.

        Args:
            name: what it has to do, "answers in escrow".
            silence: exceptions that mean no answer; TimeoutError, LinkTimeout and DeadlinePassed unless said.
        """
        means_silence = silence or SILENCE
        try:
            yield
        except means_silence as error:
            self.fail(name, str(error) or type(error).__name__)
        self._record.expect(Expectation(name, "done", "done"), None)

    @contextmanager
    def timed(
        self, name: str, *, unit: str = "ms", limit: Limit | None = None, rule: str | None = None
    ) -> Iterator[None]:
        """Measure how long the block takes; the PC's own lateness meanwhile becomes uncertainty."""
        start = time.monotonic()
        yield
        took = (time.monotonic() - start) * 1000 * _PER_MS[unit]
        band = self._run.uncertainty_ms(start) * _PER_MS[unit]
        self.measure(name, round(took, 6), unit=unit, uncertainty=band, limit=limit, rule=rule)

    @property
    def _words(self) -> Words:
        return words_of(self._run.wire)

    def _untold(self, observed: Any, expected: Any) -> str:
        """Why this can't be observed on the wire, "" where it can."""
        unsaid = unsaid_in(observed)
        if unsaid is not None:
            return unsaid.why
        status = untold_in(expected, self._words)
        return f"{protocol_named(self._run.wire).TITLE} doesn't tell {status}" if status else ""

    @property
    def _record(self) -> Any:
        return self._run._current()

    def _limit(self, name: str, rule: str | None) -> Limit | None:
        limits = [r.limits[name] for r in self.rules if name in r.limits and rule in (None, r.id)]
        return limits[0] if limits else None

    def _band(self, unit: str) -> float:
        return self._run.uncertainty_ms(self.started) * _PER_MS[unit] if unit in _PER_MS else 0.0

"""What one test recorded: a file of JSON lines under `records/`, and the facts that a verdict is made of.

Kinds of line: start, identity, stimulus, measure, expect, note, picture, skipped, broken, end. A record without its
end line was interrupted; what stands in it counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pitbench_hil.catalogue import Limit
from pitbench_hil.durable import Lines, read_lines, slug, write_whole
from pitbench_hil.masking import mask_value
from pitbench_hil.row_shapes import checked_rows
from pitbench_hil.trace_file import TraceFile
from pitbench_hil.verdict import Expectation, Facts, Measurement

# Without its board's identity a test that used a board proves nothing.
_BOARD_NEEDS = {"wire", "link"}
# Name of a measurement that tells how many samples a statistic would have done with: "needed: valleys", 7 decks.
NEEDED = "needed: "
NOT_IDENTIFIED = "the test never named its board (run.identify)"


def utc_now() -> str:
    """Wall-clock time, for people."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


class Record:
    """The record of one running test, and its wire trace.

    Args:
        folder: the run's folder.
        stem: name of both files, unique in the run.
        start: test, rules, image, worker, needs.
    """

    def __init__(self, folder: Path, stem: str, start: dict[str, Any]) -> None:
        self.rows: list[dict[str, Any]] = []
        self._lines = Lines(folder / "records" / f"{stem}.jsonl")
        self.trace = TraceFile(folder / "traces" / f"{stem}.jsonl")
        self._began = time.monotonic()
        self._folder, self._stem = folder, stem
        self.add("start", wall=utc_now(), mono=self._began, trace=f"traces/{stem}.jsonl", **start)

    def add(self, kind: str, **values: Any) -> None:
        """Append one row, numbers masked. Raises EvidenceError."""
        row = {"kind": kind, "t": round(time.monotonic() - self._began, 6), **mask_value(values)}
        self.rows.append(row)
        self._lines.add(row)

    def measure(self, measurement: Measurement, rule: str | None) -> None:
        """Append a measurement; `rule` where a test of several rules means one of them."""
        values = asdict(measurement)
        limit = {key: value for key, value in (values.pop("limit") or {}).items() if value not in (None, "")}
        self.add("measure", **values, limit=limit or None, rule=rule)

    def expect(self, expectation: Expectation, rule: str | None) -> None:
        """Append an expectation with the comparison made before masking."""
        self.add("expect", **asdict(expectation) | {"met": expectation.holds}, rule=rule)

    def picture(self, title: str, svg: str) -> None:
        """Write a picture into `plots/`, and append the row that names it. Raises EvidenceError."""
        file = f"plots/{self._stem}-{slug(title)}.svg"
        write_whole(self._folder / file, svg, sync=False)
        self.add("picture", text=title, file=file)

    def facts(self, rule_id: str) -> Facts:
        """What stands recorded for one rule so far, the test taken as finished."""
        return facts_of([*self.rows, {"kind": "end"}], rule_id)

    def close(self, **values: Any) -> None:
        """Write the end line, and bring everything to the disk. Raises EvidenceError."""
        self.trace.close()
        self.add("end", seconds=round(time.monotonic() - self._began, 3), **values)
        self._lines.sync()
        self._lines.close()


def facts_of(rows: Iterable[dict[str, Any]], rule_id: str) -> Facts:
    """The facts in a record's rows that bear on one rule: those that name it, and those that name none."""
    rows = [row for row in rows if row.get("rule") in (None, rule_id)]
    start = rows[0] if rows else {}
    return Facts(
        image=start.get("image", "bench"),
        test=start.get("test", ""),
        measurements=[_measurement(row) for row in rows if row["kind"] == "measure"],
        expectations=[_expectation(row) for row in rows if row["kind"] == "expect"],
        broken=_first(rows, "broken"),
        skipped=_first(rows, "skipped") or _unidentified(rows),
        untold=_first(rows, "untold"),
        finished=any(row["kind"] == "end" for row in rows),
    )


def read_records(folder: Path) -> list[list[dict[str, Any]]]:
    """Rows of every record of a run, in order of their start; a record that holds nothing whole is left out.

    Raises EvidenceError for a malformed one.
    """
    paths = sorted((folder / "records").glob("*.jsonl"))
    records = [rows for path in paths if (rows := checked_rows(path, read_lines(path)))]
    return sorted(records, key=lambda rows: (rows[0].get("wall", ""), rows[0].get("mono", 0)))


def rules_named(rows: list[dict[str, Any]]) -> list[str]:
    """Ids of the rules that a record's test names."""
    return list(rows[0].get("rules", []))


def _measurement(row: dict[str, Any]) -> Measurement:
    limit = Limit(**row["limit"]) if row.get("limit") else None
    return Measurement(row["name"], row["value"], row.get("unit", ""), row.get("uncertainty", 0.0), limit)


def _expectation(row: dict[str, Any]) -> Expectation:
    """Compared again from the record, unless masking hid what differs."""
    same = row["observed"] == row["expected"]
    masked = "*" in f"{row['observed']}{row['expected']}"
    return Expectation(row["name"], row["observed"], row["expected"], row["met"] if masked else same)


def _first(rows: list[dict[str, Any]], kind: str) -> str | None:
    return next((row["why"] for row in rows if row["kind"] == kind), None)


def _unidentified(rows: list[dict[str, Any]]) -> str | None:
    used_board = bool(_BOARD_NEEDS & set(rows[0].get("needs", []))) if rows else False
    return NOT_IDENTIFIED if used_board and not any(row["kind"] == "identity" for row in rows) else None

"""One run, one folder: what was recorded, what it was judged to be, and a manifest over all of it.

    records/*.jsonl   what each test recorded, written as it happens, by whichever worker ran it
    traces/*.jsonl    what crossed the ports meanwhile
    run.json          target, identities, revisions, times, summary
    rules/*.json      each rule with its verdict and everything that it rests on
    junit.xml, report.html
    manifest.sha256   over all of the above, written last: a folder without it was cut short

Only records and traces are primary; `assemble` makes the rest from them, at the end of a run or any time later.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pitbench_hil import provenance
from pitbench_hil.catalogue import Rule, rules_for
from pitbench_hil.durable import (
    EvidenceError,
    read_ends,
    read_json,
    slug,
    to_json,
    to_json_lines,
    unwritable,
    write_whole,
)
from pitbench_hil.junit import junit_xml
from pitbench_hil.manifest import write_manifest
from pitbench_hil.records import facts_of, read_records, rules_named, utc_now
from pitbench_hil.report import write_report
from pitbench_hil.row_shapes import checked_trace, collected, run_head
from pitbench_hil.verdict import Judgement, Verdict, counts, judge_rule

# Fields of an identity that change from start to start of one and the same board.
_VOLATILE = ("session", "boot", "reset", "heap_free", "inoperable")
# Each virtual or emulated board has a unique id of its own, and there is one for each test.
SIMULATED = ("unix", "wasm", "emu")
_EXCERPT = {"start": 12, "end": 36}
BROKEN = "broken.json"
COLLECTION = "collection.json"


@dataclass
class Outcome:
    """One rule of a run: what it was judged to be, and the records that this rests on."""

    rule: Rule
    judgement: Judgement
    counts: bool
    records: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def fails(self) -> bool:
        """Whether this rule fails the device under the run's profiles."""
        return self.counts and self.judgement.verdict is Verdict.FAIL

    @property
    def label(self) -> str:
        """The verdict as it is printed."""
        apart = self.judgement.verdict is Verdict.FAIL and not self.counts
        return f"{self.judgement.label} (doesn't count)" if apart else self.judgement.label


def new_run(root: Path, device: str, target: str, **about: Any) -> Path:
    """Make the folder of a new run and say in run.json what it is. Returns the folder.

    Args:
        root: where runs are kept.
        about: profiles, rule patterns, suite folder… kept as they are.

    Raises EvidenceError.
    """
    return start_run(free_folder(root, device, target), device, target, **about)


def free_folder(root: Path, device: str, target: str) -> Path:
    """A name below `root` that no run has, for one that begins now."""
    now = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    name = f"{now}-{device}-{slug(target)}"
    taken = sum(path.name == name or path.name.startswith(f"{name}-") for path in root.glob(f"{name}*"))
    return root / (f"{name}-{taken + 1}" if taken else name)


def start_run(folder: Path, device: str, target: str, **about: Any) -> Path:
    """Make this folder the one of a new run. Raises EvidenceError, also when it holds a run already."""
    if (folder / "run.json").exists():
        raise EvidenceError(f"{folder} holds a run already.", "Name another folder, or move that run away.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from error
    times = {"started": utc_now(), "started_monotonic": time.monotonic(), "status": "running"}
    head = {"format": 1, "device": device, "target": target, **about, **times, "machine": provenance.machine()}
    write_whole(folder / "run.json", to_json(head, indent=1))
    return folder


def break_rig(folder: Path, cause: str, test: str) -> None:
    """Keep the first cause for which the rig broke; later ones don't replace it. Raises EvidenceError."""
    try:
        with (folder / BROKEN).open("x", encoding="utf-8") as file:
            file.write(json.dumps({"cause": cause, "test": test, "wall": utc_now()}))
    except FileExistsError:
        return
    except OSError as error:
        raise unwritable(folder / BROKEN, error) from error


def broken_rig(folder: Path) -> dict[str, str] | None:
    """The first cause, or None while the rig is whole."""
    path = folder / BROKEN
    return read_json(path) if path.exists() else None


def judge_run(folder: Path, rules: Iterable[Rule], profiles: Sequence[str]) -> list[Outcome]:
    """Judge the records of a run by the rules given: pure but for reading the records."""
    records, tests = read_records(folder), collection(folder)
    by_rule: dict[str, list[Any]] = {}
    for rows in records:
        for name in rules_named(rows):
            by_rule.setdefault(name, []).append(rows)
    return [_outcome(r, by_rule.get(r.id, []), profiles, _untested(folder, r, tests)) for r in rules]


def collection(folder: Path) -> dict[str, Any]:
    """What the run collected: tests with their rules, problems found, and whether it was narrowed."""
    path = folder / COLLECTION
    return collected(path) if path.exists() else {"tests": {}, "problems": [], "narrowed": True}


def assemble(folder: Path, rules: Sequence[Rule], status: str = "finished", **about: Any) -> list[Outcome]:
    """Make run.json, rules/, junit.xml, report.html and the manifest from the records.

    Args:
        about: what is known of the run only at its end, kept in run.json.

    Raises EvidenceError.
    """
    head = run_head(folder) | about
    outcomes = judge_run(folder, rules, head["profiles"])
    head |= _closing(folder, outcomes, rules, status)
    evidences = [rule_evidence(folder, outcome) for outcome in outcomes]
    for evidence in evidences:
        place = folder / "rules" / f"{slug(evidence['rule']['id'])}.json"
        write_whole(place, to_json_lines(evidence), sync=False)
    write_whole(folder / "run.json", to_json(head, indent=1))
    write_whole(folder / "junit.xml", junit_xml(outcomes, head), sync=False)
    write_report(folder, head, evidences)
    write_manifest(folder)
    return outcomes


def refuse_hunt(folder: Path, head: dict[str, Any]) -> None:
    """Raises EvidenceError for the folder of a hunt of rabbits: it has a matrix, and runs below it."""
    if head.get("hunt"):
        raise EvidenceError(
            f"{folder} is a hunt of rabbits.", "Its good device's run lies in good/, its result in matrix.html."
        )


def rules_of_run(head: dict[str, Any]) -> list[Rule]:
    """Today's rules for the device and selection of a run."""
    folder = Path(head["rule_files"]) if head.get("rule_files") else None
    rules = rules_for(head["device"], folder, head.get("wire"))
    chosen = head.get("rule_ids")
    return [rules[name] for name in chosen if name in rules] if chosen else list(rules.values())


def summary(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Number of rules by verdict; bench-image passes and failures that don't count are told apart too."""
    outcomes = list(outcomes)
    by_verdict = Counter(str(outcome.judgement.verdict) for outcome in outcomes)
    bench = sum(outcome.judgement.remark != "" for outcome in outcomes if outcome.judgement.verdict is Verdict.PASS)
    counted = sum(outcome.fails for outcome in outcomes)
    return {str(verdict): by_verdict[str(verdict)] for verdict in Verdict} | {
        "on a bench image": bench,
        "failing": counted,
    }


def rule_evidence(folder: Path, outcome: Outcome) -> dict[str, Any]:
    """Everything about one rule, for JSON and report."""
    judgement = outcome.judgement
    return {
        "rule": outcome.rule.as_dict(),
        "verdict": str(judgement.verdict),
        "label": outcome.label,
        "counts": outcome.counts,
        "why": judgement.why,
        "observed": judgement.observed,
        "limit": judgement.limit,
        "records": [_record_evidence(folder, rows, outcome) for rows in outcome.records],
    }


def _outcome(rule: Rule, records: list[Any], profiles: Sequence[str], untested: str) -> Outcome:
    judgement = judge_rule(rule, [facts_of(rows, rule.id) for rows in records], untested)
    return Outcome(rule, judgement, counts(rule, profiles), records)


def _untested(folder: Path, rule: Rule, tests: dict[str, Any]) -> str:
    """Why there may be no record for a rule."""
    has_test = any(rule.id in rules for rules in tests["tests"].values())
    if has_test:
        broken = broken_rig(folder)
        return f"the rig broke: {broken['cause']}" if broken else "the run ended before its test"
    return "not selected in this run" if tests["narrowed"] else "no test names this rule"


def _closing(folder: Path, outcomes: list[Outcome], rules: Sequence[Rule], status: str) -> dict[str, Any]:
    return {
        "status": status,
        "finished": utc_now(),
        "broken": broken_rig(folder),
        "problems": collection(folder)["problems"],
        "identities": identities(outcomes),
        "catalogue": provenance.rules(rules),
        "summary": summary(outcomes),
        "rule_order": [rule.id for rule in rules],
    }


def identities(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The different boards and images that the run's tests named, each once, with the number of tests on it."""
    found: dict[str, dict[str, Any]] = {}
    # A record stands under each rule that its test names.
    records = {id(rows): rows for outcome in outcomes for rows in outcome.records}
    for rows in records.values():
        for row in rows:
            if row["kind"] == "identity":
                entry = {"rung": row["rung"], "identity": _stable(row), "pc": row["pc"], "cut": row.get("cut", "")}
                found.setdefault(to_json(entry), entry | {"tests": 0})["tests"] += 1
    return list(found.values())


def _stable(row: dict[str, Any]) -> dict[str, Any]:
    passing = (*_VOLATILE, "uid") if row["rung"] in SIMULATED else _VOLATILE
    return {key: value for key, value in row["identity"].items() if key not in passing}


def _record_evidence(folder: Path, rows: list[dict[str, Any]], outcome: Outcome) -> dict[str, Any]:
    start = {key: value for key, value in rows[0].items() if key not in ("kind", "t")}
    mine = [row for row in rows[1:] if row.get("rule") in (None, outcome.rule.id)]
    return {**start, "rows": mine, "trace_excerpt": trace_excerpt(folder / start["trace"])}


def trace_excerpt(path: Path) -> dict[str, Any]:
    """First and last lines of a trace, and how many lie between."""
    start, left_out, end = read_ends(path, _EXCERPT["start"], _EXCERPT["end"]) if path.exists() else ([], 0, [])
    start, end = (sorted(checked_trace(path, part), key=lambda row: row["t"]) for part in (start, end))
    return {"start": start, "left_out": left_out, "end": end}

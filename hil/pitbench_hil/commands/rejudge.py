"""Apply today's decision rules again to the measurements of a run, and say what changed."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pitbench_hil import provenance
from pitbench_hil.evidence import Outcome, judge_run, refuse_hunt, rules_of_run
from pitbench_hil.manifest import verify_manifest
from pitbench_hil.row_shapes import judged, run_head
from pitbench_hil.run_lock import refuse_while_written
from pitbench_hil.verdict import profiles_named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("folder", type=Path, help="folder of the run")
    parser.add_argument("--profile", help="other profiles than the run's: nj, ny, house, comma apart")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 when the folder is whole and every verdict stands, 1 when a verdict changed, 2 when a file did."""
    refuse_while_written(args.folder)
    head = run_head(args.folder)
    refuse_hunt(args.folder, head)
    damaged = verify_manifest(args.folder)
    profiles = profiles_named(args.profile) if args.profile else head["profiles"]
    outcomes = judge_run(args.folder, rules_of_run(head), profiles)
    changes = list(changes_since(_judged_then(args.folder), outcomes))
    for line in [*_said_of_manifest(damaged), *_said_of_catalogue(head, outcomes), *changes]:
        print(line)
    failing = sum(outcome.fails for outcome in outcomes)
    print(f"{len(outcomes)} rules judged again, {len(changes)} changed, {failing} FAIL under {','.join(profiles)}.")
    return 2 if damaged else 1 if changes else 0


def changes_since(then: dict[str, str], outcomes: list[Outcome]) -> list[str]:
    """A sentence for each rule whose verdict differs from the one in the folder, or that came or went."""
    now = {outcome.rule.id: outcome.label for outcome in outcomes}
    said = [f"{name}: {then[name]} then, {label} now" for name, label in now.items() if then.get(name, label) != label]
    said += [f"{name}: not judged then, {label} now" for name, label in now.items() if name not in then]
    return said + [f"{name}: {label} then, not in the catalogue now" for name, label in then.items() if name not in now]


def _judged_then(folder: Path) -> dict[str, str]:
    evidences = [judged(path) for path in sorted((folder / "rules").glob("*.json"))]
    return {evidence["rule"]["id"]: evidence["label"] for evidence in evidences}


def _said_of_manifest(damaged: list[str]) -> list[str]:
    return [f"{problem} since the run was closed" for problem in damaged] or ["the folder is as its manifest says"]


def _said_of_catalogue(head: dict[str, Any], outcomes: list[Outcome]) -> list[str]:
    now = provenance.rules(outcome.rule for outcome in outcomes)["sha256"]
    same = head.get("catalogue", {}).get("sha256") == now
    return [] if same else ["the catalogue has changed since the run"]

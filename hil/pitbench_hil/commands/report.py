"""Print where a run's report is; close a run that was cut short, or render its report again."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pitbench_hil.durable import EvidenceError
from pitbench_hil.evidence import assemble, refuse_hunt, rules_of_run
from pitbench_hil.manifest import NAME as MANIFEST
from pitbench_hil.manifest import renew_entry, verify_manifest
from pitbench_hil.rabbit_matrix import PAGE
from pitbench_hil.report import NAME, altered, report_again
from pitbench_hil.row_shapes import run_head
from pitbench_hil.run_lock import refuse_while_written


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("folder", nargs="?", type=Path, help="folder of the run (the newest in runs/)")
    parser.add_argument("--render", action="store_true", help="render report.html again, from the folder's evidence")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 when the folder isn't as its manifest says."""
    folder = args.folder or newest_run(Path("runs"))
    refuse_while_written(folder)
    head = run_head(folder)
    page = folder / (PAGE if head.get("hunt") else NAME)
    if not (folder / MANIFEST).exists():
        _close(folder, head)
    problems = verify_manifest(folder)
    if args.render:
        refuse_hunt(folder, head)
        report_again(folder, problems)
        renew_entry(folder, NAME)
    _say(folder, page, problems)
    return 1 if problems else 0


def _close(folder: Path, head: dict[str, Any]) -> None:
    refuse_hunt(folder, head)
    assemble(folder, rules_of_run(head), "interrupted")
    print("This run was cut short; what it recorded has been judged, and the folder is closed.")


def _say(folder: Path, page: Path, problems: list[str]) -> None:
    for problem in problems:
        print(f"{problem} since the run was closed.")
    if evidence := altered(problems):
        print(f"THE EVIDENCE IS NOT AS THE RUN LEFT IT: {len(evidence)} of its files differ from {MANIFEST}.")
    if page.exists():
        print(page.resolve())
    else:
        print(f"There is no {page.name} in {folder}; `pitbench report --render FOLDER` makes it.")


def newest_run(root: Path) -> Path:
    """The newest run folder. Raises EvidenceError when there is none."""
    runs = sorted(path.parent for path in root.glob("*/run.json"))
    if not runs:
        raise EvidenceError(f"There is no run in {root}.", "Name a run's folder.")
    return runs[-1]

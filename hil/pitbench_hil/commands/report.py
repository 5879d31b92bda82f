"""Print where a run's report is; close a run that was cut short, or render its report again."""

from __future__ import annotations

import argparse
from pathlib import Path

from pitbench_hil.durable import EvidenceError, read_json
from pitbench_hil.evidence import assemble, rules_of_run
from pitbench_hil.manifest import NAME as MANIFEST
from pitbench_hil.manifest import renew_entry, verify_manifest
from pitbench_hil.report import NAME, report_again


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("folder", nargs="?", type=Path, help="folder of the run (the newest in runs/)")
    parser.add_argument("--render", action="store_true", help="render report.html again, from the folder's evidence")


def run(args: argparse.Namespace) -> int:
    """Exit code 0, or 1 when the folder isn't as its manifest says."""
    folder = args.folder or newest_run(Path("runs"))
    if not (folder / MANIFEST).exists():
        assemble(folder, rules_of_run(read_json(folder / "run.json")), "interrupted")
        print("This run was cut short; what it recorded has been judged, and the folder is closed.")
    problems = verify_manifest(folder)
    if args.render:
        report_again(folder)
        renew_entry(folder, NAME)
    for problem in problems:
        print(f"{problem} since the run was closed.")
    print((folder / NAME).resolve())
    return 1 if problems else 0


def newest_run(root: Path) -> Path:
    """The newest run folder. Raises EvidenceError when there is none."""
    runs = sorted(path.parent for path in root.glob("*/run.json"))
    if not runs:
        raise EvidenceError(f"There is no run in {root}.", "Name a run's folder.")
    return runs[-1]

"""Hold a device to its rules, and write the evidence: a front for `pytest hil --target … --device …`."""

from __future__ import annotations

import argparse

import pytest

from pitbench_hil.plugin import DEFAULT_PROFILE, DEFAULT_TARGET
from pitbench_hil.suites import pytest_words, suite_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of the command."""
    parser.add_argument("device", help="bill-acceptor, …")
    parser.add_argument("--target", default=DEFAULT_TARGET, help=f"what to test ({DEFAULT_TARGET})")
    parser.add_argument("--rules", default="", help="only these: ids, clauses, patterns, comma apart")
    parser.add_argument("--profile", default=DEFAULT_PROFILE, help=f"nj, ny, house, comma apart ({DEFAULT_PROFILE})")
    parser.add_argument(
        "--image-kind", choices=("bench", "release", "both"), default="both", help="images to test (both)"
    )
    parser.add_argument("--image", action="append", default=[], metavar="KIND=FOLDER", help="a built image to use")
    parser.add_argument("--run-dir", help="folder of this run (runs/<utc>-<device>-<target>)")
    parser.add_argument("-n", "--jobs", default="2", help="boards at a time (2); 0 runs in one process")
    parser.add_argument("--pytest", action="append", default=[], metavar="WORD", help="a word for pytest (--pytest=-x)")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 without FAIL, 1 with one, 2 when rig or suite was in trouble."""
    options = ["--profile", args.profile, "--image-kind", args.image_kind, "-n", args.jobs]
    options += [word for image in args.image for word in ("--image", image)]
    options += ["--run-dir", args.run_dir] if args.run_dir else []
    suite = suite_of(args.device)
    rules = args.rules.split(",")
    return int(pytest.main(pytest_words([suite], args.device, args.target, *options, *args.pytest, rules=rules)))

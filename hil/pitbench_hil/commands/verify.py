"""Hold a device to its rules, and write the evidence: a front for `pytest hil --target … --device …`."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from pitbench.addresses import parse_target
from pitbench.errors import EXIT_INTERRUPTED

from pitbench_hil.asked import jobs
from pitbench_hil.plugin import DEFAULT_PROFILE, DEFAULT_TARGET
from pitbench_hil.suites import pytest_words, run_pytest, suite_of

# pytest's other codes (usage, an error of its own, no test at all) are trouble too.
_CODES = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED, EXIT_INTERRUPTED)


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
    parser.add_argument("--run-dir", type=Path, help="folder of this run (runs/<utc>-<device>-<target>)")
    parser.add_argument("--timing-uncertainty", type=float, default=5.0, metavar="MS", help="the rig's own (5 ms)")
    parser.add_argument("--sample", type=int, metavar="N", help="at most N tests a rule and image, 0: all (0; emu: 1)")
    parser.add_argument("--erase-budget", type=int, metavar="N", help="store writes that a real board may take")
    parser.add_argument("-n", "--jobs", type=jobs, default="2", help="boards at a time (2; a real one: 0, one process)")
    parser.add_argument("--pytest", action="append", default=[], metavar="WORD", help="a word for pytest (--pytest=-x)")


def run(args: argparse.Namespace) -> int:
    """Exit code 0 without FAIL, 1 with one, 2 when a word, the rig or the suite was in trouble, 130 after Ctrl-C."""
    jobs_here = args.jobs if parse_target(args.target).virtual else "0"
    options = ["--profile", args.profile, "--image-kind", args.image_kind, "-n", jobs_here]
    options += [word for image in args.image for word in ("--image", image)]
    options += [f"--timing-uncertainty={args.timing_uncertainty}"]
    options += ["--run-dir", str(args.run_dir)] if args.run_dir else []
    options += [] if args.sample is None else [f"--sample={args.sample}"]
    options += [] if args.erase_budget is None else [f"--erase-budget={args.erase_budget}"]
    suite = suite_of(args.device)
    rules = args.rules.split(",")
    code = run_pytest(pytest_words([suite], args.device, args.target, *options, *args.pytest, rules=rules))
    return code if code in _CODES else int(pytest.ExitCode.INTERRUPTED)
